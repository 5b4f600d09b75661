//! Laws of upgrades (`upgrade` 6), on random changes of good packages.

use serde_json::Value as Json;

use super::{client, v2};
use crate::apply::test_packages::{checked, packages};
use crate::apply::{Request, package_digest};
use crate::context::{FixedClock, Seeded};
use crate::definitions::Definitions;
use crate::simulate::{SimulateError, SimulatedUpgrade, upgrade};
use crate::upgrade::Side;
use crate::workspace::memory::State;
use crate::workspace::{AnyRecord, Id, Structure};

/// The same numbers on every machine.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound.max(1)
    }
}

/// A next version: labels, orders and cells that are others, and records that went.
pub(super) fn next(package: &str, dice: &mut Dice) -> String {
    let mut package: Json = serde_json::from_str(package).expect("JSON");
    let root = if package.get("manifest").is_some() {
        &mut package["manifest"]
    } else {
        &mut package
    };
    let steps = root["plan"]["steps"].as_array_mut().expect("steps");
    let backwards = dice.below(2) == 0;
    for step in steps {
        let Some(args) = step["args"].as_object_mut() else {
            continue;
        };
        if args.contains_key("label") && dice.below(3) == 0 {
            args.insert(
                "label".to_owned(),
                format!("label {}", dice.below(3)).into(),
            );
        }
        if let (true, Some(order)) = (backwards, args.get("order").and_then(Json::as_i64)) {
            args.insert("order".to_owned(), (1000 - order).into());
        }
        if args.contains_key("icon") && dice.below(2) == 0 {
            args.insert("icon".to_owned(), "star".into());
        }
        let first = args.get_mut("config").and_then(|config| config.get_mut(0));
        let columns = first.and_then(|one| one.get_mut("visibleColumns"));
        if let Some(columns) = columns.and_then(Json::as_array_mut)
            && !columns.is_empty()
            && dice.below(2) == 0
        {
            let at = dice.below(columns.len());
            let one = columns.remove(at);
            if dice.below(2) == 0 {
                columns.push(one);
            }
        }
    }
    let payloads = package.get_mut("payloads").and_then(Json::as_array_mut);
    for entry in payloads.into_iter().flatten() {
        let rows = entry.get_mut("rows").and_then(Json::as_array_mut);
        for row in rows.into_iter().flatten() {
            let row_refs = row.get("refs").cloned().unwrap_or_default();
            for (column, cell) in row
                .get_mut("data")
                .and_then(Json::as_object_mut)
                .into_iter()
                .flatten()
            {
                let free = row_refs.get(column).is_none() && column.contains("note");
                if cell.is_string() && free && dice.below(2) == 0 {
                    *cell = format!("cell {}", dice.below(3)).into();
                }
            }
        }
    }
    package.to_string()
}

/// People at work: labels that are others.
fn people(structure: &mut Structure, dice: &mut Dice) {
    for feature in &mut structure.features {
        if dice.below(3) == 0 {
            feature.label = format!("label {}", dice.below(3));
        }
        for column in &mut feature.columns {
            if dice.below(4) == 0 {
                column.label = format!("label {}", dice.below(3));
            }
        }
        for view in &mut feature.views {
            if dice.below(4) == 0 {
                view.label = format!("label {}", dice.below(3));
            }
        }
    }
}

fn empty() -> State {
    State::empty(Id::from_u128(1), Id::from_u128(2), "here", "Here")
}

/// One upgrade of a package to another, over what people made of the first.
pub(super) fn upgraded(
    base: &str,
    new: &str,
    conflicts: Option<Side>,
    people: &mut dyn FnMut(&mut State),
) -> Result<crate::simulate::Simulation, SimulateError> {
    let (package, before) = (checked(new), checked(base));
    let mut request = Request {
        upgrade: true,
        ..Request::default()
    };
    request.terms.conflicts = conflicts;
    request.terms.allow_downgrade = true;
    let question = SimulatedUpgrade {
        package: &package,
        package_digest: &package_digest(new),
        request: &request,
        base: crate::simulate::UpgradeBase::Package(&before),
        definitions: Definitions::embedded(),
    };
    upgrade(
        question,
        empty(),
        people,
        &FixedClock(jiff::Timestamp::UNIX_EPOCH),
        &mut Seeded::new(7),
    )
}

#[test]
fn an_undone_upgrade_gives_back_cells_that_were_null_and_those_that_were_not_there() {
    let versions = [Some(Json::Null), None, Some("a".into()), Some("b".into())];
    let package = |city: &Option<Json>, link: bool| {
        let package = v2(|package| {
            let cells = client(package, 1).as_object_mut().expect("cells");
            match city {
                Some(city) => cells.insert("city".to_owned(), city.clone()),
                None => cells.shift_remove("city"),
            };
            if !link {
                let order = &mut package["payloads"][1]["rows"][0];
                order["data"]["client"] = Json::Null;
                order.as_object_mut().expect("a row").shift_remove("refs");
            }
        });
        package.to_string()
    };
    for (old, new) in versions
        .iter()
        .flat_map(|old| versions.each_ref().map(|new| (old, new)))
    {
        for links in [[false, true], [true, false]] {
            let (base, next) = (package(old, links[0]), package(new, links[1]));
            let simulated = upgraded(&base, &next, None, &mut |_| {}).expect("upgraded");
            assert!(simulated.restored, "{old:?} {new:?} {links:?}");
        }
    }
}

#[test]
fn an_upgrade_to_the_same_version_changes_nothing() {
    for (path, text) in packages() {
        let mut before = None;
        let simulated = upgraded(&text, &text, None, &mut |state| {
            before = Some(state.clone());
        });
        let simulated = match simulated {
            Ok(simulated) => simulated,
            Err(SimulateError::Undecided(plan)) => panic!("{path}: {:#?}", plan.refusals),
            Err(error) => panic!("{path}: {error:?}"),
        };
        assert_eq!(simulated.preview.update, [], "{path}");
        assert_eq!(simulated.preview.create, [], "{path}");
        assert_eq!(simulated.preview.not_carried, [], "{path}");
        assert!(
            Some(simulated.applied) == before && simulated.restored,
            "{path}"
        );
        assert!(!simulated.again_changed, "{path}");
    }
}

#[test]
fn an_upgrade_undone_leaves_what_was_there_and_once_more_it_changes_nothing() {
    for (path, text) in packages() {
        for seed in 0..3 {
            let mut dice = Dice(seed);
            let new = next(&text, &mut dice);
            let side = if seed == 0 { Side::Ours } else { Side::Theirs };
            let mut work = |state: &mut State| people(&mut state.structure, &mut Dice(seed + 9));
            let simulated = match upgraded(&text, &new, Some(side), &mut work) {
                Ok(simulated) => simulated,
                Err(SimulateError::Undecided(plan)) => {
                    panic!("{path} {seed}: {:#?}", plan.refusals)
                }
                Err(error) => panic!("{path} {seed}: {error:?}"),
            };
            assert!(simulated.restored, "{path} {seed}");
            assert!(!simulated.again_changed, "{path} {seed}");
        }
    }
}

/// Everything that has a label, by kind and name.
fn labels(structure: &Structure) -> Vec<AnyRecord> {
    let features = structure.features.iter();
    let kinds = [
        crate::workspace::RecordKind::Column,
        crate::workspace::RecordKind::View,
    ];
    let inside = features.flat_map(|feature| {
        kinds.map(|kind| AnyRecord::siblings(structure, kind, Some(feature.id)))
    });
    let own = AnyRecord::siblings(structure, crate::workspace::RecordKind::Feature, None);
    own.into_iter().chain(inside.flatten()).collect()
}

#[test]
fn a_leaf_that_both_changed_never_changes_without_a_decision() {
    for (path, text) in packages() {
        for seed in 0..3 {
            let new = next(&text, &mut Dice(seed));
            let (mut base, mut ours) = (None, None);
            let mut work = |state: &mut State| {
                base = Some(state.structure.clone());
                people(&mut state.structure, &mut Dice(seed + 9));
                ours = Some(state.structure.clone());
            };
            let outcome = upgraded(&text, &new, None, &mut work);
            let (base, ours) = (base.expect("applied"), ours.expect("changed"));
            let conflicts_about = |plan: &crate::apply::Preview, thing: &AnyRecord| {
                let mut conflicts = plan.conflicts.iter();
                conflicts
                    .any(|one| one.id == Some(thing.id) && one.path.as_deref() == Some("label"))
            };
            for thing in labels(&ours) {
                let was = AnyRecord::find(&base, thing.kind, thing.id).expect("made");
                if was.label == thing.label {
                    continue;
                }
                match &outcome {
                    Ok(simulated) => {
                        let now =
                            AnyRecord::find(&simulated.applied.structure, thing.kind, thing.id);
                        let now = now.expect("there");
                        assert_eq!(now.label, thing.label, "{path} {seed}");
                    }
                    Err(SimulateError::Undecided(plan)) => {
                        let updated = plan
                            .update
                            .iter()
                            .any(|one| one.id == thing.id && one.path == "label");
                        assert!(!updated || !conflicts_about(plan, &thing), "{path} {seed}");
                        assert!(!updated, "{path} {seed}: {thing:?}");
                    }
                    Err(error) => panic!("{path} {seed}: {error:?}"),
                }
            }
        }
    }
}
