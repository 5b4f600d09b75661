//! Records that come and go.

use std::collections::BTreeSet;

use tplkit::json::Value;
use tplkit::workspace::{Column, Id, Module, RecordKind};

use super::{Generator, set};
use crate::random::names;

impl Generator<'_> {
    pub(super) fn add_column(&mut self) -> Option<String> {
        let table = self.some_own()?;
        let columns = self.table(table).columns.clone();
        let mut taken = columns.iter().map(|one| one.name.clone()).collect();
        let mut column = self.plain_column(&mut taken);
        if column.is_identity() {
            return None;
        }
        column.order = i64::try_from(self.dice.below(12)).unwrap_or_default();
        let feature = self.table(table).id;
        let count = self.rows.get(&feature).map_or(0, Vec::len);
        if column.column_type != "button" {
            for at in 0..count {
                if !column.is_required() && self.dice.chance(40) {
                    continue;
                }
                let value = self.fitting(table, &column)?;
                if let Some(row) = self
                    .rows
                    .get_mut(&feature)
                    .and_then(|rows| rows.get_mut(at))
                {
                    set(row, &column.name, value);
                }
            }
        }
        let done = format!("column {:?} ({})", column.name, column.column_type);
        self.table_mut(table).columns.push(column);
        Some(done)
    }

    pub(super) fn add_view(&mut self) -> Option<String> {
        let table = self.some_own()?;
        let views = &self.table(table).views;
        let (mut taken, place) = (
            views.iter().map(|one| one.name.clone()).collect(),
            views.len(),
        );
        let id = self.dice.id();
        let view = self.view(table, place, id, &mut taken);
        let done = format!("view {:?} ({})", view.name, view.view_type);
        self.table_mut(table).views.push(view);
        Some(done)
    }

    pub(super) fn add_navigation(&mut self) -> String {
        let modules: Vec<Id> = self.structure.modules.iter().map(|one| one.id).collect();
        if modules.is_empty() || self.dice.chance(40) {
            let all = self.structure.modules.iter();
            let mut taken = all.map(|one| one.name.clone()).collect();
            let id = self.dice.id();
            let module: Module = self.module(id, modules.len(), &modules, &mut taken);
            let done = format!("module {:?}", module.name);
            self.structure.modules.push(module);
            return done;
        }
        let at = self.dice.below(modules.len());
        let rails = &self.structure.modules[at].rails;
        let (mut taken, place) = (
            rails.iter().map(|one| one.name.clone()).collect(),
            rails.len(),
        );
        let rail = self.rail(place, &modules, &mut taken);
        let done = format!("rail {:?}", rail.name);
        self.structure.modules[at].rails.push(rail);
        done
    }

    pub(super) fn add_table(&mut self) -> String {
        let features = self.structure.features.iter();
        let mut taken = features.map(|one| one.name.clone()).collect();
        let mut feature = self.feature(&mut taken);
        feature.columns.retain(|column| !column.is_sequence());
        for (column, order) in feature.columns.iter_mut().zip(1..) {
            column.order = order;
        }
        let done = format!("table {:?}", feature.name);
        self.structure.features.push(feature);
        self.views.push(Vec::new());
        done
    }

    pub(super) fn add_automation(&mut self) -> String {
        let id = self.dice.id();
        let at = self.structure.automations.len();
        self.workflows.push(id);
        let automation = self.automation(at, id);
        let done = format!("automation {:?}", automation.name);
        self.structure.automations.push(automation);
        done
    }

    pub(super) fn remove(&mut self) -> Option<String> {
        let kinds = [
            RecordKind::View,
            RecordKind::View,
            RecordKind::Rail,
            RecordKind::Column,
            RecordKind::Module,
            RecordKind::Workflow,
            RecordKind::Feature,
        ];
        let kind = *self.dice.pick(&kinds)?;
        let structure = &mut self.structure;
        let (at, inner) = (self.dice.word(), self.dice.word());
        let below = |word: u64, count: usize| -> usize {
            usize::try_from(word % count.max(1) as u64).unwrap_or_default()
        };
        match kind {
            RecordKind::View => {
                let at = below(at, structure.features.len());
                let views = &mut structure.features.get_mut(at)?.views;
                let inner = below(inner, views.len());
                views.get(inner)?;
                let gone = views.remove(inner);
                Some(format!("view {:?} is gone", gone.name))
            }
            RecordKind::Rail => {
                let at = below(at, structure.modules.len());
                let rails = &mut structure.modules.get_mut(at)?.rails;
                let inner = below(inner, rails.len());
                rails.get(inner)?;
                let gone = rails.remove(inner);
                Some(format!("rail {:?} is gone", gone.name))
            }
            RecordKind::Module => {
                let at = below(at, structure.modules.len());
                structure.modules.get(at)?;
                let gone = structure.modules.remove(at);
                Some(format!("module {:?} is gone", gone.name))
            }
            RecordKind::Workflow => {
                let at = below(at, structure.automations.len());
                structure.automations.get(at)?;
                let gone = structure.automations.remove(at);
                Some(format!("automation {:?} is gone", gone.name))
            }
            RecordKind::Column => {
                let table = below(at, structure.features.len());
                let columns = &structure.features.get(table)?.columns;
                let inner = below(inner, columns.len());
                let column = columns.get(inner)?.clone();
                // A table keeps a column, and identities and targets of links stay.
                if columns.len() < 2 || column.is_identity() || self.is_linked(table, &column.name)
                {
                    return None;
                }
                let feature = self.table(table).id;
                self.table_mut(table).columns.remove(inner);
                for row in self.rows.get_mut(&feature).into_iter().flatten() {
                    set(row, &column.name, Value::Null);
                }
                Some(format!("column {:?} is gone", column.name))
            }
            RecordKind::Feature => {
                let table = below(at, structure.features.len());
                let feature = structure.features.get(table)?.clone();
                let id = feature.id.to_string();
                let others = structure.features.iter().filter(|one| one.id != feature.id);
                let mut links = others.flat_map(|one| &one.columns);
                let named = |column: &Column| {
                    column.config.get("linkedFeatureId").and_then(Value::as_str) == Some(&id)
                };
                if structure.features.len() < 2 || links.any(named) {
                    return None;
                }
                structure.features.remove(table);
                self.rows.remove(&feature.id);
                for column in &feature.columns {
                    self.sequences.remove(&column.id);
                }
                Some(format!("table {:?} is gone", feature.name))
            }
            RecordKind::Workspace => None,
        }
    }

    /// Another technical name, which makes it another thing.
    pub(super) fn rename(&mut self) -> Option<String> {
        let mut taken = BTreeSet::new();
        let name = format!("{} renamed", names::technical(&mut self.dice, &mut taken));
        let name: String = name.chars().take(60).collect();
        let table = self.some_own()?;
        let at = self.dice.below(self.table(table).views.len());
        if let Some(view) = self.table_mut(table).views.get_mut(at) {
            let done = format!("view {:?} is called {name:?}", view.name);
            view.name = name;
            return Some(done);
        }
        let at = self.dice.below(self.structure.modules.len());
        let module = self.structure.modules.get_mut(at)?;
        let done = format!("module {:?} is called {name:?}", module.name);
        module.name = name;
        Some(done)
    }
}
