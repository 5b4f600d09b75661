//! What people call the things that refs of a package name: `table "Clients", f_clients`.
//!
//! In: a package, and what a plan says of the destination. Out: labels, always with the ref, because decisions and
//! `--rows` take it. Where no label is known, the ref stands alone.

use std::collections::HashMap;

use tplkit::apply::Preview;
use tplkit::client::Client;
use tplkit::json::{Doc, Value};
use tplkit::package::model::{Manifest, Step};
use tplkit::printable;
use tplkit::workspace::RecordKind;

/// Labels by ref.
#[derive(Debug, Clone, Default)]
pub(crate) struct ItemTitles(HashMap<String, String>);

impl ItemTitles {
    /// Of a package.
    pub(crate) fn of_manifest(manifest: &Manifest) -> ItemTitles {
        let mut titles = ItemTitles::default();
        for item in manifest.items() {
            titles.note(item.reference.as_deref(), &item.label);
        }
        for step in &manifest.plan.steps {
            titles.note(step.reference.as_deref(), label(step));
        }
        for dependency in manifest.dependencies() {
            let identity = &dependency.identity;
            let called = identity.label.as_ref().unwrap_or(&identity.name);
            titles.note(Some(&dependency.reference), called);
            for column in identity.columns.iter().flatten() {
                titles.note(Some(&column.reference), &column.label);
            }
        }
        titles
    }

    /// Of a template; none where it may not be read.
    pub(crate) fn of_template(client: &Client, id: &str) -> ItemTitles {
        let manifest = template_manifest(client, id);
        manifest.map_or_else(ItemTitles::default, |manifest| {
            ItemTitles::of_manifest(&manifest)
        })
    }

    /// Also with what a plan says of things that the package does not have.
    pub(crate) fn with_plan(mut self, plan: &Preview) -> ItemTitles {
        for created in &plan.create {
            self.note(Some(&created.reference), &created.label);
        }
        for left in &plan.left {
            self.note(Some(&left.reference), &left.label);
        }
        for bound in &plan.bind {
            self.note(Some(&bound.reference), &bound.name);
        }
        self
    }

    /// What was noted first stays; an empty label is none.
    fn note(&mut self, reference: Option<&str>, label: &str) {
        if let Some(reference) = reference.filter(|_| !label.is_empty()) {
            let known = self.0.entry(reference.to_owned());
            known.or_insert_with(|| label.to_owned());
        }
    }

    /// `"Clients", f_clients`.
    pub(crate) fn of(&self, reference: &str) -> String {
        printable::line(&match self.0.get(reference) {
            Some(label) => format!("{label:?}, {reference}"),
            None => reference.to_owned(),
        })
    }

    /// `table "Clients", f_clients`.
    pub(crate) fn with_kind(&self, kind: RecordKind, reference: &str) -> String {
        format!("{} {}", kind.noun(), self.of(reference))
    }

    /// The same of a kind as documents name it; cells of a table are `rows`.
    pub(crate) fn with_word(&self, kind: &str, reference: &str) -> String {
        let known = RecordKind::parse(kind);
        let noun = known.map_or(kind, |known| known.noun());
        format!("{} {}", printable::line(noun), self.of(reference))
    }

    /// The label alone.
    pub(crate) fn label(&self, reference: &str) -> Option<&str> {
        self.0.get(reference).map(String::as_str)
    }
}

/// What a step calls what it makes.
fn label(step: &Step) -> &str {
    let text = |name: &str| match step.args.get(name) {
        Some(Value::String(text)) => Some(text.as_str()),
        _ => None,
    };
    text("label").or_else(|| text("name")).unwrap_or_default()
}

/// The manifest of a template; none where it may not be read.
pub(crate) fn template_manifest(client: &Client, id: &str) -> Option<Manifest> {
    let found = client.template(id).ok()?;
    let doc = Doc::parse_package(found.document.get()).ok()?;
    Manifest::read(doc.root().get("manifest")?).ok()
}
