//! What becomes of a workspace when somebody works on it: one small change at a time.
//!
//! The number of a change decides everything about it, so that a list of numbers is a history, and a
//! history without some of its numbers is another one. What comes out is as valid as what went in.

mod cells;
mod configs;
mod records;

use tplkit::json::{Object, Value};
use tplkit::workspace::memory::State;
use tplkit::workspace::{RowData, StoredRow};

use super::{Dice, Generator, Shape};

/// Who changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    /// The author of a package, in its source.
    Author,
    /// People, in what was applied.
    People,
    /// People who remove nothing.
    Careful,
}

/// Milliseconds between the first record of all and the first that an edit makes: later than what
/// any job of a test mints.
const LATER: u64 = 200_000_000_000;

/// One change of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditStep {
    /// Decides everything about it.
    pub number: u64,
    /// Its position in the history: ids ascend with it.
    pub position: u64,
}

/// Makes one change. Gives what was done, for whoever reads a failure; nothing when there was nothing to do.
pub fn edit(state: &mut State, shape: &Shape, step: EditStep, hand: Hand) -> Option<String> {
    let mut dice = Dice::later(step.number, LATER + step.position * 1_000_000);
    let choice = dice.below(30);
    let mut making = Generator::going_on(state, shape, dice);
    let done = making.edit(choice, hand);
    let (structure, rows) = (making.structure, making.rows);
    state.structure = structure;
    state.rows = rows;
    state.rows.retain(|_, rows| !rows.is_empty());
    state.sequences = making.sequences;
    arrange(state);
    done
}

/// Puts siblings into display order, as every reader shows them.
fn arrange(state: &mut State) {
    let structure = &mut state.structure;
    structure.modules.sort_by_key(|one| (one.order, one.id));
    for module in &mut structure.modules {
        module.rails.sort_by_key(|one| (one.order, one.id));
    }
    for feature in &mut structure.features {
        feature.columns.sort_by_key(|one| (one.order, one.id));
        feature.views.sort_by_key(|one| (one.order, one.id));
    }
}

impl<'s> Generator<'s> {
    /// Goes on with a workspace that is there.
    fn going_on(state: &State, shape: &'s Shape, dice: Dice) -> Generator<'s> {
        let structure = state.structure.clone();
        let views = structure.features.iter();
        Generator {
            dice,
            shape,
            rows: state.rows.clone(),
            sequences: state.sequences.clone(),
            workflows: structure.automations.iter().map(|one| one.id).collect(),
            views: views
                .map(|feature| feature.views.iter().map(|view| view.id).collect())
                .collect(),
            gone: Vec::new(),
            structure,
        }
    }

    fn edit(&mut self, choice: usize, hand: Hand) -> Option<String> {
        let authors = hand == Hand::Author;
        match choice {
            0..=3 => self.relabel(),
            4 => self.reorder(),
            5..=7 => self.reconfigure_view(),
            8 | 9 => self.reconfigure_column(),
            10 => self.reconfigure_table(),
            11 | 12 => self.reconfigure_navigation(),
            13..=17 => self.recell(),
            18 => self.add_row(),
            19 if hand == Hand::Careful => self.recell(),
            19 => self.remove_row(authors),
            20 => self.add_column(),
            21 => self.add_view(),
            22 => Some(self.add_navigation()),
            23 => Some(self.add_table()),
            24 | 25 => self.rework_automation(),
            26 => Some(self.add_automation()),
            27 if hand == Hand::Careful => self.relabel(),
            27 => self.remove(),
            28 if authors => self.retype(),
            29 if authors => self.relink(),
            // Nobody gives what is there another technical name.
            _ if authors => self.rename(),
            _ => self.reorder(),
        }
    }

    fn some_own(&mut self) -> Option<usize> {
        let count = self.structure.features.len();
        (count > 0).then(|| self.dice.below(count))
    }

    fn new_label(&mut self) -> String {
        format!("Label {}", self.dice.below(4))
    }

    fn relabel(&mut self) -> Option<String> {
        let label = self.new_label();
        let choice = self.dice.below(5);
        if choice > 2 && !self.structure.modules.is_empty() {
            let at = self.dice.below(self.structure.modules.len());
            let module = &mut self.structure.modules[at];
            if choice == 3 {
                // One that is empty is not the same as none.
                let icon = if label.ends_with('0') { "" } else { "icon 1" };
                module.icon = Some(icon.to_owned());
                module.label.clone_from(&label);
                return Some(format!("module {:?} is {label:?}", module.name));
            }
            let at = self.dice.below(module.rails.len());
            let rail = module.rails.get_mut(at)?;
            rail.label.clone_from(&label);
            return Some(format!("rail {:?} is {label:?}", rail.name));
        }
        let table = self.some_own()?;
        let feature = &mut self.structure.features[table];
        match choice {
            0 => {
                feature.label.clone_from(&label);
                Some(format!("table {:?} is {label:?}", feature.name))
            }
            1 => {
                let at = self.dice.below(feature.views.len());
                let view = feature.views.get_mut(at)?;
                view.label.clone_from(&label);
                Some(format!("view {:?} is {label:?}", view.name))
            }
            _ => {
                let at = self.dice.below(feature.columns.len());
                let column = feature.columns.get_mut(at)?;
                column.label.clone_from(&label);
                Some(format!("column {:?} is {label:?}", column.name))
            }
        }
    }

    fn reorder(&mut self) -> Option<String> {
        let places = |dice: &mut Dice, count: usize| -> Vec<i64> {
            let mut places: Vec<i64> = (1..).take(count).map(|place| place * 3).collect();
            dice.shuffle(&mut places);
            places
        };
        match self.dice.below(3) {
            0 => {
                let places = places(&mut self.dice, self.structure.modules.len());
                for (module, place) in self.structure.modules.iter_mut().zip(places) {
                    module.order = place;
                }
                Some("modules in another order".to_owned())
            }
            1 if !self.structure.modules.is_empty() => {
                let at = self.dice.below(self.structure.modules.len());
                let module = &mut self.structure.modules[at];
                let places = places(&mut self.dice, module.rails.len());
                for (rail, place) in module.rails.iter_mut().zip(places) {
                    rail.order = place;
                }
                Some(format!("rails of {:?} in another order", module.name))
            }
            _ => {
                let table = self.some_own()?;
                let feature = &mut self.structure.features[table];
                let places = places(&mut self.dice, feature.columns.len());
                for (column, place) in feature.columns.iter_mut().zip(places) {
                    column.order = place;
                }
                Some(format!("columns of {:?} in another order", feature.name))
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::List(elements) => elements.is_empty(),
        _ => false,
    }
}

fn set(row: &mut StoredRow, column: &str, value: Value) {
    let Ok(Value::Object(mut cells)) = Value::parse(row.data.as_str()) else {
        return;
    };
    if value == Value::Null {
        cells.shift_remove(column);
    } else {
        cells.insert(column.to_owned(), value);
    }
    row.data = RowData::of(&cells);
}

/// The keys that differ.
fn changed(before: &Object, after: &Object) -> Object {
    let differs = |key: &&String| before.get(*key) != after.get(*key);
    let keys = before.keys().chain(after.keys()).filter(differs);
    keys.map(|key| (key.clone(), after.get(key).cloned().unwrap_or_default()))
        .collect()
}
