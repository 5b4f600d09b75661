//! What a plan, and a report, say of an upgrade (`upgrade` 3.5.4, 3.5.5).

use serde::{Deserialize, Serialize};

use super::guard::{MAX_WHOLE_BYTES, guard};
use crate::json::Value;
use crate::workspace::{Id, RecordKind};

/// What an upgrade starts from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "AppliedBase")
)]
pub struct BaseView {
    /// The job; nothing when the base was given.
    pub job_id: Option<Id>,
    /// The version of its package.
    pub semver: Option<String>,
}

/// A leaf that becomes something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanUpdate")
)]
pub struct Update {
    /// What it belongs to.
    pub kind: RecordKind,
    /// Its ref; `workspace` for the workspace.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its id.
    pub id: Id,
    /// The path of the leaf.
    pub path: String,
    /// What the base says, where that is something else than the value before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Value>,
    /// The value before; null when there is none.
    pub before: Value,
    /// The value after.
    pub after: Value,
}

/// Why somebody has to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub enum ConflictCode {
    /// Both sides changed it.
    Changed,
    /// People made one of that name.
    NameTaken,
    /// People removed what the package changes or points at.
    RemovedHere,
    /// Cells do not fit another type.
    TypeChangeLoses,
    /// Cells are empty that would have to be filled.
    RequiredEmpty,
    /// Values stand twice that would have to be distinct.
    UniqueRepeated,
    /// What both sides changed is refused together.
    InvalidTogether,
}

impl ConflictCode {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            ConflictCode::Changed => "changed",
            ConflictCode::NameTaken => "name_taken",
            ConflictCode::RemovedHere => "removed_here",
            ConflictCode::TypeChangeLoses => "type_change_loses",
            ConflictCode::RequiredEmpty => "required_empty",
            ConflictCode::UniqueRepeated => "unique_repeated",
            ConflictCode::InvalidTogether => "invalid_together",
        }
    }

    /// Whether the word for everything (`conflicts`) decides it: leaves and cells, not whole records
    /// nor measured changes.
    pub const fn takes_conflicts(self) -> bool {
        matches!(self, ConflictCode::Changed | ConflictCode::InvalidTogether)
    }
}

/// Something that somebody has to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Conflict {
    /// Why.
    pub code: ConflictCode,
    /// What it is about; `rows` for cells.
    pub kind: String,
    /// Its ref; of cells that of the table.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its id; of cells that of the row.
    pub id: Option<Id>,
    /// The path of the leaf; nothing for a whole record.
    pub path: Option<String>,
    /// What the base says.
    pub base: Value,
    /// What the package says.
    pub theirs: Value,
    /// What the destination has.
    pub ours: Value,
    /// The uid of a row in the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// How many cells do not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The first rows that do not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Id>,
    /// Leaves of which one has to be decided otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// Sides that have no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// The digest of what the destination has, where that is too long to be shown whole: a decision is made
    /// against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ours_digest: Option<String>,
}

impl Conflict {
    /// A leaf that both sides changed.
    pub fn changed(
        kind: RecordKind,
        reference: &str,
        id: Id,
        path: &str,
        values: [Value; 3],
    ) -> Conflict {
        Conflict::of(
            ConflictCode::Changed,
            kind.as_str(),
            reference,
            Some(id),
            Some(path),
            values,
        )
    }

    /// A conflict about a whole record.
    pub fn of_record(code: ConflictCode, kind: RecordKind, reference: &str, id: Id) -> Conflict {
        Conflict {
            absent: Vec::new(),
            ..Conflict::of(
                code,
                kind.as_str(),
                reference,
                Some(id),
                None,
                Default::default(),
            )
        }
    }

    /// Cells of a table that whoever asks does not see: how many.
    pub fn unseen(reference: &str, count: u64) -> Conflict {
        Conflict {
            absent: Vec::new(),
            count: Some(count),
            ..Conflict::of(
                ConflictCode::Changed,
                "rows",
                reference,
                None,
                None,
                Default::default(),
            )
        }
    }

    /// Any conflict about a leaf: values of base, theirs and ours.
    pub fn of(
        code: ConflictCode,
        kind: &str,
        reference: &str,
        id: Option<Id>,
        path: Option<&str>,
        [base, theirs, ours]: [Value; 3],
    ) -> Conflict {
        let sides = [("base", &base), ("theirs", &theirs), ("ours", &ours)];
        let absent = sides
            .into_iter()
            .filter(|(_, value)| **value == Value::Null);
        Conflict {
            code,
            kind: kind.to_owned(),
            reference: reference.to_owned(),
            id,
            path: path.map(str::to_owned),
            absent: absent.map(|(side, _)| side.to_owned()).collect(),
            base,
            theirs,
            ours,
            uid: None,
            count: None,
            places: Vec::new(),
            leaves: Vec::new(),
            ours_digest: None,
        }
    }

    /// As it is shown: long values are cut, and the digest stands for what the destination has.
    #[must_use]
    pub fn shorten(self, show: impl Fn(Value) -> Value) -> Conflict {
        let guard = guard(self.ours.clone());
        let ours = show(self.ours.clone());
        let cut = ours != self.ours && guard != self.ours;
        let digest = guard.as_str().filter(|_| cut).map(str::to_owned);
        Conflict {
            base: show(self.base),
            theirs: show(self.theirs),
            ours,
            ours_digest: digest,
            ..self
        }
    }
}

/// Why something stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub enum KeepReason {
    /// The package did not change it since the base.
    UnchangedInPackage,
    /// People removed it, and the package did not change it.
    RemovedHere,
    /// Whoever applies may not decide it.
    Forbidden,
    /// Somebody decided so.
    Decided,
}

impl KeepReason {
    /// The reason in words, for lists.
    pub fn words(self) -> &'static str {
        match self {
            KeepReason::UnchangedInPackage => "unchanged in package",
            KeepReason::RemovedHere => "removed here",
            KeepReason::Forbidden => "forbidden",
            KeepReason::Decided => "decided",
        }
    }
}

/// Something that stays as people made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanKept")
)]
pub struct KeptRecord {
    /// What it belongs to.
    pub kind: RecordKind,
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its id; the one it had.
    pub id: Id,
    /// The path of the leaf; nothing for a whole record.
    pub path: Option<String>,
    /// What the base says.
    pub base: Value,
    /// What the destination has.
    pub ours: Value,
    /// Why.
    pub because: KeepReason,
}

impl KeptRecord {
    /// Title of a list of these in a plan.
    pub const TITLE: &str = "Stays as people made it";
}

/// A record that the package no longer has and that stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanLeft")
)]
pub struct LeftRecord {
    /// What it is.
    pub kind: RecordKind,
    /// Its ref in the base.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its id.
    pub id: Id,
    /// Its name at the destination.
    pub name: String,
    /// What it is called.
    pub label: String,
    /// Of a table, how many rows it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Of a column, how many cells are filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<u64>,
    /// Whether it goes, because somebody decided so.
    pub delete: bool,
}

impl LeftRecord {
    /// Title of a list of these in a plan.
    pub const TITLE: &str = "No longer in the package, and left";
}

/// A record that may be another one under a new name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanPossibleRename")
)]
pub struct Rename {
    /// What it is.
    pub kind: RecordKind,
    /// Its ref in the package.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The ref in the base of the record that it may be.
    pub from: String,
    /// The id of that.
    pub id: Id,
}

/// A decision that did nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanUnused")
)]
pub struct UnusedDecision {
    /// The ref that it stands under.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The path; `*` for the word for the ref.
    pub path: String,
}

/// A value as it is shown: one that is too long is cut.
pub fn shorten(value: Value) -> Value {
    let text = match &value {
        Value::String(text) => text.clone(),
        other => other.write(),
    };
    if text.len() <= MAX_WHOLE_BYTES {
        return value;
    }
    let end = (0..=MAX_WHOLE_BYTES)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default();
    format!("{}…", &text[..end]).into()
}
