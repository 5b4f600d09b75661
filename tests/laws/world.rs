//! Workspaces and their packages as the laws need them.

use tplkit::check::Checked;
use tplkit::context::{Fixed, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{RowsSelection, Selection, export};
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::random::{self, SelectedRows, Shape};
use tplkit::workspace::{Id, ready};

pub(crate) fn now() -> Fixed {
    Fixed("2026-03-01T09:30:00Z".parse().unwrap())
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
pub(crate) fn empty_beside(state: &State) -> State {
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

/// A package for the stages after the check. What is wrong with its source does not keep it back:
/// rows that the destination refuses are part of what is tried.
pub(crate) fn read(text: &str) -> Result<Checked<'_>, String> {
    Checked::trusted(text).map_err(|error| format!("the export cannot be read: {error}"))
}
