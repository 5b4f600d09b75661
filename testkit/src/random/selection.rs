//! A random choice of what travels.

use tplkit::workspace::{Id, Structure};

use super::dice::Dice;

/// What an export takes along; an absent list means everything of that kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Tables.
    pub features: Option<Vec<Id>>,
    /// Views.
    pub views: Option<Vec<Id>>,
    /// Modules.
    pub modules: Option<Vec<Id>>,
    /// Navigation entries.
    pub rails: Option<Vec<Id>>,
    /// Automations.
    pub workflows: Option<Vec<Id>>,
    /// Tables whose rows travel.
    pub rows: SelectedRows,
}

/// Whose rows travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectedRows {
    /// Nobody's.
    None,
    /// Those of all chosen tables.
    All,
    /// Those of these tables, each of which is chosen.
    Some(Vec<Id>),
}

impl Selection {
    /// Everything, rows too.
    pub const fn everything() -> Selection {
        Selection {
            features: None,
            views: None,
            modules: None,
            rails: None,
            workflows: None,
            rows: SelectedRows::All,
        }
    }
}

/// A random selection from a workspace. Parents of what is chosen may be left out.
pub fn selection(seed: u64, structure: &Structure) -> Selection {
    let mut dice = Dice::new(seed ^ 0x5E1E_C710);
    let features: Vec<Id> = structure.features.iter().map(|table| table.id).collect();
    let views = structure.features.iter().flat_map(|table| &table.views);
    let views: Vec<Id> = views.map(|view| view.id).collect();
    let modules: Vec<Id> = structure.modules.iter().map(|module| module.id).collect();
    let rails = structure.modules.iter().flat_map(|module| &module.rails);
    let rails: Vec<Id> = rails.map(|rail| rail.id).collect();
    let workflows = structure.automations.iter();
    let workflows: Vec<Id> = workflows.map(|automation| automation.id).collect();
    let mut some = |all: &[Id]| match dice.below(4) {
        0 => None,
        1 => Some(all.to_vec()),
        _ => Some(dice.some(all, 60)),
    };
    let chosen = some(&features);
    let (views, modules, rails, workflows) =
        (some(&views), some(&modules), some(&rails), some(&workflows));
    let rows = match dice.below(3) {
        0 => SelectedRows::None,
        1 => SelectedRows::All,
        _ => SelectedRows::Some(dice.some(chosen.as_ref().unwrap_or(&features), 60)),
    };
    Selection {
        features: chosen,
        views,
        modules,
        rails,
        workflows,
        rows,
    }
}
