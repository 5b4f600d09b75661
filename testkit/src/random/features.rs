//! Tables: what they are called, which columns they have, what their configs say.

use std::collections::BTreeSet;

use tplkit::json::{Object, Value};
use tplkit::workspace::{Column, Feature};

use super::config::texts;
use super::{Generator, config, names};

impl Generator<'_> {
    /// All tables, those of other workspaces too; columns in display order.
    pub(super) fn features(&mut self) {
        let count = self.dice.between(1, self.shape.features.max(1));
        let mut taken = BTreeSet::new();
        for _ in 0..count {
            let feature = self.feature(&mut taken);
            self.structure.features.push(feature);
        }
        if self.untidy(60) {
            let mut feature = self.feature(&mut BTreeSet::new());
            feature.is_shared = true;
            self.structure.shared.push(feature);
        }
        for position in 0..self.tables() {
            let links = self.dice.between(0, self.shape.links);
            for _ in 0..links {
                self.link_column(position);
            }
        }
        for position in 0..self.tables() {
            self.arrange(position);
        }
    }

    /// How many tables there are, those of other workspaces included.
    pub(super) fn tables(&self) -> usize {
        self.structure.features.len() + self.structure.shared.len()
    }

    /// The table at a position, those of other workspaces last.
    pub(super) fn table(&self, position: usize) -> &Feature {
        let own = self.structure.features.len();
        match position.checked_sub(own) {
            Some(shared) => &self.structure.shared[shared],
            None => &self.structure.features[position],
        }
    }

    pub(super) fn table_mut(&mut self, position: usize) -> &mut Feature {
        let own = self.structure.features.len();
        match position.checked_sub(own) {
            Some(shared) => &mut self.structure.shared[shared],
            None => &mut self.structure.features[position],
        }
    }

    pub(super) fn feature(&mut self, taken: &mut BTreeSet<String>) -> Feature {
        let mut feature = Feature {
            id: self.dice.id(),
            name: names::technical(&mut self.dice, taken),
            label: self.label(),
            config: Object::new(),
            is_shared: self.untidy(10),
            columns: Vec::new(),
            views: Vec::new(),
        };
        let mut taken = BTreeSet::new();
        if self.dice.chance(75) {
            feature.columns.push(self.automatic_id());
        }
        let count = self.dice.between(1, self.shape.columns.max(1));
        for _ in 0..count {
            let column = self.plain_column(&mut taken);
            feature.columns.push(column);
        }
        feature
    }

    /// Gives columns their places, and the table its config.
    fn arrange(&mut self, position: usize) {
        let count = self.table(position).columns.len();
        let mut order: Vec<i64> = (1..=i64::try_from(count).unwrap_or_default()).collect();
        match self.dice.below(4) {
            0 => self.dice.shuffle(&mut order),
            1 => order.iter_mut().for_each(|place| *place *= 10),
            2 => order.iter_mut().for_each(|place| *place /= 2),
            _ => {}
        }
        let feature = self.table_mut(position);
        for (column, order) in feature.columns.iter_mut().zip(order) {
            column.order = order;
        }
        feature
            .columns
            .sort_by_key(|column| (column.order, column.id));
        let config = self.feature_config(position);
        self.table_mut(position).config = config;
    }

    pub(super) fn feature_config(&mut self, position: usize) -> Object {
        let mut written = Object::new();
        if self.dice.chance(40) {
            let access = self.dice.word_of(&["all", "own"]);
            written.insert("rowAccess".to_owned(), access.into());
        }
        if self.dice.chance(50) {
            let title = self.column_of(position);
            written.insert("titleColumn".to_owned(), title.into());
        }
        if self.dice.chance(30) {
            written.insert("icon".to_owned(), "🧾".into());
        }
        self.left_over(&mut written);
        written
    }

    /// The name of one of a table's columns; of one that is gone, when it is untidy.
    pub(super) fn column_of(&mut self, position: usize) -> String {
        if self.untidy(6) {
            return self.dice.word_of(&["gone", "Gone column"]).to_owned();
        }
        let columns = self.table(position).columns.len();
        let at = self.dice.below(columns);
        let column = self.table(position).columns.get(at);
        column.map(|column| column.name.clone()).unwrap_or_default()
    }

    /// Some of its columns, in some order.
    pub(super) fn columns_of(&mut self, position: usize) -> Value {
        let columns = &self.table(position).columns;
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let mut some = self.dice.some(&names, 60);
        if self.dice.chance(30) {
            self.dice.shuffle(&mut some);
        }
        if self.untidy(6) {
            some.push("gone".to_owned());
        }
        texts(&some)
    }

    /// A config key that the definitions do not have.
    pub(super) fn left_over(&mut self, written: &mut Object) {
        if self.untidy(8) {
            let value = match self.dice.below(3) {
                0 => Value::from(true),
                1 => config::value([("nested", Value::from("left over"))]),
                _ => Value::from("left over"),
            };
            written.insert("legacyKey".to_owned(), value);
        }
    }

    /// A table, mostly of this workspace.
    pub(super) fn some_table(&mut self) -> usize {
        let shared = self.untidy(25);
        let count = if shared {
            self.tables()
        } else {
            self.structure.features.len()
        };
        self.dice.below(count)
    }
}

/// Whether link cells can hold what is in the column.
pub(super) fn can_be_linked(column: &Column) -> bool {
    matches!(
        column.column_type.as_str(),
        "text" | "number" | "currency" | "date" | "select" | "email" | "url" | "phone" | "masked"
    )
}
