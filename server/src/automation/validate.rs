//! Runs the library's validator with the records that the caller sees in a workspace.
//!
//! The validator looks up nothing itself, so it runs twice: once to collect its lookups, and again
//! with their results.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use tplkit::automation::{Automation, Environment, IssueTarget, Setting, validate};
use tplkit::definitions::{Definitions, ReferenceKind};
use tplkit::finding::Severity;
use tplkit::json::Doc;
use uuid::Uuid;

use crate::ids::{self, WorkspaceKey};
use crate::model::referenced;
use crate::refusal::{Code, Fault, MOST_FAULTS, Refusal};
use crate::store::{StoreError, Tx};

/// Where an automation stands, or is to stand.
#[derive(Debug, Clone, Copy)]
pub struct WorkflowScope {
    /// Whose it is.
    pub organization: Uuid,
    /// The workspace that it works in.
    pub workspace: Uuid,
    /// Its own id, when that is known.
    pub workflow: Option<Uuid>,
}

/// One fault of an automation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "WorkflowIssue")]
pub struct IssueView {
    /// Stable word to branch on.
    pub code: &'static str,
    /// Whether it prevents publication.
    #[schemars(extend("enum" = ["error", "warning"]))]
    pub severity: &'static str,
    /// Dotted, below the target.
    pub path: String,
    /// Which half of the definition the path belongs to.
    #[schemars(extend("enum" = ["trigger", "graph"]))]
    pub target: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where, as the body of a request has it.
    #[serde(skip)]
    place: String,
}

/// The result of a validation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "WorkflowVerdict")]
pub struct Validation {
    /// Whether there is no error.
    pub ok: bool,
    /// The faults found.
    pub issues: Vec<IssueView>,
}

impl Validation {
    /// The same, of files that mails attach alone.
    #[must_use]
    pub fn of_attached_files(mut self) -> Validation {
        self.issues
            .retain(|issue| issue.path.ends_with("attachmentFileId"));
        let error = Severity::Error.as_str();
        self.ok = self.issues.iter().all(|issue| issue.severity != error);
        self
    }

    /// Nothing, if there is no error.
    ///
    /// # Errors
    /// 422 with the errors, each under the code of its issue.
    pub fn accept(&self) -> Result<(), Refusal> {
        if self.ok {
            return Ok(());
        }
        let errors = self.issues.iter().filter(|issue| issue.severity == "error");
        let details: Vec<String> = errors
            .clone()
            .take(MOST_FAULTS)
            .map(|issue| format!("{} at {}: {}", issue.code, issue.place, issue.message))
            .collect();
        let faults = errors.map(|issue| Fault {
            path: issue.place.clone(),
            code: issue.code,
            message: match issue.help.as_str() {
                "" => issue.message.clone(),
                help => format!("{}. {help}", issue.message),
            },
        });
        Err(Refusal::new(Code::InvalidAutomation, details.join("; ")).with_errors(faults.collect()))
    }
}

/// What the validator wanted to know, and what is so.
#[derive(Debug, Default)]
struct KnownRecords {
    own: Option<String>,
    /// Whether what is wanted was looked up.
    looked_up: bool,
    wanted: RefCell<BTreeSet<(ReferenceKind, String)>>,
    asked_columns: RefCell<BTreeSet<String>>,
    there: BTreeSet<(ReferenceKind, String)>,
    columns: BTreeMap<String, Vec<String>>,
}

/// The kinds that are looked up. Connections are not: a wrong name fails when it is used.
const KINDS: [ReferenceKind; 5] = [
    ReferenceKind::Feature,
    ReferenceKind::WorkflowV2,
    ReferenceKind::Channel,
    ReferenceKind::User,
    ReferenceKind::File,
];

impl Environment for KnownRecords {
    fn setting(&self) -> Setting {
        Setting::Rest
    }

    fn own_identity(&self) -> Option<&str> {
        self.own.as_deref()
    }

    fn exists(&self, kind: ReferenceKind, value: &str) -> Option<bool> {
        if !KINDS.contains(&kind) {
            return None;
        }
        let target = (kind, value.to_ascii_lowercase());
        if self.looked_up {
            return Some(self.there.contains(&target));
        }
        self.wanted.borrow_mut().insert(target);
        None
    }

    fn columns(&self, table: &str) -> Option<Vec<String>> {
        let table = table.to_ascii_lowercase();
        if self.looked_up {
            return self.columns.get(&table).cloned();
        }
        self.asked_columns.borrow_mut().insert(table);
        None
    }
}

/// Checks the two halves of an automation, JSON texts of objects.
///
/// # Errors
/// Those of the store.
pub async fn validate_for(
    tx: &mut Tx,
    place: WorkflowScope,
    trigger: &str,
    graph: &str,
) -> Result<Validation, Refusal> {
    let text = format!("{{\"trigger_config\":{trigger},\"graph_config\":{graph}}}");
    let mut known = KnownRecords {
        own: place.workflow.map(|id| id.to_string()),
        ..KnownRecords::default()
    };
    validate_with(&text, &known)?;
    let wanted = known.wanted.take();
    let tables = known.asked_columns.take();
    look_up(tx, place, &mut known, wanted, tables).await?;
    known.looked_up = true;
    validate_with(&text, &known)
}

fn validate_with(text: &str, known: &KnownRecords) -> Result<Validation, Refusal> {
    let doc =
        Doc::parse(text).map_err(|error| Refusal::new(Code::InvalidJson, error.to_string()))?;
    let automation = Automation::of_definition(doc.root());
    let issues = validate(Definitions::embedded(), &automation, known);
    let issues: Vec<IssueView> = issues
        .into_iter()
        .map(|issue| IssueView {
            code: issue.code(),
            severity: issue.finding.severity.as_str(),
            target: match issue.target {
                IssueTarget::Trigger => "trigger",
                IssueTarget::Definition | IssueTarget::Graph => "graph",
            },
            place: in_body(&issue.finding.place.pointer, issue.absent.as_deref()),
            path: issue.path,
            message: issue.finding.message,
            help: issue.finding.help,
        })
        .collect();
    let error = Severity::Error.as_str();
    Ok(Validation {
        ok: issues.iter().all(|issue| issue.severity != error),
        issues,
    })
}

/// A pointer, and what is missing there, as refusals write places:
/// `graph_config.steps[0].config.then[1]`.
fn in_body(pointer: &str, absent: Option<&str>) -> String {
    let mut place = String::with_capacity(pointer.len());
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) {
            place.extend(["[", &token, "]"]);
        } else {
            if !place.is_empty() {
                place.push('.');
            }
            place.push_str(&token);
        }
    }
    if let Some(absent) = absent {
        if !place.is_empty() {
            place.push('.');
        }
        place.push_str(absent);
    }
    place
}

async fn look_up(
    tx: &mut Tx,
    place: WorkflowScope,
    known: &mut KnownRecords,
    wanted: BTreeSet<(ReferenceKind, String)>,
    tables: BTreeSet<String>,
) -> Result<(), StoreError> {
    let mut seen = BTreeSet::new();
    for kind in KINDS {
        let of_kind = wanted.iter().filter(|(of, _)| *of == kind);
        let mut values: BTreeSet<&str> = of_kind.map(|(_, value)| value.as_str()).collect();
        if kind == ReferenceKind::Feature {
            // A table that cannot be seen has no columns to show.
            values.extend(tables.iter().map(String::as_str));
        }
        let ids = values.iter().filter_map(|value| ids::uuid(value));
        let ids: Vec<Uuid> = ids.collect();
        let here = WorkspaceKey {
            organization: place.organization,
            workspace: place.workspace,
        };
        for id in referenced::existing(tx, here, kind, &ids).await? {
            known.there.insert((kind, id.to_string()));
            if kind == ReferenceKind::Feature && tables.contains(&id.to_string()) {
                seen.insert(id);
            }
        }
    }
    let seen: Vec<Uuid> = seen.into_iter().collect();
    let names = referenced::column_names(tx, place.organization, &seen).await?;
    for (id, names) in seen.iter().zip(names) {
        known.columns.insert(id.to_string(), names);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::in_body;

    #[test]
    fn places_are_written_as_in_the_body() {
        for (pointer, place) in [
            ("", ""),
            (
                "/trigger_config/config/featureId",
                "trigger_config.config.featureId",
            ),
            (
                "/graph_config/steps/0/config/then/10/key",
                "graph_config.steps[0].config.then[10].key",
            ),
        ] {
            assert_eq!(in_body(pointer, None), place);
        }
        let absent = in_body("/graph_config/steps/0", Some("config"));
        assert_eq!(absent, "graph_config.steps[0].config");
    }
}
