//! A package as tests look at it.

use serde_json::Value;
use tplkit::check::{CheckOptions, check_text};
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{ExportError, Fault, RowsSelection, Selection, export};
use tplkit::package::canonical;
use tplkit::workspace::memory::MemoryError;
use tplkit::workspace::ready;

use crate::space::Space;

/// Rows of all tables.
pub(crate) fn with_rows() -> Selection {
    Selection {
        rows: RowsSelection::All,
        ..Selection::default()
    }
}

pub(crate) fn try_export(
    space: &Space,
    selection: &Selection,
) -> Result<String, ExportError<MemoryError>> {
    try_export_with(space, selection, Definitions::embedded())
}

fn try_export_with(
    space: &Space,
    selection: &Selection,
    definitions: &Definitions,
) -> Result<String, ExportError<MemoryError>> {
    let clock = FixedClock("2026-03-01T09:30:00Z".parse().unwrap());
    let mut ids = Seeded::new(5);
    let exported = ready(export(
        &space.memory(),
        selection,
        &clock,
        &mut ids,
        definitions,
    ));
    exported.map(|exported| exported.text)
}

/// The package by a registry in which the value at a JSON Pointer is another.
pub(crate) fn exported_by(
    space: &Space,
    selection: &Selection,
    pointer: &str,
    value: Value,
) -> Exported {
    let mut registry = serde_json::to_value(Definitions::embedded()).unwrap();
    let (owner, key) = pointer.rsplit_once('/').unwrap();
    registry.pointer_mut(owner).unwrap()[key] = value;
    let definitions = Definitions::parse(&registry.to_string()).unwrap();
    let text = try_export_with(space, selection, &definitions).unwrap();
    assert_clean_by(&text, &[], &definitions);
    Exported(serde_json::from_str(&text).unwrap())
}

/// Why there is no package.
pub(crate) fn refused(space: &Space, selection: &Selection) -> Fault {
    match try_export(space, selection) {
        Err(ExportError::Fault(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

/// The package, which must be clean.
pub(crate) fn exported(space: &Space, selection: &Selection) -> Exported {
    exported_but(space, selection, &[])
}

/// The package, which may have the findings of these codes: they are about the source.
pub(crate) fn exported_but(space: &Space, selection: &Selection, codes: &[&str]) -> Exported {
    let text = try_export(space, selection).unwrap();
    assert_clean(&text, codes);
    let value: Value = serde_json::from_str(&text).unwrap();
    let manifest = value["manifest"].to_string();
    let id = tplkit::package::uid::foreign_uuid(&manifest);
    assert_eq!(id, None, "an id of the source travels");
    Exported(value)
}

/// No finding but of these codes, every promotion rule passed, canonical to the byte.
pub(crate) fn assert_clean(text: &str, codes: &[&str]) {
    assert_clean_by(text, codes, Definitions::embedded());
}

fn assert_clean_by(text: &str, codes: &[&str], definitions: &Definitions) {
    let options = CheckOptions {
        definitions,
        promotion: true,
        ..CheckOptions::default()
    };
    let report = check_text(text, &options);
    let findings: Vec<String> = report
        .findings
        .iter()
        .filter(|finding| !codes.contains(&finding.rule.code))
        .map(|one| format!("{} {} {}", one.rule.code, one.place.pointer, one.message))
        .collect();
    assert_eq!(findings, Vec::<String>::new(), "{text}");
    let verdicts = report.promotion.unwrap();
    assert!(verdicts.iter().all(|one| one.passed), "{verdicts:?}");
    assert_eq!(canonical::write(text).unwrap(), text);
}

/// A package.
pub(crate) struct Exported(pub(crate) Value);

impl Exported {
    pub(crate) fn list(&self, layer: &str) -> &[Value] {
        self.0["manifest"][layer].as_array().unwrap()
    }

    pub(crate) fn steps(&self) -> &[Value] {
        self.0["manifest"]["plan"]["steps"].as_array().unwrap()
    }

    /// The refs that the steps of a tool declare, or update.
    pub(crate) fn refs(&self, tool: &str) -> Vec<&str> {
        let steps = self.steps().iter().filter(|step| step["tool"] == tool);
        steps.map(subject).collect()
    }

    /// The args of the step that creates a ref.
    pub(crate) fn created(&self, reference: &str) -> &Value {
        let step = self.steps().iter().find(|step| step["ref"] == reference);
        &step.unwrap_or_else(|| panic!("nothing creates {reference}"))["args"]
    }

    /// The config of the step that updates a ref.
    pub(crate) fn updated(&self, reference: &str) -> Option<&Value> {
        let target = format!("${reference}");
        let updates = |step: &&Value| {
            let tool = step["tool"].as_str().unwrap();
            let args = step["args"].as_object().unwrap();
            tool.starts_with("update_") && args.values().any(|value| *value == target.as_str())
        };
        Some(&self.steps().iter().find(updates)?["args"]["config"])
    }

    /// The item of a ref.
    pub(crate) fn item(&self, reference: &str) -> &Value {
        let item = self
            .list("items")
            .iter()
            .find(|item| item["ref"] == reference);
        item.unwrap_or_else(|| panic!("no item has {reference}"))
    }

    /// The dependency of a ref.
    pub(crate) fn dependency(&self, reference: &str) -> &Value {
        let list = self.list("dependencies");
        let found = list.iter().find(|one| one["ref"] == reference);
        found.unwrap_or_else(|| panic!("no dependency has {reference}: {list:#?}"))
    }

    /// Each unresolved entry as `path kind form reason action`.
    pub(crate) fn unresolved(&self) -> Vec<String> {
        let entries = self.list("unresolved").iter();
        let text = |entry: &Value| {
            let keys = ["path", "kind", "form", "reason", "action"];
            keys.map(|key| entry[key].as_str().unwrap()).join(" ")
        };
        entries.map(text).collect()
    }

    /// The payload entry of a table.
    pub(crate) fn payload(&self, reference: &str) -> &Value {
        let mut entries = self.0["payloads"].as_array().unwrap().iter();
        entries
            .find(|entry| entry["featureRef"] == reference)
            .unwrap()
    }
}

/// The ref that a step declares, or updates.
fn subject(step: &Value) -> &str {
    let args = step["args"].as_object().unwrap();
    let target = args.iter().find(|(key, _)| key.ends_with("Id"));
    let target = target.and_then(|(_, value)| value.as_str());
    step["ref"].as_str().or(target).unwrap()
}
