//! Every good package of the repository resolves, and leaves no ref behind.

use serde_json::json;

use crate::apply::test_packages::{checked, empty, feature, id, minter, packages};
use crate::apply::{Approved, JobHistory, Request, ResolveInput, resolve};
use crate::check::Checked;
use crate::definitions::{Definitions, ReferenceKind};
use crate::package::model::DependencyForm;
use crate::package::reference::used;
use crate::workspace::ledger::Entry;
use crate::workspace::{Automation, Change, Channel, New, Structure};

/// A destination and resolutions that map what can be mapped.
fn mapping(package: &Checked<'_>) -> (Structure, Request) {
    let mut destination = empty();
    destination.organization.connections = None;
    destination.organization.timer_profiles = None;
    let mut resolutions = serde_json::Map::new();
    for (number, dependency) in super::super::dependency_decision::dependencies(package)
        .iter()
        .enumerate()
    {
        let base = 1000 * (number as u128 + 1);
        let mut columns = serde_json::Map::new();
        match (dependency.form, dependency.kind) {
            (DependencyForm::Name, _) => continue,
            (_, ReferenceKind::Feature) => {
                let names: Vec<_> = dependency
                    .identity
                    .columns
                    .iter()
                    .flatten()
                    .enumerate()
                    .map(|(at, column)| {
                        columns.insert(column.reference.clone(), json!(id(base + 1 + at as u128)));
                        (
                            base + 1 + at as u128,
                            column.name.as_str(),
                            column.default_component.as_str(),
                        )
                    })
                    .collect();
                destination
                    .features
                    .push(feature(base, &dependency.identity.name, &names));
            }
            (_, ReferenceKind::View) => {
                let mut table = feature(base + 1, &format!("of_{number}"), &[]);
                table
                    .views
                    .push(crate::apply::test_packages::view(base, "v"));
                destination.features.push(table);
            }
            (_, ReferenceKind::Channel) => {
                let channel = Channel {
                    id: id(base),
                    name: Some("c".to_owned()),
                    label: None,
                };
                destination
                    .organization
                    .channels
                    .get_or_insert_default()
                    .push(channel);
            }
            (_, ReferenceKind::WorkflowV2) => destination.automations.push(Automation {
                id: id(base),
                name: "a".to_owned(),
                trigger_config: indexmap::IndexMap::default(),
                graph_config: indexmap::IndexMap::default(),
                active: false,
                draft: false,
                has_draft: false,
            }),
            (_, ReferenceKind::Workflow) => {
                destination
                    .earlier_automations
                    .push(crate::workspace::Named {
                        id: id(base),
                        name: "a".to_owned(),
                        label: None,
                    });
            }
            other => panic!("{other:?}"),
        }
        let mut resolution = json!({"action": "map", "id": id(base)});
        if !columns.is_empty() {
            resolution["columns"] = columns.into();
        }
        resolutions.insert(dependency.reference.clone(), resolution);
    }
    let request = json!({"resolutions": resolutions}).to_string();
    (
        destination,
        Request::from_json(&request).expect("a request"),
    )
}

fn skipping(package: &Checked<'_>) -> Request {
    let dependencies = super::super::dependency_decision::dependencies(package).iter();
    let resolutions: serde_json::Map<_, _> = dependencies
        .map(|d| (d.reference.clone(), json!({"action": "skip"})))
        .collect();
    Request::from_json(&json!({"resolutions": resolutions}).to_string()).expect("a request")
}

/// No string and no key of what is written is a ref.
fn assert_no_ref(name: &str, approved: &Approved) {
    use super::super::steps::uses_in;
    let mut seen = Vec::new();
    let mut look = |value: crate::json::Value| {
        uses_in(&value, &mut |reference| seen.push(reference.to_owned()));
    };
    for change in &approved.structure.changes {
        match change {
            Change::Configure { config, .. } => look(config.clone()),
            Change::Create(New::Feature(feature)) => look(feature.config.clone().into()),
            Change::Create(New::Column { column, .. }) => look(column.config.clone().into()),
            Change::Create(New::View { view, .. }) => look(view.config.clone().into()),
            Change::Create(New::Module(module)) => look(module.config.clone().into()),
            Change::Create(New::Rail { rail, .. }) => rail
                .config
                .iter()
                .for_each(|config| look(config.clone().into())),
            Change::Create(New::Workflow(automation)) => {
                look(automation.trigger_config.clone().into());
                look(automation.graph_config.clone().into());
            }
            Change::Create(New::Workspace { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, Vec::<String>::new(), "{name}");
}

#[test]
fn every_good_package_resolves_and_leaves_no_ref() {
    let definitions = Definitions::embedded();
    for (name, text) in packages() {
        let package = checked(&text);
        let (furnished, mapping) = mapping(&package);
        for (request, destination) in [(skipping(&package), empty()), (mapping, furnished)] {
            let approved = resolve(
                ResolveInput {
                    package: &package,
                    request: &request,
                    destination: &destination,
                    past: JobHistory::default(),
                    definitions,
                },
                minter(),
            );
            let approved = approved.unwrap_or_else(|refusals| panic!("{name}: {refusals:#?}"));
            assert_no_ref(&name, &approved);
            assert_eq!(approved.tables.len(), package.payloads.len(), "{name}");
            let skipped = approved
                .unresolved
                .iter()
                .filter(|e| e.reason == "dependencia_saltada");
            for entry in skipped {
                let reference = entry.reference.as_deref().unwrap_or_default();
                assert!(
                    request.resolutions.contains_key(reference),
                    "{name}: {entry:?}"
                );
                assert!(
                    entry.path.split('.').all(|part| !part.is_empty()),
                    "{name}: {entry:?}"
                );
            }
        }
    }
}

/// Mapping everything leaves nothing to report except what the package reports itself.
#[test]
fn mapping_everything_empties_nothing() {
    for (name, text) in packages() {
        let package = checked(&text);
        let (destination, request) = mapping(&package);
        let approved = resolve(
            ResolveInput {
                package: &package,
                request: &request,
                destination: &destination,
                past: JobHistory::default(),
                definitions: Definitions::embedded(),
            },
            minter(),
        );
        let approved = approved.unwrap_or_else(|refusals| panic!("{name}: {refusals:#?}"));
        let own: Vec<_> = approved
            .unresolved
            .iter()
            .filter(|entry| entry.source.is_none())
            .collect();
        let expected = match name.rsplit('/').next() {
            // Its view has no table, so that the entry which shows it is left with nothing.
            Some("emptied-parent.json") => vec!["config.0.defaultViewId", "config.0.views.0"],
            _ => Vec::new(),
        };
        let paths: Vec<_> = own.iter().map(|entry| entry.path.as_str()).collect();
        let cycles = own.iter().all(|entry| entry.reason == "payload_cycle") && !own.is_empty();
        assert!(paths == expected || cycles, "{name}: {own:#?}");
    }
}

#[test]
fn a_ref_is_a_whole_string() {
    assert!(used("$f_a").is_some() && used("x $f_a").is_none());
}

/// What is approved can be written, and written once it is known again, whatever was there before.
#[test]
fn every_good_package_is_written_and_then_bound() {
    let definitions = Definitions::embedded();
    let other = crate::apply::Minter::at(jiff::Timestamp::UNIX_EPOCH, 77);
    for (name, text) in packages() {
        let package = checked(&text);
        let (mut destination, request) = mapping(&package);
        let mut jobs = Vec::new();
        // The second is a copy next to the first, so that every name is taken.
        for (minter, copy) in [(minter(), false), (other, true)] {
            let request = Request {
                copy,
                ..request.clone()
            };
            let resolved = |destination: &Structure, ledger: &[Entry]| {
                let approved = resolve(
                    ResolveInput {
                        package: &package,
                        request: &request,
                        destination,
                        past: JobHistory::of(ledger),
                        definitions,
                    },
                    minter,
                );
                approved.unwrap_or_else(|refusals| panic!("{name}: {refusals:#?}"))
            };
            let first = resolved(&destination, &jobs);
            assert!(first.bound.is_empty(), "{name}");
            destination = crate::apply::test_packages::written(&first, destination);
            let own = [Entry::Structure(first.structure.entry.clone())];
            let known = if copy { &[][..] } else { &jobs[..] };
            let again = resolved(&destination, &[known, &own].concat());
            assert!(again.structure.changes.is_empty(), "{name}: {again:#?}");
            assert_eq!(
                again.bound.len(),
                first.structure.entry.created.len(),
                "{name}"
            );
            let reported = (
                &again.renamed,
                &again.dropped_keys,
                &again.unresolved,
                &again.publish,
            );
            let expected = (
                &first.renamed,
                &first.dropped_keys,
                &first.unresolved,
                &first.publish,
            );
            assert_eq!(reported, expected, "{name}");
            let features = |approved: &Approved| {
                let tables = approved.tables.iter();
                tables
                    .map(|table| {
                        (
                            table.entry,
                            table.feature,
                            table.first_ordinal,
                            table.columns.clone(),
                        )
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(features(&again), features(&first), "{name}");
            jobs.extend(own);
            jobs.push(Entry::Completed);
        }
    }
}
