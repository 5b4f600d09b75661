//! Workspaces and their packages as the laws need them.

use std::collections::BTreeSet;

use tplkit::check::Checked;
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{RowsSelection, Selection, export};
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Id, ready};
use tplkit_testkit::random::{self, SelectedRows, Shape};

use crate::seeds::Dice;

pub(crate) fn now() -> FixedClock {
    FixedClock("2026-03-01T09:30:00Z".parse().unwrap())
}

/// Tidy and untidy workspaces in turn.
pub(crate) fn workspace(seed: u64) -> State {
    let shape = if seed.is_multiple_of(2) {
        Shape::wild()
    } else {
        Shape::closed()
    };
    random::workspace(seed, &shape)
}

/// A workspace for laws that try every checkpoint: few of everything, and now and then a table of
/// several batches.
pub(crate) fn small(seed: u64) -> State {
    let long = is_long(seed);
    let shape = Shape {
        features: if long { 1 } else { 3 },
        columns: if long { 2 } else { 3 },
        views: 1,
        modules: 1,
        rails: 1,
        automations: 2,
        steps: 2,
        rows: if long { 1400 } else { 6 },
        ..Shape::wild()
    };
    random::workspace(seed, &shape)
}

/// Whether a small workspace has one table of several batches instead of several small ones.
pub(crate) fn is_long(seed: u64) -> bool {
    seed.is_multiple_of(25)
}

/// Everything, rows too.
pub(crate) fn everything() -> Selection {
    Selection {
        rows: RowsSelection::All,
        ..Selection::default()
    }
}

/// A random selection.
pub(crate) fn selection(seed: u64, state: &State) -> Selection {
    let chosen = random::selection(seed, &state.structure);
    Selection {
        features: chosen.features,
        views: chosen.views,
        modules: chosen.modules,
        rails: chosen.rails,
        workflows: chosen.workflows,
        rows: match chosen.rows {
            SelectedRows::None => RowsSelection::None,
            SelectedRows::All => RowsSelection::All,
            SelectedRows::Some(tables) => RowsSelection::Some(tables),
        },
        ..Selection::default()
    }
}

/// The package of a workspace.
pub(crate) fn exported(state: &State, selection: &Selection) -> Result<String, String> {
    let source = Memory::new(state.clone());
    let mut ids = Seeded::new(1);
    let definitions = Definitions::embedded();
    let made = ready(export(&source, selection, &now(), &mut ids, definitions));
    made.map(|package| package.text)
        .map_err(|error| format!("the export failed: {error}"))
}

/// An empty workspace in an organization that has what the other names.
pub(crate) fn empty_counterpart(state: &State) -> State {
    let organization = Id::from_u128(0xABCD_0001);
    let workspace = &state.structure.workspace;
    let (name, label) = (&workspace.name, &workspace.label);
    let mut empty = State::empty(organization, Id::from_u128(0xABCD_0002), name, label);
    let own = &mut empty.structure.organization;
    let theirs = &state.structure.organization;
    own.connections.clone_from(&theirs.connections);
    own.channels.clone_from(&theirs.channels);
    own.timer_profiles.clone_from(&theirs.timer_profiles);
    let channels = own.channels.iter_mut().flatten().map(|one| &mut one.id);
    let timers = own.timer_profiles.iter_mut().flatten();
    let ids = channels.chain(timers.map(|one| &mut one.id));
    for (id, number) in ids.zip(0xABCD_0003..) {
        *id = Id::from_u128(number);
    }
    empty
}

/// Where a package goes: into an empty workspace next to its source, into its source, into another
/// workspace that is in use, with the names of its source or with others.
pub(crate) fn destination(seed: u64, source: &State, dice: &mut Dice) -> State {
    match dice.below(4) {
        0 => empty_counterpart(source),
        1 => source.clone(),
        2 => other(seed, source),
        _ => {
            let mut named = other(seed, source);
            let features = named.structure.features.iter_mut();
            for (theirs, own) in features.zip(&source.structure.features) {
                theirs.name.clone_from(&own.name);
            }
            let modules = named.structure.modules.iter_mut();
            for (theirs, own) in modules.zip(&source.structure.modules) {
                theirs.name.clone_from(&own.name);
            }
            unique(named)
        }
    }
}

/// Names are unique in a workspace; two sets of them that were mixed may meet.
fn unique(mut state: State) -> State {
    let mut seen = BTreeSet::new();
    for (number, feature) in state.structure.features.iter_mut().enumerate() {
        if !seen.insert(feature.name.clone()) {
            feature.name = format!("table {number} of its own");
        }
    }
    seen.clear();
    for (number, module) in state.structure.modules.iter_mut().enumerate() {
        if !seen.insert(module.name.clone()) {
            module.name = format!("module {number} of its own");
        }
    }
    state
}

/// Another random workspace in an organization that has what the source's names.
fn other(seed: u64, source: &State) -> State {
    let mut other = random::workspace(seed ^ 0x0DD5_EED5, &Shape::wild());
    other.structure.organization = empty_counterpart(source).structure.organization;
    other
}

/// A package for the stages after the check. What is wrong with its source does not keep it back:
/// rows that the destination refuses are part of what is tried.
pub(crate) fn read(text: &str) -> Result<Checked<'_>, String> {
    Checked::trusted(text).map_err(|error| format!("the export cannot be read: {error}"))
}

/// Everything that a workspace holds.
pub(crate) fn saved(target: &Memory) -> String {
    target.state().save().unwrap()
}
