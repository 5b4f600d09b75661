//! Random workspaces for tests, benches and simulations. Nothing that leaves the house is made
//! here.
//!
//! One number decides everything: the same seed and the same [`Shape`] give the same workspace on
//! every machine. What comes out is valid as a server would have accepted it: names, configs and
//! cells hold against the embedded definitions, automations have no errors. A *wild* workspace
//! also holds what becomes of good ones over the years: references to things that are gone,
//! left-over cells and config keys, things that no package can carry.

mod automations;
mod columns;
mod config;
mod dice;
mod edit;
mod features;
mod large;
mod names;
mod navigation;
mod rows;
mod selection;
mod steps;
#[cfg(test)]
mod tests;
mod values;
mod views;

pub use edit::{EditStep, Hand, edit};
pub use large::large;
pub use selection::{SelectedRows, Selection, selection};

use std::collections::{BTreeMap, BTreeSet};

use tplkit::json::Object;
use tplkit::workspace::memory::State;
use tplkit::workspace::{
    Channel, Connection, Id, Named, Organization, StoredRow, Structure, Workspace,
};

pub(crate) use dice::Dice;

/// How large a random workspace becomes, and how tidy it is. Numbers are the most that there will
/// be, not how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Tables.
    pub features: usize,
    /// Columns of a table, links aside.
    pub columns: usize,
    /// Link columns of a table.
    pub links: usize,
    /// Views of a table.
    pub views: usize,
    /// Modules.
    pub modules: usize,
    /// Navigation entries of a module.
    pub rails: usize,
    /// Automations.
    pub automations: usize,
    /// Steps in a list of steps.
    pub steps: usize,
    /// Rows of a table.
    pub rows: usize,
    /// Whether everything in it travels and comes back: no references to what is gone or belongs
    /// to others, no secrets, nothing that a package cannot carry.
    pub closed: bool,
}

impl Shape {
    /// A small tidy workspace.
    pub const fn closed() -> Shape {
        Shape {
            features: 5,
            columns: 7,
            links: 2,
            views: 3,
            modules: 3,
            rails: 3,
            automations: 4,
            steps: 4,
            rows: 14,
            closed: true,
        }
    }

    /// A small untidy workspace.
    pub const fn wild() -> Shape {
        Shape {
            closed: false,
            ..Shape::closed()
        }
    }
}

/// A random workspace.
pub fn workspace(seed: u64, shape: &Shape) -> State {
    let mut making = Generator::new(seed, shape);
    making.features();
    making.navigation();
    making.views();
    making.automations();
    making.rows();
    making.finish()
}

/// A workspace that is being made.
struct Generator<'s> {
    dice: Dice,
    shape: &'s Shape,
    structure: Structure,
    rows: BTreeMap<Id, Vec<StoredRow>>,
    sequences: BTreeMap<Id, u64>,
    /// Ids of automations, known before they are made: buttons point at them.
    workflows: Vec<Id>,
    /// Ids of views by the position of their table, known before they are made.
    views: Vec<Vec<Id>>,
    /// Things that do not exist, or not here.
    gone: Vec<Id>,
}

impl<'s> Generator<'s> {
    fn new(seed: u64, shape: &'s Shape) -> Generator<'s> {
        let mut dice = Dice::new(seed);
        let organization = organization(&mut dice, shape);
        let workspace = Workspace {
            id: dice.id(),
            name: names::technical(&mut dice, &mut BTreeSet::new()),
            // Older stores hold empty labels of everything below; a workspace cannot be made with one.
            label: match names::label(&mut dice) {
                empty if empty.is_empty() => "W".to_owned(),
                label => label,
            },
            config: Object::new(),
        };
        let automations = dice.between(usize::from(shape.automations > 0), shape.automations);
        let workflows = (0..automations).map(|_| dice.id()).collect();
        let gone = (0..3).map(|_| dice.uuid()).collect();
        let mut structure = Structure {
            organization,
            workspace,
            modules: Vec::new(),
            features: Vec::new(),
            automations: Vec::new(),
            earlier_automations: Vec::new(),
            shared: Vec::new(),
            row_access_stays: false,
            unseen: BTreeSet::new(),
        };
        if !shape.closed {
            let earlier = |dice: &mut Dice| Named {
                id: dice.id(),
                name: format!("earlier {}", dice.below(100)),
                label: None,
            };
            structure.earlier_automations =
                (0..dice.below(3)).map(|_| earlier(&mut dice)).collect();
        }
        Generator {
            dice,
            shape,
            structure,
            rows: BTreeMap::new(),
            sequences: BTreeMap::new(),
            workflows,
            views: Vec::new(),
            gone,
        }
    }

    /// Whether something untidy happens here.
    fn untidy(&mut self, percent: usize) -> bool {
        !self.shape.closed && self.dice.chance(percent)
    }

    /// A label. Where everything comes back it is never empty: an apply gives what has none its name.
    fn label(&mut self) -> String {
        let label = names::label(&mut self.dice);
        if label.is_empty() && self.shape.closed {
            return "W".to_owned();
        }
        label
    }

    /// The id of something that is not there.
    fn gone(&mut self) -> Id {
        self.dice.pick(&self.gone).copied().unwrap_or_default()
    }

    fn finish(self) -> State {
        let rows = self.rows.into_iter().filter(|(_, rows)| !rows.is_empty());
        let sequences = self.sequences.into_iter().filter(|(_, next)| *next != 1);
        State {
            structure: self.structure,
            other_workspaces: Vec::new(),
            rows: rows.collect(),
            sequences: sequences.collect(),
            drafts: std::collections::BTreeMap::new(),
            jobs: Vec::new(),
        }
    }
}

/// Every kind of connection is there at least once; names meet once they are slugs.
fn organization(dice: &mut Dice, shape: &Shape) -> Organization {
    let id = dice.id();
    let mut connections = Vec::new();
    for kind in ["smtp", "http", "llm", "timer"] {
        for name in ["Main", "main 2"].iter().take(dice.between(1, 2)) {
            connections.push(Connection {
                name: format!("{name} {kind}"),
                kind: kind.to_owned(),
            });
        }
    }
    let named = |name: &str, dice: &mut Dice| Named {
        id: dice.id(),
        name: name.to_owned(),
        label: dice.chance(50).then(|| names::label(dice)),
    };
    let timers = ["Nightly", "nightly", "À noite"];
    let timers = timers.iter().map(|name| named(name, dice)).collect();
    let mut channels = Vec::new();
    for name in ["Vendas", "vendas", "equipa #1"] {
        let Named { id, name, label } = named(name, dice);
        channels.push(Channel {
            id,
            name: Some(name),
            label,
        });
    }
    if !shape.closed {
        channels.push(Channel {
            id: dice.id(),
            name: None,
            label: None,
        });
    }
    let mut known = || shape.closed || dice.chance(90);
    Organization {
        id,
        connections: known().then_some(connections),
        channels: known().then_some(channels),
        timer_profiles: known().then_some(timers),
    }
}
