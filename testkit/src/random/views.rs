//! Views of every type, with filters, orders and redirects.

use std::collections::BTreeSet;

use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value};
use tplkit::workspace::{Id, View};

use super::config::{id, value};
use super::{Generator, names};

impl Generator<'_> {
    /// The views of all tables; their ids are there already.
    pub(super) fn views(&mut self) {
        for position in 0..self.structure.features.len() {
            let mut taken = BTreeSet::new();
            let ids = self.views[position].clone();
            for (place, id) in ids.into_iter().enumerate() {
                let view = self.view(position, place, id, &mut taken);
                self.structure.features[position].views.push(view);
            }
            let views = &mut self.structure.features[position].views;
            views.sort_by_key(|view| (view.order, view.id));
        }
    }

    pub(super) fn view(
        &mut self,
        table: usize,
        place: usize,
        id: Id,
        taken: &mut BTreeSet<String>,
    ) -> View {
        let types = &Definitions::embedded().view_types;
        let types: Vec<&String> = types.keys().collect();
        let kind = self.dice.pick(&types).map_or("table", |kind| kind.as_str());
        let place = if self.dice.chance(20) { 7 } else { place };
        View {
            id,
            name: names::technical(&mut self.dice, taken),
            label: self.label(),
            view_type: kind.to_owned(),
            order: i64::try_from(place).unwrap_or_default(),
            config: self.view_config(table, kind),
        }
    }

    pub(super) fn view_config(&mut self, table: usize, kind: &str) -> Object {
        let mut config = Object::new();
        let mut add = |key: &str, value: Value| {
            config.insert(key.to_owned(), value);
        };
        match kind {
            "kanban" => add("groupByColumn", self.column_of(table).into()),
            "calendar" => add("dateColumn", self.column_of(table).into()),
            "gallery" if self.dice.chance(60) => {
                add("coverColumn", self.column_of(table).into());
            }
            "chart" => {
                add("groupByColumn", self.column_of(table).into());
                if self.dice.chance(60) {
                    add("valueColumn", self.column_of(table).into());
                }
                if self.dice.chance(50) {
                    let drawing = self.dice.word_of(&["bar", "line", "pie"]);
                    add("chartType", drawing.into());
                }
            }
            "form" => {
                if let Some(view) = self.some_view().filter(|_| self.dice.chance(50)) {
                    add("redirectViewId", id(view));
                }
                if let Some(rail) = self.some_rail().filter(|_| self.dice.chance(50)) {
                    add("redirectRailId", id(rail));
                }
            }
            _ => {}
        }
        if self.dice.chance(60) {
            add("visibleColumns", self.columns_of(table));
        }
        if self.dice.chance(40) {
            let count = self.dice.below(3);
            let filters = (0..count).map(|_| self.filter(table)).collect();
            add("filters", Value::List(filters));
        }
        if self.dice.chance(40) {
            let column = Value::from(self.column_of(table));
            let desc = Value::from(self.dice.chance(50));
            add("sort", value([("column", column), ("desc", desc)]));
        }
        self.left_over(&mut config);
        config
    }

    fn filter(&mut self, table: usize) -> Value {
        let column = Value::from(self.column_of(table));
        let op = self.dice.word_of(&["eq", "not.is", "contains", "gten"]);
        match self.dice.below(4) {
            0 => value([("column", column), ("op", op.into())]),
            1 => value([
                ("column", column),
                ("op", op.into()),
                ("value", Value::from(3)),
            ]),
            _ => {
                let text = self.dice.word_of(&["$100", "", "Ana", "a|b", "é"]);
                value([
                    ("column", column),
                    ("op", op.into()),
                    ("value", text.into()),
                ])
            }
        }
    }

    /// A view; one that is gone, when it is untidy.
    pub(super) fn some_view(&mut self) -> Option<Id> {
        if self.untidy(8) {
            return Some(self.gone());
        }
        let all: Vec<Id> = self.views.iter().flatten().copied().collect();
        self.dice.pick(&all).copied()
    }

    fn some_rail(&mut self) -> Option<Id> {
        if self.untidy(8) {
            return Some(self.gone());
        }
        let modules = self.structure.modules.iter();
        let all: Vec<Id> = modules
            .flat_map(|module| &module.rails)
            .map(|rail| rail.id)
            .collect();
        self.dice.pick(&all).copied()
    }
}
