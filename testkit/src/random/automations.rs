//! Automations: a trigger of every kind, and a graph without errors.

use tplkit::json::{Object, Value};
use tplkit::workspace::{Automation, Id};

use super::Generator;
use super::config::{id, integer, object, texts, value};
use super::steps::{Fired, Scope};

impl Generator<'_> {
    /// All automations; their ids are there already.
    pub(super) fn automations(&mut self) {
        for (position, id) in self.workflows.clone().into_iter().enumerate() {
            let automation = self.automation(position, id);
            self.structure.automations.push(automation);
        }
    }

    pub(super) fn automation(&mut self, position: usize, id: Id) -> Automation {
        let (trigger, fired) = self.trigger();
        let mut scope = Scope {
            own: position,
            records: fired != Fired::Clock,
            fired,
            ..Scope::default()
        };
        let steps = if self.dice.chance(4) {
            Vec::new()
        } else {
            self.steps(&mut scope, 3)
        };
        let name = ["Aviso diário", "aviso diario", "Sync", "$100", "名前 🧾"];
        let name = self.dice.word_of(&name).to_owned();
        let active = self.dice.chance(50);
        Automation {
            id,
            name,
            trigger_config: trigger,
            graph_config: object([("steps", Value::List(steps))]),
            active,
            draft: !active,
            has_draft: false,
        }
    }

    fn trigger(&mut self) -> (Object, Fired) {
        match self.dice.below(5) {
            0 | 1 => self.row_event(),
            2 | 3 => (self.schedule(), Fired::Clock),
            _ if self.dice.chance(50) => (object([("type", "manual".into())]), Fired::Person),
            _ => {
                let config = Value::Object(Object::new());
                let trigger = object([("type", "manual".into()), ("config", config)]);
                (trigger, Fired::Person)
            }
        }
    }

    fn row_event(&mut self) -> (Object, Fired) {
        let table = self.some_table();
        let mut modes = self.dice.some(&["created", "updated", "deleted"], 50);
        if modes.is_empty() {
            modes.push("updated");
        }
        let mut config = object([("modes", texts(&modes))]);
        let gone = self.untidy(10);
        let feature = if gone {
            self.gone()
        } else {
            self.table(table).id
        };
        config.insert("featureId".to_owned(), id(feature));
        let mut watched = Vec::new();
        if self.dice.chance(60) {
            let columns = &self.table(table).columns;
            let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
            watched = self.dice.some(&names, 40);
            if self.untidy(8) {
                watched.push("gone".to_owned());
            }
            config.insert("watchedColumns".to_owned(), texts(&watched));
        }
        let fired = Fired::Row {
            table: (!gone).then_some(table),
            created: modes.contains(&"created"),
            updated: modes.contains(&"updated"),
            watched,
        };
        let trigger = object([
            ("type", "record.event".into()),
            ("config", Value::Object(config)),
        ]);
        (trigger, fired)
    }

    fn schedule(&mut self) -> Object {
        let mode = self.dice.word_of(&[
            "hourly",
            "daily",
            "weekly",
            "monthly",
            "expression",
            "profile",
        ]);
        let mut config = object([("mode", mode.into())]);
        let mut add = |key: &str, value: Value| {
            config.insert(key.to_owned(), value);
        };
        if matches!(mode, "daily" | "weekly" | "monthly") {
            let (hour, minute) = (self.dice.below(24), self.dice.below(60));
            add("atTime", format!("{hour:02}:{minute:02}").into());
        }
        match mode {
            "weekly" => add("dayOfWeek", integer(self.dice.between(1, 7))),
            "monthly" => add("dayOfMonth", integer(self.dice.between(1, 31))),
            "expression" => add("expression", "*/15 8-18 * * 1-5".into()),
            "profile" => add("timerProfile", self.timer()),
            _ => {}
        }
        if self.dice.chance(60) {
            let zone = self
                .dice
                .word_of(&["Europe/Lisbon", "UTC", "America/New_York"]);
            add("timezone", zone.into());
        }
        object([("type", "cron".into()), ("config", Value::Object(config))])
    }

    /// A timer, by name; by id too, when it is untidy.
    pub(super) fn timer(&mut self) -> Value {
        let profiles = self.structure.organization.timer_profiles.clone();
        let profiles = profiles.unwrap_or_default();
        let known = self.dice.pick(&profiles).cloned();
        match known {
            Some(profile) if self.untidy(40) => id(profile.id),
            Some(profile) if !self.untidy(10) => profile.name.into(),
            _ if self.dice.chance(50) => "a timer that is gone".into(),
            _ => id(self.gone()),
        }
    }

    /// A connection of that kind, by name.
    pub(super) fn connection(&mut self, kind: &str) -> Value {
        let known = self.structure.organization.connections.iter().flatten();
        let names: Vec<String> = known
            .filter(|connection| connection.kind == kind)
            .map(|connection| connection.name.clone())
            .collect();
        match self.dice.pick(&names).cloned() {
            Some(name) if !self.untidy(10) => name.into(),
            _ => "a connection that is gone".into(),
        }
    }

    /// Who is notified, with the id that the choice needs.
    pub(super) fn recipient(&mut self) -> Object {
        let scope = if self.untidy(30) {
            "user"
        } else {
            self.dice.word_of(&["channel", "channel", "organization"])
        };
        let mut config = object([("scopeType", scope.into())]);
        let channels = self.structure.organization.channels.clone();
        let channels: Vec<Id> = channels
            .iter()
            .flatten()
            .map(|channel| channel.id)
            .collect();
        let recipient = match scope {
            "channel" if !self.untidy(10) => self.dice.pick(&channels).copied(),
            "organization" => return config,
            _ => None,
        };
        let recipient = recipient.unwrap_or_else(|| self.gone());
        config.insert("scopeId".to_owned(), id(recipient));
        config
    }

    /// The filter and order of a read.
    pub(super) fn reading(&mut self, table: usize, scope: &Scope, config: &mut Object) {
        if self.dice.chance(60) {
            let count = self.dice.below(3);
            let rules = (0..count).map(|_| self.rule(table, scope)).collect();
            let mut group = object([("rules", Value::List(rules))]);
            if self.dice.chance(50) {
                group.insert("combinator".to_owned(), "and".into());
            }
            config.insert("filterGroup".to_owned(), Value::Object(group));
        }
        if self.dice.chance(40) {
            config.insert("limit".to_owned(), integer(self.dice.between(1, 10_000)));
        }
        if self.dice.chance(40) {
            let column = Value::from(self.column_of(table));
            let mut order = object([("column", column)]);
            if self.dice.chance(50) {
                order.insert("desc".to_owned(), self.dice.chance(50).into());
            }
            config.insert("orderBy".to_owned(), Value::Object(order));
        }
        if self.dice.chance(40) {
            let mode = self.dice.word_of(&["replace", "append"]);
            config.insert("mergeMode".to_owned(), mode.into());
        }
    }

    fn rule(&mut self, table: usize, scope: &Scope) -> Value {
        let column = Value::from(self.column_of(table));
        let operator =
            self.dice
                .word_of(&["equals", "contains", "greaterThan", "isEmpty", "between"]);
        let compared = if operator == "between" {
            let low = self.dice.below(10);
            let high = low + self.dice.below(10);
            Value::from(vec![integer(low), integer(high)])
        } else if self.dice.chance(50) {
            Value::from(self.expression(scope))
        } else {
            Value::from(7)
        };
        let rule = format!("r{}", self.dice.below(1000));
        value([
            ("id", rule.into()),
            ("columnName", column),
            ("operator", operator.into()),
            ("value", compared),
        ])
    }
}
