//! Checks whether an automation is complete (`rest` 6.7); only complete ones go live.
//!
//! In: the definition with the destination's ids, and what the package and this apply removed from
//! it. Out: what a person has to enter first.

use std::collections::{BTreeSet, HashSet};

use super::bindings::Bindings;
use super::built::BuiltColumn;
use super::findings::reason_of;
use super::rewrite::{EmptiedField, object_of};
use crate::apply::DraftReason;
use crate::automation::{self, Automation, Environment, Setting};
use crate::definitions::{ConfigFault, Definitions, ReferenceKind};
use crate::finding::Severity;
use crate::json::path::{dotted, find, push_dotted};
use crate::json::{Node, Object, Value};
use crate::package::Tool;
use crate::package::configs::{
    ConfigSpot, ConfigVisitor, Declared, walk_args, with_args, with_sorted_args,
};
use crate::package::model::{Action, Manifest, WireWord as _};
use crate::workspace::{Id, RecordKind, Structure};

use indexmap::IndexMap;

/// Checks whether an automation can go live at the destination.
pub(super) struct CompletenessCheck<'a, 'p> {
    pub(super) manifest: &'a Manifest,
    pub(super) destination: &'a Structure,
    /// Records that go by this apply: nothing can need them.
    pub(super) gone: &'a HashSet<Id>,
    pub(super) bindings: &'a Bindings<'p>,
    pub(super) columns: &'a IndexMap<&'p str, BuiltColumn>,
    pub(super) definitions: &'a Definitions,
}

/// An automation at the destination.
#[derive(Debug, Clone, Copy)]
pub(super) struct AppliedAutomation<'a, 'p> {
    /// uid of its item.
    pub(super) uid: &'a str,
    /// Its id at the destination.
    pub(super) id: Id,
    /// The args of its step without refs, or what people have made of it since.
    pub(super) args: &'a Object,
    /// Fields that this apply empties.
    pub(super) emptied: &'a [EmptiedField<'p>],
    /// Whether people may have filled fields in since: a field with a value is complete.
    pub(super) since: bool,
}

impl CompletenessCheck<'_, '_> {
    /// What keeps it from going live, one entry for each path; nothing when it is whole.
    pub(super) fn missing(&self, arriving: AppliedAutomation<'_, '_>) -> Vec<DraftReason> {
        let named = self.named(arriving);
        let checked = with_sorted_args(arriving.args, |root| {
            let mut missing = Missing::default();
            for (path, reason) in &named {
                let filled = find(root, path).is_some_and(|node| !node.is_empty());
                if !(arriving.since && filled) {
                    missing.add(path.clone(), reason);
                }
            }
            let mut secrets = EmptySecrets {
                root,
                paths: Vec::new(),
            };
            let tool = Tool::CreateWorkflowV2;
            walk_args(self.definitions, tool, root, Declared::Other, &mut secrets);
            for path in secrets.paths {
                missing.add(path, "secret_empty");
            }
            let around = DestinationEnvironment {
                arrival: self,
                own: arriving.id.to_string(),
            };
            let automation = Automation::of_args(root);
            for issue in automation::validate(self.definitions, &automation, &around) {
                if issue.finding.severity == Severity::Error {
                    let path = path_of(&issue.finding.place.pointer, issue.absent.as_deref());
                    missing.add(path, issue.code());
                }
            }
            missing.0
        });
        // What cannot be read cannot run.
        checked.unwrap_or_else(|error| {
            vec![DraftReason {
                path: "graphConfig".to_owned(),
                reason: error.kind.to_string(),
            }]
        })
    }

    /// What is wrong with an automation at the destination, whether it is whole or not.
    pub(super) fn errors(&self, id: Id, config: &Value) -> BTreeSet<String> {
        let args = object_of(Some(config));
        let checked = with_args(&args, |root| {
            let around = DestinationEnvironment {
                arrival: self,
                own: id.to_string(),
            };
            let automation = Automation::of_args(root);
            let issues = automation::validate(self.definitions, &automation, &around);
            let errors = issues.into_iter();
            let errors = errors.filter(|issue| issue.finding.severity == Severity::Error);
            let errors = errors.map(|issue| format!("{} {}", issue.code(), issue.finding.message));
            errors.collect()
        });
        checked.unwrap_or_else(|error| BTreeSet::from([error.kind.to_string()]))
    }

    /// Fields that the package or this apply says it has taken something out of, with the reasons.
    fn named(&self, arriving: AppliedAutomation<'_, '_>) -> Vec<(String, &'static str)> {
        let layers = self.manifest.layers();
        let unresolved = layers.map_or(&[][..], |layers| &layers.unresolved);
        let lost = unresolved
            .iter()
            .filter(|entry| entry.uid == arriving.uid && entry.action != Action::Kept)
            .map(|entry| (entry.path.clone(), entry.reason.word()));
        let emptied = arriving
            .emptied
            .iter()
            .map(|emptied| (emptied.path.clone(), reason_of(&emptied.cause).word()));
        let redacted = layers.map_or(&[][..], |layers| &layers.redacted);
        let cleared = redacted
            .iter()
            .filter(|entry| entry.uid == arriving.uid)
            .map(|entry| (entry.path.clone(), "redacted"));
        lost.chain(emptied).chain(cleared).collect()
    }

    /// Whether the workspace has a record of that kind when this apply has ended.
    fn has(&self, kind: RecordKind, id: Id) -> bool {
        if self.gone.contains(&id) {
            return false;
        }
        let made = self.bindings.records();
        let mut made = made.filter(|record| record.kind == kind && record.id == id);
        made.next().is_some()
            || match kind {
                RecordKind::Feature => self.destination.feature(id).is_some(),
                RecordKind::Workflow => {
                    let mut automations = self.destination.automations.iter();
                    automations.any(|found| found.id == id)
                }
                _ => false,
            }
    }
}

/// Entries in the order in which they are found; of a path the first.
#[derive(Default)]
struct Missing(Vec<DraftReason>);

impl Missing {
    fn add(&mut self, path: String, reason: &str) {
        if !self.0.iter().any(|known| known.path == path) {
            let reason = reason.to_owned();
            self.0.push(DraftReason { path, reason });
        }
    }
}

/// Secrets that are there and empty.
struct EmptySecrets<'d> {
    root: Node<'d>,
    paths: Vec<String>,
}

impl<'d> ConfigVisitor<'d, '_> for EmptySecrets<'d> {
    fn spot(&mut self, spot: ConfigSpot<'d, '_>) {
        if spot.field.secret && spot.node.as_str() == Some("") {
            self.paths.push(dotted(self.root, spot.node));
        }
    }

    fn fault(&mut self, _problem: ConfigFault<'d, '_>, _automation: bool) {}
}

/// The workspace as it is when this apply has ended, for the validator.
struct DestinationEnvironment<'a, 'b, 'p> {
    arrival: &'a CompletenessCheck<'b, 'p>,
    own: String,
}

impl Environment for DestinationEnvironment<'_, '_, '_> {
    fn setting(&self) -> Setting {
        Setting::Rest
    }

    fn own_identity(&self) -> Option<&str> {
        Some(&self.own)
    }

    fn exists(&self, kind: ReferenceKind, value: &str) -> Option<bool> {
        let id = Id::try_parse(value).ok();
        let has = |kind| id.is_some_and(|id| self.arrival.has(kind, id));
        match kind {
            ReferenceKind::Feature => Some(has(RecordKind::Feature)),
            ReferenceKind::WorkflowV2 => Some(has(RecordKind::Workflow)),
            ReferenceKind::Channel => {
                let channels = self.arrival.destination.organization.channels.as_ref()?;
                Some(channels.iter().any(|channel| Some(channel.id) == id))
            }
            ReferenceKind::File | ReferenceKind::User => {
                let unseen = &self.arrival.destination.unseen;
                id.is_some_and(|id| unseen.contains(&id)).then_some(false)
            }
            _ => None,
        }
    }

    fn columns(&self, table: &str) -> Option<Vec<String>> {
        let id = Id::try_parse(table).ok()?;
        if !self.arrival.has(RecordKind::Feature, id) {
            return None;
        }
        let stored = self.arrival.destination.feature(id);
        let stored = stored.into_iter().flat_map(|table| &table.columns);
        let stored = stored.filter(|column| !self.arrival.gone.contains(&column.id));
        let built = self.arrival.columns.values();
        let built = built.filter(|built| built.feature == id);
        let all = stored.chain(built.map(|built| &built.column));
        Some(all.map(|column| column.name.clone()).collect())
    }
}

/// A pointer into the args, and what is missing there, as a dotted path.
fn path_of(pointer: &str, absent: Option<&str>) -> String {
    let mut path = String::new();
    for token in pointer.split('/').skip(1) {
        push_dotted(&mut path, &token.replace("~1", "/").replace("~0", "~"));
    }
    if let Some(absent) = absent {
        push_dotted(&mut path, absent);
    }
    path
}
