use std::borrow::Cow;
use std::collections::BTreeSet;

use tplkit::automation::{Automation, EmptyEnvironment, validate};
use tplkit::definitions::{
    ConfigFault, DeclaredValue, Definitions, Field, Visitor, walk, walk_listed,
};
use tplkit::finding::Severity;
use tplkit::json::{Doc, Object, Value};
use tplkit::package::name::fault;
use tplkit::rows::{Cell, Mask, Storable, equal};
use tplkit::workspace::memory::State;
use tplkit::workspace::{Column, Feature, Id};

use super::{Selection, Shape, large, selection, workspace};

const CASES: u64 = 300;

fn each(mut hold: impl FnMut(u64, &Shape, &State)) {
    for shape in [Shape::closed(), Shape::wild()] {
        for seed in 0..CASES {
            hold(seed, &shape, &workspace(seed, &shape));
        }
    }
}

fn tables(state: &State) -> impl Iterator<Item = &Feature> {
    let structure = &state.structure;
    structure.features.iter().chain(&structure.shared)
}

#[test]
fn a_seed_decides_everything() {
    for shape in [Shape::closed(), Shape::wild()] {
        let text = workspace(7, &shape).save().expect("saves");
        assert_eq!(text, workspace(7, &shape).save().expect("saves"));
        assert_ne!(text, workspace(8, &shape).save().expect("saves"));
        let read = State::load(&text).expect("loads");
        assert_eq!(read.save().expect("saves"), text);
    }
}

#[test]
fn ids_are_unique_and_rows_ascend() {
    each(|seed, _, state| {
        let mut seen = BTreeSet::new();
        let mut once = |id: Id| assert!(seen.insert(id), "seed {seed}: {id} appears twice");
        let structure = &state.structure;
        once(structure.organization.id);
        once(structure.workspace.id);
        for feature in tables(state) {
            once(feature.id);
            feature.columns.iter().for_each(|column| once(column.id));
            feature.views.iter().for_each(|view| once(view.id));
        }
        for module in &structure.modules {
            once(module.id);
            module.rails.iter().for_each(|rail| once(rail.id));
        }
        structure.automations.iter().for_each(|made| once(made.id));
        for (feature, rows) in &state.rows {
            assert!(structure.feature(*feature).is_some(), "seed {seed}");
            assert!(!rows.is_empty(), "seed {seed}");
            assert!(rows.is_sorted_by_key(|row| row.id), "seed {seed}");
            for row in rows {
                once(row.id);
            }
        }
    });
}

#[test]
fn lists_stand_in_display_order() {
    each(|seed, _, state| {
        let structure = &state.structure;
        for feature in tables(state) {
            let columns = feature.columns.iter();
            assert!(columns.map(|one| (one.order, one.id)).is_sorted(), "{seed}");
            let views = feature.views.iter();
            assert!(views.map(|one| (one.order, one.id)).is_sorted(), "{seed}");
        }
        let modules = structure.modules.iter();
        assert!(modules.map(|one| (one.order, one.id)).is_sorted(), "{seed}");
        for module in &structure.modules {
            let rails = module.rails.iter();
            assert!(rails.map(|one| (one.order, one.id)).is_sorted(), "{seed}");
        }
        assert!(structure.features.is_sorted_by_key(|one| one.id), "{seed}");
        assert!(
            structure.automations.is_sorted_by_key(|one| one.id),
            "{seed}"
        );
    });
}

#[test]
fn names_are_valid_and_unique_in_their_parent() {
    fn hold<'n>(seed: u64, names: impl Iterator<Item = &'n String>) {
        let mut seen = BTreeSet::new();
        for name in names {
            assert_eq!(fault(name), None, "seed {seed}: {name:?}");
            assert!(!name.starts_with("$f_"), "seed {seed}: {name:?}");
            assert!(seen.insert(name), "seed {seed}: {name:?} appears twice");
        }
    }
    let mut longest = 0;
    each(|seed, _, state| {
        let structure = &state.structure;
        hold(seed, structure.features.iter().map(|one| &one.name));
        hold(seed, structure.modules.iter().map(|one| &one.name));
        for feature in tables(state) {
            hold(seed, feature.columns.iter().map(|one| &one.name));
            hold(seed, feature.views.iter().map(|one| &one.name));
            for column in &feature.columns {
                assert!(column.name != "id" || column.is_identity(), "seed {seed}");
                longest = longest.max(column.name.chars().count());
            }
        }
        for module in &structure.modules {
            hold(seed, module.rails.iter().map(|one| &one.name));
        }
    });
    assert_eq!(longest, 63);
}

/// Gathers what the definitions do not accept.
struct Faults {
    unknown: usize,
    wrong: Vec<String>,
}

impl<'d, 'f> Visitor<'d, 'f> for Faults {
    fn field(&mut self, _: DeclaredValue<'d, 'f>) {}

    fn fault(&mut self, fault: ConfigFault<'d, 'f>) {
        match fault {
            ConfigFault::UnknownKey { .. } => self.unknown += 1,
            other => self.wrong.push(format!("{other:?}")),
        }
    }

    fn steps(&mut self, _: DeclaredValue<'d, 'f>) {}
}

#[test]
fn configs_hold_against_the_definitions() {
    let definitions = Definitions::embedded();
    let mut unknown = 0;
    each(|seed, shape, state| {
        let mut faults = Faults {
            unknown: 0,
            wrong: Vec::new(),
        };
        let mut hold = |config: &Object, fields: &[(&'static str, &'static Field)]| {
            let text = Value::Object(config.clone()).write();
            let doc = Doc::parse(&text).expect("JSON");
            walk_listed(doc.root(), fields, &mut faults);
        };
        let keys = &definitions.config_keys;
        let named = |fields: &'static tplkit::definitions::Fields| {
            let listed = fields.iter().map(|(name, field)| (name.as_str(), field));
            listed.collect::<Vec<_>>()
        };
        for feature in tables(state) {
            hold(&feature.config, &named(&keys.feature));
            for column in &feature.columns {
                let fields =
                    definitions.column_fields(&column.column_type, &column.default_component);
                hold(&column.config, &fields.expect("a known type"));
                let declared = &definitions.column_types[&column.column_type];
                assert!(declared.components.contains(&column.default_component));
            }
            for view in &feature.views {
                let declared = &definitions.view_types[&view.view_type];
                hold(&view.config, &named(&declared.config));
            }
        }
        let structure = &state.structure;
        hold(&structure.workspace.config, &named(&keys.workspace));
        for module in &structure.modules {
            hold(&module.config, &named(&keys.module));
            for rail in &module.rails {
                for config in &rail.config {
                    hold(config, &named(&keys.rail));
                }
            }
        }
        assert!(faults.wrong.is_empty(), "seed {seed}: {:?}", faults.wrong);
        assert!(!shape.closed || faults.unknown == 0, "seed {seed}");
        unknown += faults.unknown;
    });
    assert!(unknown > 0, "no wild workspace has left-over keys");
}

#[test]
fn automations_have_no_errors_and_every_step_occurs() {
    let definitions = Definitions::embedded();
    let mut keys = BTreeSet::new();
    each(|seed, _, state| {
        for automation in &state.structure.automations {
            let written = Object::from_iter([
                (
                    "trigger".to_owned(),
                    automation.trigger_config.clone().into(),
                ),
                ("graph".to_owned(), automation.graph_config.clone().into()),
            ]);
            let text = Value::Object(written).write();
            let doc = Doc::parse(&text).expect("JSON");
            let checked = Automation {
                trigger: doc.root().get("trigger"),
                graph: doc.root().get("graph"),
            };
            let own = automation.id.to_string();
            let bare = EmptyEnvironment {
                workflow_id: Some(&own),
            };
            for issue in validate(definitions, &checked, &bare) {
                let finding = &issue.finding;
                let warned = finding.severity != Severity::Error;
                assert!(
                    warned,
                    "seed {seed}: {} {}\n{text}",
                    issue.path, finding.message
                );
            }
            for node in doc.root().descendants() {
                keys.extend(node.get_str("key").map(str::to_owned));
            }
            keys.extend(
                doc.root()
                    .get("trigger")
                    .and_then(|node| node.get_str("type"))
                    .map(str::to_owned),
            );
        }
    });
    let declared = definitions.triggers.keys().chain(definitions.steps.keys());
    let declared: BTreeSet<String> = declared.cloned().collect();
    assert_eq!(keys, declared);
}

fn storable(column: &Column) -> Storable<'_> {
    let config = &column.config;
    let options = config.get("options").and_then(Value::as_list);
    let mask = config.get("mask").and_then(Value::as_str);
    Storable {
        storage: Definitions::embedded().column_types[&column.column_type].storage,
        options: options.map(|options| {
            let texts = options.iter().filter_map(Value::as_str);
            texts.map(Cow::Borrowed).collect()
        }),
        mask: mask.and_then(Mask::parse),
    }
}

#[test]
fn cells_are_storable_canonical_and_unique_where_they_must() {
    let mut types = BTreeSet::new();
    each(|seed, shape, state| {
        for feature in tables(state) {
            let rows = state.rows.get(&feature.id).map_or(&[][..], Vec::as_slice);
            for column in &feature.columns {
                types.insert((column.column_type.clone(), column.default_component.clone()));
                let accepts = storable(column);
                let cells: Vec<&str> = rows
                    .iter()
                    .filter_map(|row| row.data.cell(&column.name))
                    .collect();
                for cell in &cells {
                    let checked = accepts.check(cell);
                    assert!(checked.is_ok(), "seed {seed}: {cell} in {column:?}");
                    if let Cell::Number(digits) = Cell::new(cell) {
                        let plain = !digits.contains(['e', 'E'])
                            && digits != "-0"
                            && !(digits.contains('.') && digits.ends_with('0'));
                        assert!(plain, "seed {seed}: {digits}");
                    }
                }
                if column.is_unique() {
                    let held = cells.iter().filter(|cell| **cell != "null");
                    let held: Vec<&&str> = held.collect();
                    for (at, cell) in held.iter().enumerate() {
                        let twice = held[..at].iter().any(|other| equal(other, cell));
                        assert!(!twice, "seed {seed}: {cell} in {}", column.name);
                    }
                }
                if shape.closed && column.is_required() {
                    let empty = ["null", "\"\"", "[]"];
                    let filled = cells.iter().filter(|cell| !empty.contains(*cell)).count();
                    assert_eq!(filled, rows.len(), "seed {seed}: {}", column.name);
                }
                if column.is_sequence() {
                    let next = state.sequence(column.id);
                    let below = |cell: &&str| cell.parse::<u64>().is_ok_and(|held| held < next);
                    assert!(cells.iter().all(below), "seed {seed}");
                }
            }
        }
    });
    let declared = Definitions::embedded().column_types.iter();
    let declared: BTreeSet<(String, String)> = declared
        .flat_map(|(name, declared)| {
            let shown = declared.components.iter();
            shown.map(|component| (name.clone(), component.clone()))
        })
        .collect();
    assert_eq!(types, declared);
}

#[test]
fn closed_workspaces_point_at_nothing_that_is_not_in_them() {
    for seed in 0..CASES {
        let state = workspace(seed, &Shape::closed());
        let structure = &state.structure;
        let mut known = BTreeSet::new();
        known.extend(structure.features.iter().map(|one| one.id));
        let views = structure.features.iter().flat_map(|one| &one.views);
        known.extend(views.map(|one| one.id));
        known.extend(structure.modules.iter().map(|one| one.id));
        let rails = structure.modules.iter().flat_map(|one| &one.rails);
        known.extend(rails.map(|one| one.id));
        known.extend(structure.automations.iter().map(|one| one.id));
        let channels = structure.organization.channels.iter().flatten();
        known.extend(channels.filter(|one| one.name.is_some()).map(|one| one.id));
        let mut configs: Vec<&Object> = vec![&structure.workspace.config];
        for feature in &structure.features {
            configs.push(&feature.config);
            configs.extend(feature.columns.iter().map(|one| &one.config));
            configs.extend(feature.views.iter().map(|one| &one.config));
        }
        for module in &structure.modules {
            configs.push(&module.config);
            configs.extend(module.rails.iter().flat_map(|one| &one.config));
        }
        for automation in &structure.automations {
            configs.extend([&automation.trigger_config, &automation.graph_config]);
        }
        for config in configs {
            let text = Value::Object(config.clone()).write();
            let doc = Doc::parse(&text).expect("JSON");
            for node in doc.root().descendants() {
                let id = node.as_str().and_then(|text| Id::parse_str(text).ok());
                let there = id.is_none_or(|id| known.contains(&id));
                assert!(there, "seed {seed}: {text}");
                assert!(node.as_str() != Some("gone"), "seed {seed}: {text}");
            }
        }
        assert!(structure.shared.is_empty() && structure.earlier_automations.is_empty());
    }
}

#[test]
fn selections_choose_from_what_is_there() {
    let mut partial = 0;
    for seed in 0..CASES {
        let state = workspace(seed, &Shape::wild());
        let Selection { features, rows, .. } = selection(seed, &state.structure);
        let known: Vec<Id> = state.structure.features.iter().map(|one| one.id).collect();
        let chosen = features.unwrap_or_else(|| known.clone());
        assert!(chosen.iter().all(|id| known.contains(id)));
        if let super::SelectedRows::Some(rows) = rows {
            assert!(rows.iter().all(|id| chosen.contains(id)));
            partial += usize::from(rows.len() < chosen.len());
        }
    }
    assert!(partial > 0);
}

#[test]
fn the_large_one_is_as_large_as_asked() {
    let state = large(1, 3, 50);
    assert_eq!(state.structure.features.len(), 3);
    assert!(state.rows.values().all(|rows| rows.len() == 50));
    let fields = &Definitions::embedded().config_keys.feature;
    let text = Value::Object(state.structure.features[0].config.clone()).write();
    let doc = Doc::parse(&text).expect("JSON");
    let mut faults = Faults {
        unknown: 0,
        wrong: Vec::new(),
    };
    walk(doc.root(), fields, &mut faults);
    assert!(faults.wrong.is_empty() && faults.unknown == 0);
    for feature in &state.structure.features {
        for column in &feature.columns {
            for row in &state.rows[&feature.id] {
                let Some(cell) = row.data.cell(&column.name) else {
                    continue;
                };
                assert!(storable(column).check(cell).is_ok(), "{cell}");
            }
        }
    }
}
