//! What the report of an apply is held to.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::TestFailure;
use crate::apply::{Preview, Report};
use crate::definitions::ReferenceKind;
use crate::package::model::Manifest;
use crate::workspace::RecordKind;

/// How many are expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Amount {
    /// All together.
    Sum(u64),
    /// By kind or ref.
    Each(BTreeMap<String, u64>),
}

/// What is expected of an apply; nothing of what is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expectations {
    /// By the name of the number.
    pub amounts: BTreeMap<String, Amount>,
}

/// What can be expected.
const NAMES: [&str; 7] = [
    "created",
    "inserted",
    "updated",
    "structure_updated",
    "renamed",
    "unresolved",
    "not_published",
];

/// Numbers by kind and ref.
#[derive(Debug, Default)]
struct CountsByName {
    sum: u64,
    by: HashMap<String, u64>,
}

impl CountsByName {
    fn add(&mut self, count: u64, kind: &str, reference: &str) {
        self.sum += count;
        for name in HashSet::from([kind, reference]) {
            *self.by.entry(name.to_owned()).or_default() += count;
        }
    }
}

impl Expectations {
    /// The names of everything that can be expected.
    pub fn names() -> [&'static str; 7] {
        NAMES
    }

    /// What a number can be given by: kinds, and what the package calls its things. Of anything else there would always
    /// be none.
    pub fn keys(manifest: &Manifest) -> HashSet<&str> {
        let kinds = ReferenceKind::ALL.iter().map(|kind| kind.as_str());
        let kinds = kinds.chain([RecordKind::Workspace.as_str(), "rows"]);
        let mut keys: HashSet<&str> = kinds.collect();
        for item in manifest.items() {
            keys.extend(item.reference.as_deref());
            keys.insert(&item.uid);
        }
        for step in &manifest.plan.steps {
            keys.extend(step.reference.as_deref());
            keys.insert(&step.uid);
        }
        let dependencies = manifest.dependencies().iter();
        keys.extend(dependencies.map(|dependency| dependency.reference.as_str()));
        keys.extend(manifest.plan.external_refs.iter().map(String::as_str));
        keys.insert(&manifest.plan.id);
        keys
    }

    /// Compares, and notes what is otherwise.
    pub(super) fn compare(
        &self,
        manifest: &Manifest,
        preview: &Preview,
        report: &Report,
        failures: &mut Vec<TestFailure>,
    ) {
        for (name, amount) in &self.amounts {
            let counted = counted(name, manifest, preview, report);
            match amount {
                Amount::Sum(sum) if *sum != counted.sum => {
                    let path = format!("expect.{name}");
                    failures.push(TestFailure::new(path, number(*sum), number(counted.sum)));
                }
                Amount::Sum(_) => {}
                Amount::Each(each) => {
                    for (key, expected) in each {
                        let found = counted.by.get(key).copied().unwrap_or_default();
                        if found != *expected {
                            let mut path = format!("expect.{name}");
                            crate::json::path::push_dotted(&mut path, key);
                            failures.push(TestFailure::new(path, number(*expected), number(found)));
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn number(count: u64) -> crate::json::Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

fn counted(name: &str, manifest: &Manifest, preview: &Preview, report: &Report) -> CountsByName {
    let mut counted = CountsByName::default();
    match name {
        "created" => {
            let items = manifest.items().iter();
            let items: HashSet<&str> = items.filter_map(|item| item.reference.as_deref()).collect();
            for made in &preview.create {
                // Of what a blueprint makes the table is the thing.
                let is_item = items.contains(made.reference.as_str());
                if is_item || made.kind == RecordKind::Feature {
                    counted.add(1, made.kind.as_str(), &made.reference);
                }
            }
        }
        "inserted" | "updated" => {
            for (reference, table) in &report.rows {
                let count = if name == "inserted" {
                    table.inserted
                } else {
                    table.updated
                };
                counted.add(count, "rows", reference);
            }
        }
        "structure_updated" => {
            for update in &preview.update {
                counted.add(1, update.kind.as_str(), &update.reference);
            }
            counted.sum = report.structure_updated;
        }
        "renamed" => {
            for renamed in &report.renamed {
                counted.add(1, renamed.kind.as_str(), &renamed.reference);
            }
        }
        "unresolved" => {
            let refs = manifest.items().iter();
            let refs: HashMap<&str, &str> = refs
                .filter_map(|item| Some((item.uid.as_str(), item.reference.as_deref()?)))
                .collect();
            for entry in &report.unresolved {
                let item = refs.get(entry.uid.as_str()).copied();
                counted.add(1, &entry.kind, item.unwrap_or(entry.uid.as_str()));
                if let Some(dependency) = &entry.reference {
                    *counted.by.entry(dependency.clone()).or_default() += 1;
                }
            }
        }
        _ => {
            for draft in &report.not_published {
                counted.add(1, RecordKind::Workflow.as_str(), &draft.reference);
            }
        }
    }
    counted
}
