//! What the laws are tried on is worth it: everything that they speak of occurs.

use std::collections::{BTreeMap, BTreeSet};

use tplkit::apply::Report;
use tplkit::check::Checked;
use tplkit::json::Value;
use tplkit::package::model::{DataClass, DependencyForm, Reason, WireWord as _};
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Feature, Id};

use crate::decide::modes;
use crate::job::job;
use crate::mapping;
use crate::people::{delete, fill};
use crate::seeds::{Dice, Verdict};
use crate::world::{everything, exported, read, selection, small, workspace};

/// How many seeds have to show everything.
const SEEDS: u64 = 500;

/// What no random workspace shows: exporters give no rows of tables that do not travel.
const NEVER: [&str; 1] = ["reported by the apply: feature_ref_unresolved"];

struct Seen(BTreeMap<String, u64>);

impl Seen {
    fn note(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    fn note_if(&mut self, fits: bool, what: &str) {
        if fits {
            self.note(what);
        }
    }
}

#[test]
fn everything_that_laws_speak_of_occurs() {
    let required = expected();
    let mut seen = Seen(BTreeMap::new());
    for seed in 0..SEEDS {
        note_variety(seed, &mut seen).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if required.iter().all(|what| seen.0.contains_key(*what)) {
            break;
        }
    }
    let missing: Vec<_> = required
        .iter()
        .filter(|what| !seen.0.contains_key(**what))
        .collect();
    assert!(
        missing.is_empty(),
        "never seen: {missing:#?}\n{:#?}",
        seen.0
    );
}

fn expected() -> BTreeSet<&'static str> {
    let reported = [
        "reported by the package: inexistente",
        "reported by the package: fora_da_selecao",
        "reported by the package: nao_exportavel",
        "reported by the package: envelope_indeterminado",
        "reported by the package: ref_adiante",
        "reported by the package: sem_ref_cunhado",
        "reported by the package: tabela_alvo_sem_linhas",
        "reported by the apply: dependencia_saltada",
        "reported by the apply: row_ref_dropped",
        "reported by the apply: feature_ref_unresolved",
        "reported by the apply: payload_cycle",
    ];
    let others = [
        "a link to its own table",
        "tables in a circle",
        "a sequence",
        "a shared table",
        "a secret cleared",
        "a table of several batches",
        "an automation in force",
        "an automation not in force",
        "a reference table",
        "a transactional table",
        "a key column",
        "a column completed later",
        "a list of links",
        "a dependency with a blueprint",
        "a dependency by name",
        "a mapped table",
        "a mapped column",
        "a dependency skipped",
        "a dependency imported",
        "something renamed",
        "a key dropped",
        "a row refused",
        "rows left out by key",
        "rows written before",
        "links to its own table written",
        "automations put in force",
        "rows that another job left",
        "a workspace that is in use",
        "a link by identity kept",
        "a link by identity emptied",
    ];
    let kinds = [
        "a dependency: feature",
        "a dependency: view",
        "a dependency: module",
        "a dependency: rail",
        "a dependency: workflow",
        "a dependency: workflowV2",
        "a dependency: connection",
        "a dependency: timerProfile",
        "a dependency: channel",
    ];
    let all = reported.into_iter().chain(others).chain(kinds);
    all.filter(|what| !NEVER.contains(what)).collect()
}

/// Notes what the workspace of a seed, and what is done to it, shows.
fn note_variety(seed: u64, seen: &mut Seen) -> Verdict {
    at_source(&workspace(seed), seen);
    let long = small(seed);
    seen.note_if(
        long.rows.values().any(|rows| rows.len() > 500),
        "a table of several batches",
    );
    let checked = mapping::links(seed)?;
    seen.note_if(checked.kept > 0, "a link by identity kept");
    seen.note_if(checked.emptied > 0, "a link by identity emptied");
    let source = workspace(seed);
    let every = exported(&source, &everything())?;
    at_package(&read(&every)?, &every, seen);
    let text = exported(&source, &selection(seed, &source))?;
    let package = read(&text)?;
    at_package(&package, &text, seen);
    let (mut job, destination) = job(seed, &package, &source);
    seen.note_if(!destination.rows.is_empty(), "a workspace that is in use");
    for resolution in job.request.resolutions.values() {
        match resolution {
            tplkit::apply::Resolution::Import => seen.note("a dependency imported"),
            tplkit::apply::Resolution::Skip => seen.note("a dependency skipped"),
            tplkit::apply::Resolution::Map { id, columns, .. } => {
                let id = Id::try_parse(id).unwrap_or_default();
                let table = destination.structure.feature(id).is_some();
                seen.note_if(table, "a mapped table");
                seen.note_if(!columns.is_empty(), "a mapped column");
            }
        }
    }
    let mut target = Memory::new(destination);
    at_report(&job.run(&mut target, &[])?, seen);
    let earlier = target.next_job();
    let mut dice = Dice::new(seed ^ 0x0A5C);
    let mut state = target.state();
    delete(&mut dice, &earlier, &mut state);
    seen.note_if(
        fill(&mut dice, &package, &earlier, &mut state),
        "rows that another job left",
    );
    modes(&package, &mut job.request, &mut dice);
    let mut target = Memory::new(state);
    at_report(&job.later(1).run(&mut target, &earlier)?, seen);
    Ok(())
}

fn at_source(state: &State, seen: &mut Seen) {
    let structure = &state.structure;
    let links = |feature: &Feature| -> Vec<String> {
        let columns = feature.columns.iter();
        let linked = columns.filter_map(|one| one.config.get("linkedFeatureId")?.as_str());
        linked.map(str::to_owned).collect()
    };
    for feature in &structure.features {
        let own = feature.id.to_string();
        let linked = links(feature);
        seen.note_if(linked.contains(&own), "a link to its own table");
        let others = structure.features.iter().filter(|one| one.id != feature.id);
        let mut back = others.filter(|one| linked.contains(&one.id.to_string()));
        seen.note_if(
            back.any(|one| links(one).contains(&own)),
            "tables in a circle",
        );
        let mut columns = feature.columns.iter();
        seen.note_if(
            columns.any(tplkit::workspace::Column::is_sequence),
            "a sequence",
        );
    }
    seen.note_if(!structure.shared.is_empty(), "a shared table");
    for automation in &structure.automations {
        seen.note_if(automation.active, "an automation in force");
        seen.note_if(!automation.active, "an automation not in force");
    }
}

fn at_package(package: &Checked<'_>, text: &str, seen: &mut Seen) {
    let Some(layers) = package.manifest.layers() else {
        return;
    };
    for entry in &layers.unresolved {
        seen.note(format!(
            "reported by the package: {}",
            entry.reason.as_str()
        ));
    }
    seen.note_if(!layers.redacted.is_empty(), "a secret cleared");
    for item in &layers.items {
        let class = item.data_class;
        seen.note_if(class == Some(DataClass::Reference), "a reference table");
        seen.note_if(
            class == Some(DataClass::Transactional),
            "a transactional table",
        );
    }
    for dependency in &layers.dependencies {
        seen.note(format!("a dependency: {}", dependency.kind.as_str()));
        seen.note_if(
            dependency.blueprint.is_some(),
            "a dependency with a blueprint",
        );
        seen.note_if(
            dependency.form == DependencyForm::Name,
            "a dependency by name",
        );
    }
    for entry in &package.payloads {
        seen.note_if(
            entry.key_column.is_some() && entry.key_unique,
            "a key column",
        );
        let mut rows = entry.rows().filter_map(|row| row.refs);
        seen.note_if(
            rows.any(|refs| {
                let refs = Value::parse(refs).unwrap_or_default();
                let cells = refs.as_object().into_iter().flatten();
                cells
                    .map(|(_, cell)| cell)
                    .any(|cell| cell.get("rows").is_some())
            }),
            "a list of links",
        );
    }
    seen.note_if(
        text.contains("\"update_column\""),
        "a column completed later",
    );
}

fn at_report(report: &Report, seen: &mut Seen) {
    for entry in report.unresolved.iter().filter(|one| one.source.is_none()) {
        seen.note(format!("reported by the apply: {}", entry.reason));
    }
    seen.note_if(!report.renamed.is_empty(), "something renamed");
    seen.note_if(!report.dropped_keys.is_empty(), "a key dropped");
    seen.note_if(report.published > 0, "automations put in force");
    for table in report.rows.values() {
        seen.note_if(table.failed > 0, "a row refused");
        seen.note_if(table.existing > 0, "rows left out by key");
        seen.note_if(table.skipped > 0, "rows written before");
        let linked = table.linked.unwrap_or_default();
        seen.note_if(linked > 0, "links to its own table written");
    }
}

#[test]
fn every_reason_is_asked_for() {
    let required = expected();
    for reason in Reason::ALL {
        let known = |by: &str| {
            let what = format!("reported by the {by}: {}", reason.as_str());
            required.contains(what.as_str()) || NEVER.contains(&what.as_str())
        };
        assert!(known("package") || known("apply"), "{}", reason.as_str());
    }
}
