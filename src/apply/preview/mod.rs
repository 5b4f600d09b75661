//! Previews an apply without writing anything (`rest` 6.9).
//!
//! It uses the same [`Approved`] as the apply, so structure cannot differ; rows are counted by the
//! real executor on a target that stores nothing.

mod digest;
mod dry_run;
mod names;
mod rows;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Approved, DroppedKey, FailureReason, Minter, NotPublished, RedactedField, Refusal, Renamed,
    Request, resolve,
};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::model::Plan;
use crate::workspace::ledger::Entry;
use crate::workspace::{Change, Id, Lookup, New, RecordKind, Structure};

use names::Names;

pub use digest::{content_digest, fresh, package_digest};

/// The answer of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preview {
    /// Changes when anything that the answer rests on does.
    pub digest: String,
    /// Why it cannot be applied as asked; then nothing else is known.
    pub refusals: Vec<Refusal>,
    /// What would be created, in order.
    pub create: Vec<Creation>,
    /// What an earlier job made and this one would bind to.
    pub bind: Vec<Binding>,
    /// What would get another name.
    pub rename: Vec<Renamed>,
    /// Configs that would be replaced.
    pub replaced_configs: Vec<ReplacedConfig>,
    /// Config keys that would be dropped.
    pub dropped_keys: Vec<DroppedKey>,
    /// By the ref of each table: what would become of its rows.
    pub rows: IndexMap<String, RowsPreview>,
    /// Automations that would go live.
    pub go_live: Vec<GoLive>,
    /// Automations that were live at the source and would stay drafts.
    #[serde(default)]
    pub stays_draft: Vec<NotPublished>,
    /// What the package brings for things that are there and that an apply leaves as they are.
    #[serde(default)]
    pub not_carried: Vec<NotCarried>,
    /// Secrets that the export cleared and somebody has to enter.
    #[serde(default)]
    pub redacted: Vec<RedactedField>,
}

/// A record that would be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Creation {
    /// What it is.
    pub kind: RecordKind,
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its name at the destination.
    pub name: String,
    /// Its label.
    pub label: String,
}

/// A record of an earlier job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// What it is.
    pub kind: RecordKind,
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its id.
    pub id: Id,
    /// Its name at the destination.
    pub name: String,
}

/// A config that would be replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedConfig {
    /// What it is of.
    pub kind: RecordKind,
    /// The ref; `workspace` for the workspace.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The id.
    pub id: Id,
    /// The config now.
    pub before: Value,
    /// The config then. What would be created has no id yet: `(new)` and its name stand for it.
    pub after: Value,
}

/// A value of the package that an apply leaves out, because what it belongs to is there already.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotCarried {
    /// What it belongs to; `rows` for cells.
    pub kind: String,
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Dotted path; `rows[].data.<column>` for cells.
    pub path: String,
    /// The value that was applied last; not of cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Value>,
    /// The value of the package; not of cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theirs: Option<Value>,
    /// How many cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// What would become of the rows of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowsPreview {
    /// Written.
    pub insert: u64,
    /// Left out by the rows mode.
    pub existing: u64,
    /// Written by an earlier job.
    pub skipped: u64,
    /// Link cells that would become empty, because their row is not there.
    pub dropped_links: u64,
    /// Refused, so that they stay out.
    #[serde(default)]
    pub failed: u64,
    /// Why.
    #[serde(default)]
    pub reasons: Vec<FailureReason>,
}

/// An automation that would go live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoLive {
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its name.
    pub name: String,
}

/// What is asked of a preview.
#[derive(Debug, Clone, Copy)]
pub struct PreviewInput<'q, 't> {
    /// The package.
    pub package: &'q Checked<'t>,
    /// Its digest ([`package_digest`]).
    pub package_digest: &'q str,
    /// How it is to be applied.
    pub request: &'q Request,
    /// The ledgers that [`resolve`] would be given.
    pub earlier: &'q [Entry],
    /// The definitions of the destination.
    pub definitions: &'q Definitions,
}

/// Says what an apply would do to the destination as it is now.
pub async fn preview<T: Lookup + Sync>(
    target: &T,
    destination: &Structure,
    question: PreviewInput<'_, '_>,
) -> Result<Preview, T::Error> {
    // The same for all previews: what is compared by digest must not know when it was asked.
    let minter = Minter::at(Timestamp::UNIX_EPOCH, 0);
    let approved = resolve(
        question.package,
        question.request,
        destination,
        Some(question.earlier),
        minter,
        question.definitions,
    );
    let mut digest = digest::Digest::of(question.package_digest, question.request);
    let approved = match approved {
        Ok(approved) => approved,
        Err(refusals) => {
            digest.refusals(&refusals);
            let digest = digest.finish();
            return Ok(Preview {
                refusals,
                ..Preview::empty(digest)
            });
        }
    };
    digest.approved(&approved);
    Ok(
        match rows::count(target, question, destination, &approved, &mut digest).await? {
            Ok(rows) => Preview {
                rows,
                ..Preview::of(approved, &question.package.manifest.plan, digest.finish())
            },
            Err(refusal) => Preview {
                refusals: vec![refusal],
                ..Preview::empty(digest.finish())
            },
        },
    )
}

impl Preview {
    fn empty(digest: String) -> Preview {
        Preview {
            digest,
            refusals: Vec::new(),
            create: Vec::new(),
            bind: Vec::new(),
            rename: Vec::new(),
            replaced_configs: Vec::new(),
            dropped_keys: Vec::new(),
            rows: IndexMap::new(),
            go_live: Vec::new(),
            stays_draft: Vec::new(),
            not_carried: Vec::new(),
            redacted: Vec::new(),
        }
    }

    fn of(approved: Approved, plan: &Plan, digest: String) -> Preview {
        let structure = approved.structure;
        let labels = structure.changes.iter().filter_map(|change| match change {
            Change::Create(new) => Some(label(new)),
            _ => None,
        });
        let created = structure.entry.created.iter().zip(labels);
        let names = Names::of(&structure.entry.created);
        Preview {
            create: created
                .map(|(made, label)| Creation {
                    kind: made.kind,
                    reference: made.reference.clone(),
                    name: made.name.clone(),
                    label: called(plan, made.kind, &made.reference)
                        .unwrap_or(label)
                        .to_owned(),
                })
                .collect(),
            bind: approved
                .bound
                .into_iter()
                .map(|bound| Binding {
                    kind: bound.kind,
                    reference: bound.reference,
                    id: bound.id,
                    name: bound.name,
                })
                .collect(),
            rename: approved.renamed,
            replaced_configs: structure
                .entry
                .replaced
                .into_iter()
                .map(|replaced| ReplacedConfig {
                    kind: replaced.kind,
                    reference: replaced.reference,
                    id: replaced.id,
                    before: replaced.before,
                    after: names.replace_ids(replaced.after),
                })
                .collect(),
            dropped_keys: approved.dropped_keys,
            go_live: approved
                .publish
                .into_iter()
                .map(|publish| GoLive {
                    reference: publish.reference,
                    name: publish.name,
                })
                .collect(),
            stays_draft: approved.not_published,
            redacted: approved.redacted,
            ..Preview::empty(digest)
        }
    }
}

/// The label of an automation, which its record does not keep.
fn called<'p>(plan: &'p Plan, kind: RecordKind, reference: &str) -> Option<&'p str> {
    if kind != RecordKind::Workflow {
        return None;
    }
    let mut steps = plan.steps.iter();
    let step = steps.find(|step| step.reference.as_deref() == Some(reference))?;
    step.args.get("label")?.as_str()
}

/// The label of a record; that of an automation is in its step alone.
fn label(new: &New) -> &str {
    match new {
        New::Workspace { label, .. } => label,
        New::Feature(feature) => &feature.label,
        New::Column { column, .. } => &column.label,
        New::View { view, .. } => &view.label,
        New::Workflow(automation) => &automation.name,
        New::Module(module) => &module.label,
        New::Rail { rail, .. } => &rail.label,
    }
}
