//! Skipping everything that is not carried leaves nothing of the source behind.

use tplkit::apply::Resolution;
use tplkit::package::model::{Reason, Word as _};
use tplkit::workspace::Structure;
use tplkit::workspace::memory::Memory;

use crate::job::{Job, decided, dependencies, minter};
use crate::seeds::{each, hold};
use crate::world::{empty_beside, exported, read, selection, workspace};

#[test]
fn skipping_leaves_no_id_of_the_source() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let destination = empty_beside(&source);
        let mut request = decided(&package, &destination, None);
        for resolution in request.resolutions.values_mut() {
            *resolution = Resolution::Skip;
        }
        let job = Job {
            package: &package,
            request,
            minter: minter(seed),
        };
        let mut target = Memory::new(destination);
        let report = job.run(&mut target, &[])?;
        let mut state = target.state();
        // Link cells are data: what they hold may stay.
        state.rows.clear();
        let written = state.save().map_err(|error| error.to_string())?;
        for id in ids(&source.structure) {
            hold(!written.contains(&id), || format!("{id} is left"))?;
        }
        hold(
            !written.contains("\"$f_") && !written.contains("\"$c_"),
            || "a ref is left".to_owned(),
        )?;
        let skipped = Reason::DependencySkipped.word();
        for dependency in dependencies(&package) {
            for one in &dependency.used_by {
                // What lost its parent is not there, and is told by that path alone.
                let told = report.unresolved.iter().any(|entry| {
                    let parent = ["featureId", "moduleId"].contains(&entry.path.as_str());
                    let field = entry.path == one.path && entry.reason == skipped;
                    entry.uid == one.uid && (field || parent)
                });
                hold(told, || {
                    format!("{} of {} is not reported", one.path, dependency.reference)
                })?;
            }
        }
        Ok(())
    });
}

/// Every id of the source but those of its organization, which packages know by name.
fn ids(structure: &Structure) -> Vec<String> {
    let mut ids = vec![structure.organization.id, structure.workspace.id];
    for feature in structure.features.iter().chain(&structure.shared) {
        ids.push(feature.id);
        ids.extend(feature.columns.iter().map(|one| one.id));
        ids.extend(feature.views.iter().map(|one| one.id));
    }
    for module in &structure.modules {
        ids.push(module.id);
        ids.extend(module.rails.iter().map(|one| one.id));
    }
    ids.extend(structure.automations.iter().map(|one| one.id));
    ids.extend(structure.earlier_automations.iter().map(|one| one.id));
    let channels = structure.organization.channels.iter().flatten();
    ids.extend(channels.map(|one| one.id));
    let timers = structure.organization.timer_profiles.iter().flatten();
    ids.extend(timers.map(|one| one.id));
    ids.iter().map(ToString::to_string).collect()
}
