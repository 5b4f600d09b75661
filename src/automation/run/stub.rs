//! Runs on sample rows without side effects: each step shows in its input what it would do.

use std::collections::BTreeMap;

use jiff::Timestamp;
use uuid::Uuid;

use super::act::{Act, WriteMode};
use super::bounds::{Usage, size_of};
use super::envelope::{Envelope, Record};
use super::resolve::Failure;
use super::row_query::{ColumnKind, RowQuery};
use super::state::{NextStep, RunState};
use crate::definitions::Definitions;
use crate::json::{Object, Value};
use crate::rows::query::{Order, Row};

/// Sample rows by their tables, and a moment.
#[derive(Debug, Clone, Default)]
pub struct Stub {
    /// What reads find; a table that is not here has no rows.
    pub tables: BTreeMap<Uuid, Vec<Record>>,
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReport {
    /// Dotted path in the graph.
    pub path: String,
    /// Its id.
    pub id: String,
    /// Its key.
    pub key: String,
    /// Its config as it was meant.
    pub input: Object,
    /// What came of it, or why nothing could.
    pub outcome: Result<Object, String>,
    /// What it leaves to the steps behind it, as [`Envelope::document`] lays it out; the beginning of that
    /// as a text (`{"cut": true, "text"}`) where it is large.
    pub envelope: Object,
}

impl Stub {
    /// Executes a chain to its end, or to the step that fails. It is held to the bounds of a run on a server.
    pub fn run(
        &self,
        definitions: &'static Definitions,
        graph: &Value,
        trigger: Option<Record>,
        now: Timestamp,
    ) -> Vec<StepReport> {
        let mut state = RunState::new(definitions, graph, Envelope::new(trigger));
        let mut usage = Usage::default();
        let mut executed = Vec::new();
        while let Some(next) = state.next_step() {
            let step = self.step(&mut state, next, &mut usage, now);
            let failed = step.outcome.is_err();
            executed.push(step);
            if failed {
                break;
            }
        }
        executed
    }

    /// Executes one step.
    fn step(
        &self,
        state: &mut RunState,
        next: NextStep,
        usage: &mut Usage,
        now: Timestamp,
    ) -> StepReport {
        let mut input = Object::new();
        let done = usage.begin_step().and_then(|()| {
            let due = state.due(now, usage.remaining());
            input = due.input;
            let output = self.output(&due.act?, state.envelope())?;
            state.admit(&output)?;
            usage.store(size_of(&input) + size_of(&output))?;
            Ok::<_, Failure>(output)
        });
        if let Ok(output) = &done {
            state.done(output.clone());
        }
        let envelope = state.shown_envelope();
        // It has failed already where there is no room for what is shown of it.
        let done = done.and_then(|output| usage.store(size_of(&envelope)).map(|()| output));
        StepReport {
            path: next.path,
            id: next.id,
            key: next.key,
            input,
            outcome: done
                .map(RunState::report_size)
                .map_err(|failure| failure.to_string()),
            envelope,
        }
    }

    /// The output that a step is reported to have, without its effect.
    ///
    /// # Errors
    /// The failure of a read that asks what cannot be asked of its table.
    pub fn output(&self, act: &Act, envelope: &Envelope) -> Result<Object, Failure> {
        let output: Vec<(&str, Value)> = match act {
            Act::Output(output) => return Ok(output.clone()),
            Act::Ask { routes, .. } => {
                let first = routes.first().map(|(name, _)| name.as_str());
                vec![("route", first.unwrap_or_default().into())]
            }
            Act::Read(query) => {
                let found = self.find(query)?;
                let count = i64::try_from(found.len()).unwrap_or(i64::MAX);
                let records = found.iter().map(|record| record.document()).collect();
                vec![("count", count.into()), ("records", Value::List(records))]
            }
            Act::Write(write) => {
                let trigger = envelope.trigger.as_ref().and_then(|row| row.own.get("id"));
                let row = match write.mode {
                    WriteMode::UpdateTrigger => trigger.cloned().unwrap_or_default(),
                    _ => Value::Null,
                };
                vec![("rowId", row), ("count", 1.into())]
            }
            Act::Mail(mail) => {
                let to = mail.to.iter().map(|address| address.as_str().into());
                let mut output = vec![
                    ("messageId", Value::Null),
                    ("accepted", Value::List(to.collect())),
                ];
                output.extend(mail.note(true).map(|note| ("note", note.into())));
                output
            }
            Act::Notify(_) => vec![("notificationId", Value::Null)],
            Act::Request(_) => vec![("status", 200.into()), ("body", Value::Null)],
            Act::Run(_) => vec![("runId", Value::Null)],
            Act::Wait(_) => Vec::new(),
        };
        let named = output.into_iter();
        Ok(named
            .map(|(name, value)| (name.to_owned(), value))
            .collect())
    }

    fn find(&self, query: &RowQuery) -> Result<Vec<&Record>, Failure> {
        let rows = self.tables.get(&query.feature);
        // What a column stores is not known here, and a table has those of which some row has a cell.
        let query = query.of_table(|name| {
            let mut records = rows.into_iter().flatten();
            if records.any(|record| record.data.contains_key(name)) {
                ColumnKind::Mixed
            } else {
                ColumnKind::Undeclared
            }
        })?;
        let texts: Vec<(String, &Record)> = rows
            .into_iter()
            .flatten()
            .map(|record| (Value::Object(record.data.clone()).write(), record))
            .collect();
        let mut found: Vec<(Row<'_>, &Record)> = (0u128..)
            .zip(&texts)
            .map(|(at, (data, record))| {
                let id = record.own.get("id").and_then(Value::as_str);
                let id = id.and_then(|id| Uuid::parse_str(id).ok());
                let row = Row {
                    id: id.unwrap_or(Uuid::from_u128(at)),
                    created_at: 0,
                    updated_at: 0,
                    data,
                };
                (row, *record)
            })
            .filter(|(row, _)| query.holds(row))
            .collect();
        // Numbers are put in their order, and the rest behind.
        found.sort_by(|(one, _), (other, _)| query.sort.compare(Order::Number, one, other));
        found.truncate(query.limit);
        Ok(found.into_iter().map(|(_, record)| record).collect())
    }
}
