//! Changes of what records say.

use std::collections::BTreeSet;

use tplkit::json::{Object, Value};
use tplkit::workspace::{Column, Id};

use super::{Generator, changed, set};
use crate::random::config;
use crate::random::features::can_be_linked;
use crate::random::rows::is_link;

impl Generator<'_> {
    /// A config of which some keys say something else.
    pub(super) fn mixed(&mut self, now: &Object, other: &Object) -> Object {
        let mut mixed = now.clone();
        for key in now.keys().chain(other.keys()) {
            if !self.dice.chance(50) {
                continue;
            }
            match other.get(key) {
                Some(value) => drop(mixed.insert(key.clone(), value.clone())),
                None => drop(mixed.shift_remove(key)),
            }
        }
        for (_, value) in &mut mixed {
            if let Value::List(elements) = value
                && elements.iter().all(|one| one.as_str().is_some())
                && !elements.is_empty()
                && self.dice.chance(40)
            {
                let at = self.dice.below(elements.len());
                let element = elements.remove(at);
                if self.dice.chance(50) {
                    elements.push(element);
                }
            }
        }
        mixed
    }

    pub(super) fn reconfigure_view(&mut self) -> Option<String> {
        let table = self.some_own()?;
        let at = self.dice.below(self.table(table).views.len());
        let view = self.table(table).views.get(at)?.clone();
        let other = self.view_config(table, &view.view_type);
        let mut config = self.mixed(&view.config, &other);
        // What a view cannot be without stays.
        for (key, value) in &view.config {
            if matches!(key.as_str(), "groupByColumn" | "dateColumn") && !config.contains_key(key) {
                config.insert(key.clone(), value.clone());
            }
        }
        let done = format!(
            "view {:?} says {:?}",
            view.name,
            changed(&view.config, &config)
        );
        self.table_mut(table).views[at].config = config;
        Some(done)
    }

    pub(super) fn reconfigure_column(&mut self) -> Option<String> {
        let table = self.some_own()?;
        let at = self.dice.below(self.table(table).columns.len());
        let column = self.table(table).columns.get(at)?.clone();
        if column.is_identity() {
            return None;
        }
        let mut config = column.config.clone();
        match self.dice.below(4) {
            0 if column.column_type == "button" => {
                config.insert("buttonLabel".to_owned(), self.new_label().into());
            }
            0 => {
                if let Some(Value::List(options)) = config.get_mut("options") {
                    options.push(format!("option {}", self.dice.below(3)).into());
                } else if column.column_type == "currency" {
                    let currency = self.dice.word_of(&["EUR", "USD", "BRL"]);
                    config.insert("currency".to_owned(), currency.into());
                } else {
                    return None;
                }
            }
            1 | 2 => {
                let required = column.is_required();
                if !required && (column.column_type == "button" || !self.is_filled(table, &column))
                {
                    return None;
                }
                config.insert("required".to_owned(), (!required).into());
            }
            _ => {
                let few = ["boolean", "select", "multi_select", "button"];
                let unique = column.is_unique();
                if is_link(&column) || few.contains(&column.column_type.as_str()) {
                    return None;
                }
                if !unique && !self.is_distinct(table, &column) {
                    return None;
                }
                config.insert("unique".to_owned(), (!unique).into());
            }
        }
        let done = changed(&column.config, &config);
        self.table_mut(table).columns[at].config = config;
        Some(format!("column {:?} says {done:?}", column.name))
    }

    pub(super) fn reconfigure_table(&mut self) -> Option<String> {
        let table = self.some_own()?;
        let other = self.feature_config(table);
        let now = self.table(table).config.clone();
        let config = self.mixed(&now, &other);
        let done = format!(
            "table {:?} says {:?}",
            self.table(table).name,
            changed(&now, &config)
        );
        self.table_mut(table).config = config;
        Some(done)
    }

    pub(super) fn reconfigure_navigation(&mut self) -> Option<String> {
        let modules: Vec<Id> = self.structure.modules.iter().map(|one| one.id).collect();
        let at = self.dice.below(modules.len());
        match self.dice.below(4) {
            0 => {
                let before = self.structure.workspace.config.clone();
                self.workspace_config(&modules);
                let other = std::mem::take(&mut self.structure.workspace.config);
                let config = self.mixed(&before, &other);
                let done = format!("the workspace says {:?}", changed(&before, &config));
                self.structure.workspace.config = config;
                Some(done)
            }
            1 => {
                let module = self.structure.modules.get_mut(at)?;
                let rails: Vec<Id> = module.rails.iter().map(|rail| rail.id).collect();
                let color = self.dice.word_of(&["#ff8800", "#112233", "#445566"]);
                module.config.insert("color".to_owned(), color.into());
                if let Some(rail) = self.dice.pick(&rails) {
                    let opened = config::id(*rail);
                    module.config.insert("defaultRailId".to_owned(), opened);
                }
                Some(format!("module {:?} says {:?}", module.name, module.config))
            }
            _ => {
                let rails = self.structure.modules.get(at)?.rails.len();
                let rail = self.dice.below(rails);
                let before = self.structure.modules[at].rails.get(rail)?.config.clone();
                let mut config = Vec::new();
                for one in &before {
                    let other = self.rail_config(&modules);
                    config.push(self.mixed(one, &other));
                }
                if self.dice.chance(8) {
                    config.push(self.rail_config(&modules));
                }
                let stands = &mut self.structure.modules[at].rails[rail];
                stands.config = config;
                Some(format!("rail {:?} says {:?}", stands.name, stands.config))
            }
        }
    }

    pub(super) fn rework_automation(&mut self) -> Option<String> {
        let count = self.structure.automations.len();
        let at = self.dice.below(count);
        let now = self.structure.automations.get(at)?.clone();
        let other = self.automation(at, now.id);
        let mut automation = now.clone();
        match self.dice.below(4) {
            0 => automation.name = format!("Automation {}", self.dice.below(3)),
            // A chain that reads nothing of what fires it goes with every trigger.
            1 => {
                automation.trigger_config = other.trigger_config;
                automation.graph_config = other.graph_config;
            }
            _ => {
                let steps = automation.graph_config.get_mut("steps");
                let Some(Value::List(steps)) = steps else {
                    return None;
                };
                let at = self.dice.below(steps.len());
                let Some(Value::Object(step)) = steps.get_mut(at) else {
                    return None;
                };
                step.insert("name".to_owned(), self.new_label().into());
                let key = step.get("key").and_then(Value::as_str).map(str::to_owned);
                let Some(Value::Object(config)) = step.get_mut("config") else {
                    return None;
                };
                match key.as_deref()? {
                    "delay" => {
                        let seconds = config::integer(self.dice.below(4));
                        config.insert("seconds".to_owned(), seconds);
                    }
                    "email.send" => {
                        let subject = self.dice.word_of(&["Hello", "Good morning", "Bye"]);
                        config.insert("subject".to_owned(), subject.into());
                    }
                    "feature.read" => {
                        let limit = config::integer(1 + self.dice.below(4));
                        config.insert("limit".to_owned(), limit);
                    }
                    _ => {}
                }
            }
        }
        let done = format!("automation {:?} is another one", automation.name);
        self.structure.automations[at] = automation;
        (now != self.structure.automations[at]).then_some(done)
    }

    /// Another type for a column, which is empty from then on.
    pub(super) fn retype(&mut self) -> Option<String> {
        let table = self.some_own()?;
        let at = self.dice.below(self.table(table).columns.len());
        let column = self.table(table).columns.get(at)?.clone();
        if column.is_identity() || self.is_linked(table, &column.name) {
            return None;
        }
        let mut other = self.plain_column(&mut BTreeSet::new());
        if other.is_identity() {
            return None;
        }
        other.config.shift_remove("required");
        let feature = self.table(table).id;
        for row in self.rows.get_mut(&feature).into_iter().flatten() {
            set(row, &column.name, Value::Null);
        }
        let stands = &mut self.table_mut(table).columns[at];
        stands.column_type = other.column_type;
        stands.default_component = other.default_component;
        stands.config = other.config;
        Some(format!(
            "column {:?} is of type {}",
            column.name, stands.column_type
        ))
    }

    /// Another target for a link, which is empty from then on.
    pub(super) fn relink(&mut self) -> Option<String> {
        let table = self.some_own()?;
        let columns = self.table(table).columns.clone();
        let links: Vec<&Column> = columns.iter().filter(|one| is_link(one)).collect();
        let link = (*self.dice.pick(&links)?).clone();
        let target = self.some_own()?;
        let targets = self.table(target).columns.iter();
        let targets = targets.filter(|one| can_be_linked(one));
        let targets: Vec<String> = targets.map(|one| one.name.clone()).collect();
        let linked = self.dice.pick(&targets)?.clone();
        let feature = self.table(table).id;
        for row in self.rows.get_mut(&feature).into_iter().flatten() {
            set(row, &link.name, Value::Null);
        }
        let target = self.table(target).id;
        let columns = &mut self.table_mut(table).columns;
        let stands = columns.iter_mut().find(|one| one.id == link.id)?;
        let config = &mut stands.config;
        config.insert("linkedFeatureId".to_owned(), config::id(target));
        config.insert("linkedValueColumn".to_owned(), linked.as_str().into());
        config.shift_remove("required");
        Some(format!("link {:?} takes {linked:?} of {target}", link.name))
    }
}
