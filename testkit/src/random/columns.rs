//! Columns of every type and component, with configs that the definitions accept.

use std::collections::BTreeSet;

use tplkit::definitions::Definitions;
use tplkit::json::Object;
use tplkit::workspace::{Column, Id};

use super::config::{id, integer, texts};
use super::features::can_be_linked;
use super::{Generator, names};

impl Generator<'_> {
    /// The column `id`, whose values are minted.
    pub(super) fn automatic_id(&mut self) -> Column {
        let mut column = self.identity("id".to_owned());
        // A server refuses no label, but this is what people leave it at.
        "ID".clone_into(&mut column.label);
        column
    }

    fn identity(&mut self, name: String) -> Column {
        let sequence = self.dice.chance(30);
        let mut config = Object::new();
        if sequence {
            config.insert("idType".to_owned(), "sequence".into());
        } else if self.dice.chance(50) {
            config.insert("idType".to_owned(), "uuid".into());
        }
        let column_type = if sequence { "number" } else { "text" };
        self.column(name, column_type, "id", config)
    }

    fn column(&mut self, name: String, kind: &str, component: &str, config: Object) -> Column {
        Column {
            id: self.dice.id(),
            name,
            label: self.label(),
            column_type: kind.to_owned(),
            default_component: component.to_owned(),
            order: 0,
            config,
        }
    }

    /// Any column that links nowhere.
    pub(super) fn plain_column(&mut self, taken: &mut BTreeSet<String>) -> Column {
        let name = names::technical(&mut self.dice, taken);
        if self.dice.chance(12) {
            return self.identity(name);
        }
        let types = &Definitions::embedded().column_types;
        let plain: Vec<&String> = types
            .iter()
            .filter(|(_, declared)| !declared.link)
            .map(|(name, _)| name)
            .collect();
        let Some(kind) = self.dice.pick(&plain).copied() else {
            return self.identity(name);
        };
        let components = &types[kind].components;
        let shown = self.dice.pick(components).map_or("", String::as_str);
        // Identity columns are made above.
        let shown = if shown == "id" {
            &types[kind].default_component
        } else {
            shown
        };
        let config = self.plain_config(kind);
        self.column(name, kind, shown, config)
    }

    fn plain_config(&mut self, kind: &str) -> Object {
        let mut config = Object::new();
        match kind {
            "select" | "multi_select" => {
                let all = ["Aberto", "aberto", "Fechado", "-", "a|b", "$100", "日本"];
                let mut options = self.dice.some(&all, 50);
                options.push("Outro");
                config.insert("options".to_owned(), texts(&options));
            }
            "currency" => {
                if self.dice.chance(60) {
                    let decimals = self.dice.below(9);
                    config.insert("decimals".to_owned(), integer(decimals));
                }
                if self.dice.chance(40) {
                    config.insert("currency".to_owned(), "EUR".into());
                }
            }
            "masked" => {
                let mask = self.dice.word_of(&["nif", "iban", "luhn"]);
                config.insert("mask".to_owned(), mask.into());
            }
            "button" => self.button(&mut config),
            _ => {}
        }
        if kind != "button" && self.dice.chance(15) {
            let required = self.dice.chance(80);
            config.insert("required".to_owned(), required.into());
        }
        let few = matches!(kind, "boolean" | "select" | "multi_select" | "button");
        if !few && self.dice.chance(15) {
            let unique = self.dice.chance(80);
            config.insert("unique".to_owned(), unique.into());
        }
        let declared = Definitions::embedded().column_types.get(kind);
        let searchable = declared.is_some_and(|declared| declared.config.contains_key("search"));
        if searchable && self.dice.chance(20) {
            let search = self.dice.chance(80);
            config.insert("search".to_owned(), search.into());
        }
        self.left_over(&mut config);
        config
    }

    fn button(&mut self, config: &mut Object) {
        if self.dice.chance(60) {
            let label = names::label(&mut self.dice);
            config.insert("buttonLabel".to_owned(), label.into());
        }
        if let Some(fired) = self.some_workflow().filter(|_| self.dice.chance(70)) {
            config.insert("workflowV2Id".to_owned(), id(fired));
        }
        if self.untidy(30) {
            let earlier = &self.structure.earlier_automations;
            let known = self.dice.pick(earlier).map(|found| found.id);
            let fired = known.unwrap_or_else(|| self.gone());
            config.insert("workflowId".to_owned(), id(fired));
        }
    }

    /// An automation; one that is gone, when it is untidy.
    pub(super) fn some_workflow(&mut self) -> Option<Id> {
        if self.untidy(10) {
            return Some(self.gone());
        }
        self.dice.pick(&self.workflows).copied()
    }

    /// Adds a link column to a table. Values are those of the automatic `id`, of another identity
    /// column, or of any column whose values a link can hold.
    pub(super) fn link_column(&mut self, position: usize) {
        let columns = &self.table(position).columns;
        let mut taken = columns.iter().map(|column| column.name.clone()).collect();
        let name = names::technical(&mut self.dice, &mut taken);
        let own = position < self.structure.features.len();
        let target = if own {
            self.some_table()
        } else {
            // A shared table knows nothing of who uses it.
            position
        };
        let linked = &self.table(target).columns;
        let mut values: Vec<String> = linked
            .iter()
            .filter(|column| can_be_linked(column))
            .map(|column| column.name.clone())
            .collect();
        if let Some(automatic) = values.iter().find(|name| *name == "id").cloned() {
            let often = values.len();
            values.extend(std::iter::repeat_n(automatic, often));
        }
        let (mut feature, mut value) = (
            self.table(target).id.to_string(),
            self.dice.pick(&values).cloned(),
        );
        if self.untidy(8) {
            value = Some("gone".to_owned());
        }
        if self.untidy(8) {
            feature = if self.dice.chance(70) {
                self.gone().to_string()
            } else {
                String::new()
            };
        }
        let Some(value) = value else {
            return;
        };
        let mut config = Object::new();
        config.insert("linkedFeatureId".to_owned(), feature.into());
        config.insert("linkedValueColumn".to_owned(), value.into());
        if self.dice.chance(50) {
            let several = self.dice.chance(60);
            config.insert("isMultiSelect".to_owned(), several.into());
        }
        if self.untidy(8) {
            config.insert("required".to_owned(), true.into());
        }
        self.left_over(&mut config);
        let kind = self.dice.word_of(&["linked_select", "auto_match"]);
        let shown = self.dice.word_of(&["linkfield", "textfield"]);
        let column = self.column(name, kind, shown, config);
        self.table_mut(position).columns.push(column);
    }
}
