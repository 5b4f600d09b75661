//! Shows what a command is about to remove, before it does.

use std::collections::HashSet;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use tplkit::client::{Client, Error, Feature, Job};
use tplkit::finding::render::counted;
use tplkit::printable;
use tplkit::workspace::RecordKind;

use super::apply_summary;

/// What the undo of a job takes away, as far as it can be known from outside.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Losses {
    /// Tables that the job created, with every row in them.
    pub(crate) tables: Vec<LostTable>,
    /// Rows that the job wrote into other tables.
    pub(crate) rows: Vec<Rows>,
    /// Columns of tables that stay and point at those that go.
    pub(crate) links: Vec<Link>,
    /// How many values of records the job changed: they go back.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) values: u64,
    /// Whether it is an upgrade, which writes over what was there.
    #[serde(skip)]
    is_upgrade: bool,
    /// Why not everything is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A table that goes.
#[derive(Debug, Serialize)]
pub(crate) struct LostTable {
    id: String,
    name: String,
    label: String,
    rows: Option<u64>,
}

/// Rows that go from a table that stays.
#[derive(Debug, Serialize)]
pub(crate) struct Rows {
    table: String,
    rows: u64,
}

/// A column that points at a table that goes.
#[derive(Debug, Serialize)]
pub(crate) struct Link {
    table: String,
    column: String,
    to: String,
}

impl Losses {
    /// Asks the server what the job made and what is in it now. A server that does not report it leaves
    /// a word about it.
    pub(crate) fn of(client: &Client, id: &str, job: &Job) -> Losses {
        let mut losses = Losses {
            values: job
                .report
                .as_ref()
                .map_or(0, |report| report.structure_updated),
            is_upgrade: job
                .report
                .as_ref()
                .is_some_and(|report| report.base.is_some()),
            ..Losses::default()
        };
        let recorded = recorded(job);
        if let Err(error) = losses.read(client, id, job, &recorded) {
            if losses.tables.is_empty() && losses.rows.is_empty() {
                // The report knows that much.
                losses.rows_alone(&recorded);
            }
            losses.unknown = Some(error.to_string());
        }
        losses
    }

    fn read(
        &mut self,
        client: &Client,
        id: &str,
        job: &Job,
        recorded: &[(&String, u64)],
    ) -> Result<(), Error> {
        let (Some(template), Some(workspace)) = (&job.template_id, &job.workspace_id) else {
            self.rows_alone(recorded);
            self.unknown = Some("the server does not say where the job works".to_owned());
            return Ok(());
        };
        // A plan of the job itself binds to what it made and what is still there.
        let body = json!({"workspaceId": workspace, "jobId": id});
        let bound = client.plan(template, &body)?.record.bind;
        let bound: Vec<_> = bound
            .into_iter()
            .filter(|bound| bound.kind == RecordKind::Feature)
            .collect();
        let mut all: Vec<Feature> = Vec::new();
        for page in client.features(Some(workspace)) {
            all.extend(page?.items);
        }
        let begun = job.created_at.as_deref().and_then(instant);
        let mut created = HashSet::new();
        for feature in &all {
            let made = feature.created_at.as_deref().and_then(instant);
            // What an earlier job of the template made is older than this one.
            let since = made.zip(begun).is_none_or(|(made, begun)| made >= begun);
            let bound = bound.iter().any(|bound| bound.id.to_string() == feature.id);
            if bound && since {
                created.insert(feature.id.clone());
                self.tables.push(LostTable {
                    id: feature.id.clone(),
                    name: name(feature),
                    label: feature.label.clone().unwrap_or_default(),
                    rows: client.count(&feature.id).ok(),
                });
            }
        }
        for (reference, rows) in recorded {
            let known = bound.iter().find(|bound| bound.reference == **reference);
            if known.is_none_or(|known| !created.contains(&known.id.to_string())) {
                let table = known.map_or(*reference, |known| &known.name).clone();
                self.rows.push(Rows { table, rows: *rows });
            }
        }
        self.links(client, workspace, all)
    }

    fn rows_alone(&mut self, recorded: &[(&String, u64)]) {
        let rows = recorded.iter().map(|(table, rows)| Rows {
            table: (*table).clone(),
            rows: *rows,
        });
        self.rows.extend(rows);
    }

    /// Looks for columns that hold the id of a table that goes.
    fn links(
        &mut self,
        client: &Client,
        workspace: &str,
        mut all: Vec<Feature>,
    ) -> Result<(), Error> {
        let goes = |id: &str| self.tables.iter().find(|table| table.id == id);
        if self.tables.is_empty() {
            return Ok(());
        }
        let shared = |feature: &Feature| feature.is_shared && goes(&feature.id).is_some();
        if all.iter().any(shared) {
            // Other workspaces may use it.
            for page in client.features(None) {
                let others = page?.items.into_iter();
                all.extend(others.filter(|feature| {
                    feature
                        .workspace_id
                        .as_deref()
                        .is_some_and(|id| id != workspace)
                }));
            }
        }
        let mut links = Vec::new();
        for feature in all.iter().filter(|feature| goes(&feature.id).is_none()) {
            for column in client.columns(&feature.id)? {
                let to = texts(&column.config).into_iter().find_map(goes);
                links.extend(to.map(|to| Link {
                    table: name(feature),
                    column: column.name.clone(),
                    to: to.name.clone(),
                }));
            }
        }
        self.links = links;
        Ok(())
    }

    /// Text to read.
    pub(crate) fn text(&self, id: &str, about: &str, force: bool) -> String {
        let mut out = format!("Undoing job {id} {about} takes away");
        if self.tables.is_empty() && self.rows.is_empty() {
            out.push_str(" no table and no rows");
        } else {
            out.push(':');
        }
        // Writing to a String cannot fail, here and below.
        for table in &self.tables {
            let rows = table.rows.map(rows_of).unwrap_or_default();
            let _ = write!(
                out,
                "\n  table {} {:?}{rows}",
                printable::line(&table.name),
                table.label
            );
        }
        for rows in &self.rows {
            let count = usize::try_from(rows.rows).unwrap_or(usize::MAX);
            let _ = write!(
                out,
                "\n  {} of table {}",
                counted(count, "row"),
                printable::line(&rows.table)
            );
        }
        out.push_str("\nWith them go the columns, views, automations and navigation that it made; configs that it replaced go back.");
        if self.values > 0 {
            let values = apply_summary::values(self.values);
            let _ = write!(
                out,
                "\nIt changed {values} of records: they become what they were."
            );
        }
        if !self.links.is_empty() {
            out.push_str("\nColumns of other tables that link there, and will point at nothing:");
        }
        for link in &self.links {
            let (table, column, to) = (
                printable::line(&link.table),
                printable::line(&link.column),
                printable::line(&link.to),
            );
            let _ = write!(out, "\n  {table}.{column} -> {to}");
        }
        if force {
            out.push_str(if self.is_upgrade || self.values > 0 {
                "\nWhat others changed or added since in what it made goes, too. Values and cells that it changed and others changed since stay as they are."
            } else {
                "\nWhat others changed or added there since goes, too."
            });
        }
        if let Some(why) = &self.unknown {
            let _ = write!(
                out,
                "\nnote: this may not be all of it: {}",
                printable::line(why)
            );
        }
        out
    }

    /// For documents.
    pub(crate) fn document(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The rows that a job has in its ledger, by table.
fn recorded(job: &Job) -> Vec<(&String, u64)> {
    let tables = job.report.iter().flat_map(|report| &report.rows);
    tables
        .filter_map(|(table, rows)| Some((table, rows.recorded.filter(|count| *count > 0)?)))
        .collect()
}

fn rows_of(count: u64) -> String {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    format!(" with {}", counted(count, "row"))
}

fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

fn name(feature: &Feature) -> String {
    feature.name.clone().unwrap_or_else(|| feature.id.clone())
}

/// All texts in a config.
fn texts(config: &Value) -> Vec<&str> {
    match config {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
