//! What an apply did (`service`: apply, job report; `rest` 6).

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};

use crate::json::Value;
use crate::package::model::{Unresolved, WireWord as _};
use crate::problem::Code;
use crate::upgrade::{BaseView, KeptRecord, LeftRecord, MovedLeaf, UnusedDecision};
use crate::workspace::RecordKind;

/// The report of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "TemplateJobReport")
)]
pub struct Report {
    /// By the ref of each table: what became of its rows.
    pub rows: IndexMap<String, TableReport>,
    /// Automations that went live.
    pub published: u64,
    /// Automations that were live at the source and stay drafts until somebody completes them.
    pub not_published: Vec<NotPublished>,
    /// Everything that could not be carried over, from the package and from this job.
    pub unresolved: Vec<UnresolvedEntry>,
    /// Things that got another name.
    pub renamed: Vec<RenamedRecord>,
    /// Config keys that were dropped, because the definitions do not have them.
    pub dropped_keys: Vec<DroppedKey>,
    /// Rows that could not be written: of each table the first of them.
    pub errors: Vec<BatchError>,
    /// Leaves of records that an upgrade changed.
    pub structure_updated: u64,
    /// What the package says and the destination did not get.
    pub not_carried: Vec<NotCarried>,
    /// What an upgrade went out from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseView>,
    /// How many leaves, cells and records somebody decided.
    pub decided: u64,
    /// What stays as people made it.
    pub kept: Vec<KeptRecord>,
    /// What the package no longer has.
    pub left: Vec<LeftRecord>,
    /// Decisions that did nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<UnusedDecision>,
    /// What people changed after the plan: it stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedLeaf>,
    /// What an undo left as people made it after the job.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undo_left: Vec<MovedLeaf>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What became of the rows of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "TemplateJobTable")
)]
pub struct TableReport {
    /// Written by this pass.
    pub inserted: u64,
    /// Changed by steps of the plan, or by an upgrade.
    pub updated: u64,
    /// Written by an earlier pass.
    pub skipped: u64,
    /// Left out by the rows mode.
    pub existing: u64,
    /// Cells that stay as people made them.
    #[serde(skip_serializing_if = "is_zero")]
    pub kept: u64,
    /// Rows that the package no longer has and that stay.
    #[serde(skip_serializing_if = "is_zero")]
    pub left: u64,
    /// Rows that could not be written.
    pub failed: u64,
    /// Entries of `errors` that are left out, because a table has too many of them.
    pub errors_more: u64,
    /// Cells that point at rows of the same table, written at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<u64>,
    /// Ids in the ledger, which an undo removes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<u64>,
}

/// A field, or the cells of a column, that could not be carried over: the one shape of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "TemplateJobUnresolved")
)]
pub struct UnresolvedEntry {
    /// uid of the item; of the rows item or the step that brought rows; the plan's id for the
    /// workspace.
    pub uid: String,
    /// Dotted path inside the args of the item's step; `rows[].data.<column>`, `rows[]`.
    pub path: String,
    /// Kind of reference, or `rows`.
    pub kind: String,
    /// `uuid`, `name`, `uuidOrName`.
    pub form: String,
    /// Label of the target at the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_label: Option<String>,
    /// Why.
    pub reason: String,
    /// What was done.
    pub action: String,
    /// Rows concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The dependency that was skipped.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Only when true: the skipped dependency was required, or the column whose files did not travel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// `package` for what the package brought along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl UnresolvedEntry {
    /// What the package says of itself.
    pub fn of_package(entry: &Unresolved) -> UnresolvedEntry {
        UnresolvedEntry {
            uid: entry.uid.clone(),
            path: entry.path.clone(),
            kind: entry.kind.as_str().to_owned(),
            form: entry.form.word().to_owned(),
            source_label: entry.source_label.clone(),
            reason: entry.reason.as_str().to_owned(),
            action: entry.action.as_str().to_owned(),
            count: entry.count,
            reference: None,
            required: None,
            source: Some("package".to_owned()),
        }
    }
}

/// Something that got another name, because its own was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanRename")
)]
pub struct RenamedRecord {
    /// What it is.
    pub kind: RecordKind,
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its name in the package.
    pub from: String,
    /// Its name at the destination.
    pub to: String,
}

/// An automation that stays a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanStaysDraft")
)]
pub struct NotPublished {
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its name.
    pub name: String,
    /// What has to be entered before it can go live, one entry for each place.
    pub because: Vec<DraftReason>,
}

/// A place in an automation that somebody has to complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanBecause")
)]
pub struct DraftReason {
    /// Dotted path inside the args of its step.
    pub path: String,
    /// The reason of an unresolved entry, `redacted`, `secret_empty`, or the code of the validator.
    pub reason: String,
}

/// A field whose secret the export cleared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanRedacted")
)]
pub struct RedactedField {
    /// The ref of the record; `workspace` for the workspace.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its name at the destination.
    pub name: String,
    /// Dotted path inside the args of its step.
    pub path: String,
    /// What the package says about it.
    pub reason: String,
}

/// A config key that was dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanDroppedKey")
)]
pub struct DroppedKey {
    /// The ref of the record; `workspace` for the workspace.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Dotted path inside the args of its step.
    pub path: String,
}

/// A row that could not be written, or the rest of a table when a quota is used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "TemplateJobRowError")
)]
pub struct BatchError {
    /// The ref of the table.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Position of the row in its payload entry, from 0; for a quota that of the first row.
    pub first: u64,
    /// The same position; for a quota that of the table's last row.
    pub last: u64,
    /// Why.
    pub code: Code,
    /// What is wrong, with the row and the column as the destination names it.
    pub message: String,
    /// The column at fault, as the destination names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// uid of the row in the package.
    #[serde(default, rename = "rowUid", skip_serializing_if = "Option::is_none")]
    pub row_uid: Option<String>,
}

/// A value of the package that an apply leaves out, because what it belongs to is there already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanNotCarried")
)]
pub struct NotCarried {
    /// What it belongs to; `rows` for cells.
    pub kind: String,
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Dotted path; `rows[].data.<column>` for cells; nothing for a whole record.
    pub path: Option<String>,
    /// The value that was applied last; not of cells.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub base: Option<Value>,
    /// The value of the package; not of cells.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub theirs: Option<Value>,
    /// How many cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Only when true: the cells name files, which do not travel, and the column is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
}

impl NotCarried {
    /// Title of a list of these in a plan.
    pub const TITLE: &str = "In the package, and not carried over";
}

/// A value that stands there, null too.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// Why rows of a table cannot be written, and how many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanRowFailure")
)]
pub struct FailureReason {
    /// Stable word to branch on.
    pub code: Code,
    /// The column at fault, as the destination names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// How many rows.
    pub count: u64,
}

impl Report {
    /// Rows that could not be written, of all tables.
    pub fn failed_rows(&self) -> u64 {
        self.rows.values().map(|table| table.failed).sum()
    }

    /// Whether something could not be written, or was changed by people meanwhile.
    pub fn is_partial(&self) -> bool {
        self.failed_rows() > 0 || !self.errors.is_empty() || !self.moved.is_empty()
    }
}
