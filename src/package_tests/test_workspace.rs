//! The workspace in which automations of a test run: rows in memory, and what would have left.
//!
//! It carries out what [`RunState`] asks for, as the server does with its stores: reads and writes of
//! rows, notifications, other automations. What a write fires runs afterwards.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::effects::{ExecutedStep, RunEffects, mail_document, notification_document};
use crate::automation::run::bounds::{Usage, size_of};
use crate::automation::run::{
    Act, ColumnKind, Envelope, Failure, NextStep, Notice, Record, RowQuery, RunState, Scope, Stub,
    Wait, effect_rules,
};
use crate::definitions::Definitions;
use crate::json::{Object, Value};
use crate::rows::query::{Column, Order, Row};
use crate::workspace::memory::Memory;
use crate::workspace::{Automation, Id, Source as _, StoredRow, Structure, ready};

/// The workspace.
pub(super) struct TestWorkspace {
    pub(super) memory: Memory,
    pub(super) structure: Structure,
    pub(super) now: Timestamp,
    /// Notifications of people.
    pub(super) notifications: Vec<Object>,
    /// What was sent.
    pub(super) mails: Vec<Object>,
    /// What happened to rows and fires automations, with the depth of what it causes.
    pub(super) events: VecDeque<Event>,
    /// The depth of the run that is at work.
    pub(super) depth: u32,
}

/// What fires an automation: a row, or the body of a request.
pub(super) struct TriggerRecord {
    /// The table of the row; nil for a body.
    pub(super) table: Id,
    pub(super) record: Record,
}

/// An automation that is to run.
pub(super) struct Event {
    workflow: Id,
    trigger: Option<TriggerRecord>,
    depth: u32,
}

impl TestWorkspace {
    pub(super) fn new(memory: Memory, now: Timestamp) -> TestWorkspace {
        let structure = memory.state().structure;
        TestWorkspace {
            memory,
            structure,
            now,
            notifications: Vec::new(),
            mails: Vec::new(),
            events: VecDeque::new(),
            depth: 1,
        }
    }

    /// A person inserts a row: whatever watches the table fires, but for one automation that is fired
    /// otherwise.
    pub(super) fn enter(&mut self, table: Id, cells: &Object, fired: Id) -> Result<Record, String> {
        self.depth = 0;
        let row = self
            .insert(table, cells)
            .map_err(|failure| failure.to_string())?;
        self.events.retain(|event| event.workflow != fired);
        Ok(self.record(table, &row))
    }

    /// Runs an automation, then what its writes fire; all that would have left is taken along.
    pub(super) fn fire(
        &mut self,
        automation: &Automation,
        trigger: Option<TriggerRecord>,
        at: Option<Timestamp>,
    ) -> RunEffects {
        let before = self.now;
        self.now = at.unwrap_or(before);
        self.depth = 1;
        let mut executed = self.run(automation, trigger);
        while let Some(event) = self.events.pop_front() {
            let mut automations = self.structure.automations.iter();
            let fired = automations.find(|one| one.id == event.workflow).cloned();
            if let Some(fired) = fired.filter(|_| event.depth <= effect_rules::MAX_CHAIN_DEPTH) {
                self.depth = event.depth;
                // How the runs end that it causes is not asked about.
                self.run(&fired, event.trigger);
            }
        }
        self.now = before;
        executed.notifications = std::mem::take(&mut self.notifications);
        executed.mails = std::mem::take(&mut self.mails);
        executed
    }

    fn run(&mut self, automation: &Automation, trigger: Option<TriggerRecord>) -> RunEffects {
        let (table, record) = trigger.map(|fired| (fired.table, fired.record)).unzip();
        let graph = Value::Object(automation.graph_config.clone());
        let envelope = Envelope::new(record);
        let mut state = RunState::new(Definitions::embedded(), &graph, envelope);
        let mut usage = Usage::default();
        let mut executed = RunEffects::default();
        while let Some(next) = state.next_step() {
            let output = self.step(&mut state, table, &mut usage);
            let failure = output.as_ref().err().cloned();
            executed.steps.push(ExecutedStep {
                id: next.id.clone(),
                key: next.key.clone(),
                output: output.ok().map(RunState::report_size),
            });
            if let Some(failure) = failure {
                executed.error = Some(message(&next, &state.failed(failure)));
                break;
            }
        }
        executed
    }

    fn step(
        &mut self,
        state: &mut RunState,
        table: Option<Id>,
        usage: &mut Usage,
    ) -> Result<Object, Failure> {
        usage.begin_step()?;
        let due = state.due(self.now, usage.remaining());
        let output = self.act(&due.act?, state.envelope(), table)?;
        state.admit(&output)?;
        usage.store(size_of(&due.input) + size_of(&output))?;
        state.done(output.clone());
        Ok(output)
    }

    fn act(
        &mut self,
        act: &Act,
        envelope: &Envelope,
        table: Option<Id>,
    ) -> Result<Object, Failure> {
        match act {
            Act::Read(query) => return self.read(query),
            Act::Write(write) => return self.write(write, envelope, table),
            Act::Mail(mail) => self.mails.push(mail_document(mail)),
            Act::Notify(notice) => self.notify(notice)?,
            Act::Run(workflow) => self.start(*workflow)?,
            Act::Wait(Wait::Seconds(seconds)) => {
                let time = SignedDuration::from_secs(*seconds);
                self.now = self.now.checked_add(time).unwrap_or(self.now);
            }
            Act::Output(_) | Act::Ask { .. } | Act::Request(_) | Act::Wait(Wait::Timer(_)) => {}
        }
        Stub::default().output(act, envelope)
    }

    fn notify(&mut self, notice: &Notice) -> Result<(), Failure> {
        let (word, to) = match notice.scope {
            Scope::Channel(id) => ("channel", Some(id)),
            Scope::User(id) => ("user", Some(id)),
            Scope::Organization => ("organization", None),
        };
        let channels = self.structure.organization.channels.iter().flatten();
        let channels: Vec<Id> = channels.map(|channel| channel.id).collect();
        if let Scope::Channel(id) = notice.scope
            && !channels.contains(&id)
        {
            let reason = "the organization has no channel of that id";
            let failure = Failure::at("scopeId", reason);
            return Err(failure.yields(None, &id.to_string().into()));
        }
        let shown = notification_document(&notice.title, &notice.body, word, to);
        self.notifications.push(shown);
        Ok(())
    }

    /// Another automation begins, with an empty envelope.
    fn start(&mut self, workflow: Id) -> Result<(), Failure> {
        let mut automations = self.structure.automations.iter();
        let found = automations.find(|one| one.id == workflow);
        match found {
            Some(found) if found.active => {}
            Some(_) => return Err(effect_rules::automation_inactive(workflow)),
            None => return Err(effect_rules::automation_gone(workflow)),
        }
        self.events.push_back(Event {
            workflow,
            trigger: None,
            depth: self.depth + 1,
        });
        Ok(())
    }

    /// Something happens to a row: automations that watch the table, or columns that have changed, are to run.
    pub(super) fn happens(&mut self, mode: &str, table: Id, row: &StoredRow, changed: &[String]) {
        let id = table.to_string();
        let watches = |one: &&Automation| {
            let trigger = &one.trigger_config;
            let config = trigger.get("config");
            let text = |key: &str| config.and_then(|config| config.get(key)?.as_str());
            let list = |key: &str| config.and_then(|config| config.get(key)?.as_list());
            let modes = list("modes").unwrap_or_default();
            let columns = list("watchedColumns").filter(|columns| !columns.is_empty());
            let concerns = columns.is_none_or(|columns| {
                let mut texts = columns.iter().filter_map(Value::as_str);
                texts.any(|text| changed.iter().any(|one| one == text))
            });
            let is_event = trigger.get("type").and_then(Value::as_str) == Some("record.event");
            one.active
                && is_event
                && text("featureId") == Some(&id)
                && modes.iter().any(|word| word.as_str() == Some(mode))
                && concerns
        };
        let fired: Vec<Id> = self
            .structure
            .automations
            .iter()
            .filter(watches)
            .map(|one| one.id)
            .collect();
        for workflow in fired {
            let record = self.record(table, row);
            self.events.push_back(Event {
                workflow,
                trigger: Some(TriggerRecord { table, record }),
                depth: self.depth + 1,
            });
        }
    }

    /// A row as steps see it.
    pub(super) fn record(&self, table: Id, row: &StoredRow) -> Record {
        let now: Value = self
            .now
            .strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
            .to_string()
            .into();
        let own = [
            ("id", row.id.to_string().into()),
            ("feature_id", table.to_string().into()),
            ("created_at", now.clone()),
            ("updated_at", now),
        ];
        let data = Value::parse(row.data.as_str()).unwrap_or_default();
        Record {
            own: Object::from_iter(own.map(|(key, value)| (key.to_owned(), value))),
            data: data.as_object().cloned().unwrap_or_default(),
        }
    }

    /// All rows of a table, in order of their ids.
    pub(super) fn rows(&self, table: Id) -> Vec<StoredRow> {
        ready(self.memory.rows(table, None, usize::MAX)).unwrap_or_default()
    }

    fn read(&self, query: &RowQuery) -> Result<Object, Failure> {
        let Some(feature) = self.structure.feature(query.feature) else {
            let reason = format!("the table {} is no longer here", query.feature);
            return Err(Failure::at("featureId", reason));
        };
        let query = query.of_table(|name| match feature.column_named(name) {
            Some(column) => {
                let types = &Definitions::embedded().column_types;
                ColumnKind::of(types.get(&column.column_type).map(|kind| kind.storage))
            }
            None => ColumnKind::Undeclared,
        })?;
        let order = match &query.sort.column {
            Column::Key(key) => match feature.column_named(key) {
                Some(column) if ["number", "currency"].contains(&column.column_type.as_str()) => {
                    Order::Number
                }
                _ => Order::Text,
            },
            _ => Order::Text,
        };
        let stored = self.rows(feature.id);
        let now = self.now.as_microsecond();
        let mut found: Vec<(Row<'_>, &StoredRow)> = stored
            .iter()
            .map(|row| {
                let seen = Row {
                    id: row.id,
                    created_at: now,
                    updated_at: now,
                    data: row.data.as_str(),
                };
                (seen, row)
            })
            .filter(|(row, _)| query.holds(row))
            .collect();
        found.sort_by(|(one, _), (other, _)| query.sort.compare(order, one, other));
        found.truncate(query.limit);
        let records = found.into_iter();
        let records: Vec<Value> = records
            .map(|(_, row)| Arc::new(self.record(feature.id, row)).document())
            .collect();
        let count = i64::try_from(records.len()).unwrap_or(i64::MAX);
        Ok(Object::from_iter([
            ("count".to_owned(), count.into()),
            ("records".to_owned(), Value::List(records)),
        ]))
    }
}

/// Which step failed, and why.
fn message(next: &NextStep, failure: &Failure) -> String {
    format!("step {} ({}, {}): {failure}", next.path, next.key, next.id)
}
