//! Nothing has drifted where nobody has changed anything (`upgrade` 6).

use std::collections::HashSet;

use tplkit::apply::{BasePackage, DriftInput, JobHistory, Resolutions, drift};
use tplkit::definitions::Definitions;
use tplkit::upgrade::RowsDrift;
use tplkit::workspace::memory::Memory;
use tplkit::workspace::{Id, Source as _, ready};

use crate::job::job;
use crate::seeds::{each, hold};
use crate::world::{exported, read, selection, workspace};

#[test]
fn after_an_apply_nothing_has_drifted() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut target = Memory::new(destination);
        job.run(&mut target, &[])?;
        let entries = target.next_job();
        let resolutions: &Resolutions = &job.request.resolutions;
        let past = JobHistory {
            entries: &entries,
            base: Some(BasePackage {
                job: None,
                package: &package,
                resolutions,
                legacy_jobs: &[],
                rows: &[],
            }),
        };
        let input = DriftInput {
            template: Id::nil(),
            past,
            request: &job.request,
            unseen: &HashSet::new(),
            cells: true,
            definitions: Definitions::embedded(),
        };
        let structure = ready(target.structure()).map_err(|error| error.to_string())?;
        let found = ready(drift(&target, &structure, input)).map_err(|error| error.to_string())?;
        let rows = found.rows.values();
        let rows = rows
            .filter(|rows| rows.deleted > 0 || rows.changed > 0)
            .count();
        let cells = found.cells.as_deref().unwrap_or_default();
        let still = |rows: &RowsDrift| (rows.deleted, rows.changed) == (0, 0);
        hold(
            !found.drift && rows == 0 && cells.is_empty() && found.rows.values().all(still),
            || format!("{found:#?}"),
        )
    });
}
