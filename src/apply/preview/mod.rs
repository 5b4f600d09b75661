//! Previews an apply without writing anything (`rest` 6.9).
//!
//! It uses the same [`Approved`] as the apply, so structure cannot differ; rows are counted by the
//! real executor on a target that stores nothing.

mod digest;
mod dry_run;
mod left_records;
mod measure;
mod rows;
#[cfg(test)]
mod tests;
mod upgrade;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Approved, DroppedKey, FailureReason, JobHistory, Minter, NotCarried, NotPublished,
    RedactedField, Refusal, RenamedRecord, Request,
};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::model::Plan;
use crate::upgrade::{
    BaseView, Conflict, KeptRecord, LeftRecord, Rename, SeenLeaves, UnusedDecision, Update,
};
use crate::workspace::ledger::Entry;
use crate::workspace::{Change, Id, Lookup, New, RecordKind, Structure};

use super::history::BasePackage;
use super::new_names::Names;
use super::resolve::{ResolveInput, possible_renames, unfit_decision};
pub(super) use dry_run::DryRun;
pub use measure::decide_from;

pub use digest::{content_digest, fresh, package_digest, write_content};

/// What an apply would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "Plan")
)]
pub struct Preview {
    /// Send it back as `plan`. It changes when anything that the preview rests on does.
    pub digest: String,
    /// Why it cannot be applied as asked; then nothing else is known.
    pub refusals: Vec<Refusal>,
    /// What would be created, in order.
    pub create: Vec<Creation>,
    /// What an earlier job made and this one would bind to.
    pub bind: Vec<Binding>,
    /// What would get another name.
    pub rename: Vec<RenamedRecord>,
    /// Configs that would be replaced.
    pub replaced_configs: Vec<ReplacedConfig>,
    /// Config keys that would be dropped.
    pub dropped_keys: Vec<DroppedKey>,
    /// By the ref of each table: what would become of its rows.
    pub rows: IndexMap<String, RowsPreview>,
    /// Automations that would go live.
    pub go_live: Vec<Publication>,
    /// Automations that were live at the source and would stay drafts.
    #[serde(default)]
    pub stays_draft: Vec<NotPublished>,
    /// What the package brings for things that are there and that an apply leaves as they are.
    #[serde(default)]
    pub not_carried: Vec<NotCarried>,
    /// Secrets that the export cleared and somebody has to enter.
    #[serde(default)]
    pub redacted: Vec<RedactedField>,
    /// What an upgrade starts from.
    #[serde(default)]
    pub base: Option<BaseView>,
    /// Leaves that would become something else.
    #[serde(default)]
    pub update: Vec<Update>,
    /// What somebody has to decide before.
    #[serde(default)]
    pub conflicts: Vec<Conflict>,
    /// How many more cells there are to decide.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts_more: u64,
    /// What would stay as people made it.
    #[serde(default)]
    pub kept: Vec<KeptRecord>,
    /// What the package no longer has.
    #[serde(default)]
    pub left: Vec<LeftRecord>,
    /// What may be something else under a new name.
    #[serde(default)]
    pub renames: Vec<Rename>,
    /// Decisions that would do nothing.
    #[serde(default)]
    pub unused: Vec<UnusedDecision>,
    /// What it saw of leaves that people changed and somebody decided about; a job that carries the plan out knows
    /// by it what people changed since.
    #[serde(skip)]
    #[cfg_attr(feature = "schemas", schemars(skip))]
    pub seen: SeenLeaves,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A record that would be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanCreation")
)]
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
    /// Only when true: people removed it, and it is created once more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// A record of an earlier job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanBinding")
)]
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
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanReplacedConfig")
)]
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

/// What would become of the rows of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanTable")
)]
pub struct RowsPreview {
    /// Written.
    pub insert: u64,
    /// Left out by the rows mode.
    pub existing: u64,
    /// Written by an earlier job.
    pub skipped: u64,
    /// Link cells that would become empty, because their row is not there.
    pub dropped_links: u64,
    /// Rows that are there and get other cells.
    #[serde(default)]
    pub update: u64,
    /// Rows that the package no longer has and that stay.
    #[serde(default)]
    pub left: u64,
    /// Cells that stay as people made them.
    #[serde(default)]
    pub kept: u64,
    /// Cells that somebody has to decide.
    #[serde(default)]
    pub conflicts: u64,
    /// Refused, so that they stay out.
    #[serde(default)]
    pub failed: u64,
    /// Why.
    #[serde(default)]
    pub reasons: Vec<FailureReason>,
}

/// An automation that would go live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanGoLive")
)]
pub struct Publication {
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
    /// What the line wrote that this one continues, oldest first.
    pub earlier: &'q [Entry],
    /// What it starts from, when that is known.
    pub base: Option<BasePackage<'q>>,
    /// The definitions of the destination.
    pub definitions: &'q Definitions,
}

/// Says what an apply would do to the destination as it is now.
pub async fn preview<T: Lookup + Sync>(
    target: &T,
    destination: &Structure,
    input: PreviewInput<'_, '_>,
) -> Result<Preview, T::Error> {
    // The same for all previews: what is compared by digest must not know when it was asked.
    let minter = Minter::at(Timestamp::UNIX_EPOCH, 0);
    let deciding = input.resolve(destination);
    let (approved, measured) = measure::decide(target, deciding, minter).await?;
    let mut digest = digest::Digest::of(input.package_digest, input.request);
    let mut approved = match approved {
        Ok(approved) => approved,
        Err(refusals) => {
            digest.refusals(&refusals);
            let digest = digest.finish();
            return Ok(Preview {
                refusals,
                renames: possible_renames(deciding, minter),
                ..Preview::empty(digest)
            });
        }
    };
    digest.approved(&approved);
    let lost = left_records::count(target, destination, &mut approved).await?;
    digest.read(&format!("{lost:?}"));
    digest.read(&format!("{measured:?}"));
    Ok(
        match rows::count(target, input, destination, &approved, &mut digest).await? {
            Ok((rows, cells)) => {
                let plan = &input.package.manifest.plan;
                let mut preview = Preview::of(approved, plan, digest.finish());
                preview.rows = rows;
                preview.cells(cells);
                preview.refusals.extend(lost);
                preview
            }
            Err(refusal) => Preview {
                refusals: vec![refusal],
                renames: approved.upgrade.map_or_else(Vec::new, |work| work.renames),
                ..Preview::empty(digest.finish())
            },
        },
    )
}

impl Preview {
    /// A plan that is refused, so that nothing else is known.
    pub fn of_refusals(digest: String, refusals: Vec<Refusal>) -> Preview {
        Preview {
            refusals,
            ..Preview::empty(digest)
        }
    }

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
            base: None,
            update: Vec::new(),
            conflicts: Vec::new(),
            conflicts_more: 0,
            kept: Vec::new(),
            left: Vec::new(),
            renames: Vec::new(),
            unused: Vec::new(),
            seen: SeenLeaves::default(),
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
        let upgrade = approved.upgrade.as_deref();
        let again = upgrade.map_or(Vec::new(), |upgrade| upgrade.again.clone());
        Preview {
            create: created
                .map(|(made, label)| Creation {
                    kind: made.kind,
                    reference: made.reference.clone(),
                    name: made.name.clone(),
                    label: called(plan, made.kind, &made.reference)
                        .unwrap_or(label)
                        .to_owned(),
                    again: again.contains(&made.reference),
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
                .filter(|publish| publish.live)
                .map(|publish| Publication {
                    reference: publish.reference,
                    name: publish.name,
                })
                .collect(),
            stays_draft: approved.not_published,
            redacted: approved.redacted,
            not_carried: approved
                .not_carried
                .into_iter()
                .map(|left| NotCarried {
                    base: left.base.map(|value| names.shorten(value)),
                    theirs: left.theirs.map(|value| names.shorten(value)),
                    ..left
                })
                .collect(),
            ..upgrade::preview(approved.upgrade, &names, Preview::empty(digest))
        }
    }
}

impl<'q, 't> PreviewInput<'q, 't> {
    /// What it is decided from.
    fn resolve(&self, destination: &'q Structure) -> ResolveInput<'q, 't> {
        ResolveInput {
            package: self.package,
            request: self.request,
            destination,
            past: self.past(),
            definitions: self.definitions,
        }
    }

    /// What it starts from.
    fn past(&self) -> JobHistory<'q> {
        JobHistory {
            entries: self.earlier,
            base: self.base,
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
    let label = step.args.get("label")?.as_str();
    label.filter(|label| !label.is_empty())
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
