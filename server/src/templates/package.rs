//! A whole package, put together from what the store keeps of it.

use tplkit::json::{Doc, Node};

use super::record::Record;
use crate::http::problem::Problem;
use crate::store::{StoreError, Tx};

/// A package as the store has it.
#[derive(Debug)]
pub(crate) struct Package {
    manifest: String,
    entries: Vec<String>,
    /// Members beside the two.
    beside: String,
}

/// What stands between two members of a package.
pub(super) const BETWEEN: &str = ",\n  ";

impl Package {
    /// Of its parts, each as it is written.
    pub(super) fn of(manifest: String, entries: Vec<String>, beside: String) -> Package {
        Package {
            manifest,
            entries,
            beside,
        }
    }

    /// With another manifest.
    pub(super) fn with_manifest(self, manifest: String) -> Package {
        Package { manifest, ..self }
    }

    /// The canonical text of the whole file. The parts go as they are written.
    pub(crate) fn text(mut self) -> String {
        let parts = self.entries.iter().map(|entry| entry.len() + 8);
        let mut text = String::with_capacity(self.manifest.len() + parts.sum::<usize>() + 64);
        // An empty list would say that the rows are lost; without one they did not come yet.
        let awaited = self.entries.is_empty() && announces_rows(&self.manifest);
        text.push_str("{\n  \"manifest\": ");
        text.push_str(&self.manifest);
        drop(std::mem::take(&mut self.manifest));
        if !awaited {
            self.put_entries(&mut text);
        }
        if !self.beside.is_empty() {
            text.extend([BETWEEN, &self.beside]);
        }
        text.push_str("\n}\n");
        text
    }

    fn put_entries(&mut self, text: &mut String) {
        text.extend([BETWEEN, "\"payloads\": ["]);
        let mut before = "\n    ";
        let any = !self.entries.is_empty();
        for entry in std::mem::take(&mut self.entries) {
            text.push_str(before);
            text.push_str(&entry);
            before = ",\n    ";
        }
        text.push_str(if any { "\n  ]" } else { "]" });
    }
}

impl Package {
    /// Its manifest.
    pub(super) fn manifest(&self) -> &str {
        &self.manifest
    }
}

fn announces_rows(manifest: &str) -> bool {
    let Ok(doc) = Doc::parse(manifest) else {
        return false;
    };
    let items = doc.root().get("items").into_iter().flat_map(Node::elements);
    items
        .into_iter()
        .any(|item| item.get_str("kind") == Some("rows"))
}

/// Reads the package of a template that the caller sees, in one statement, so that what is read was
/// there at one time.
///
/// # Errors
/// 404 when it is gone.
pub(crate) async fn read(tx: &mut Tx, template: &Record) -> Result<Package, Problem> {
    let sql = "SELECT CAST(-1 AS bigint) AS part, manifest, beside FROM templates \
         WHERE {catalog organization_id visibility} AND organization_id = $1 AND id = $2 \
         UNION ALL SELECT position, entry, '' FROM template_payloads \
         WHERE {catalog organization_id visibility} AND organization_id = $1 AND template_id = $2 \
         ORDER BY part";
    let parameters = [template.organization_id.into(), template.id.into()];
    let mut rows = tx.last(sql, &parameters).await?.into_iter();
    let manifest = rows.next().ok_or_else(Problem::not_found)?;
    if manifest.get::<i64>(0)? >= 0 {
        return Err(Problem::not_found());
    }
    let entries = rows.map(|row| row.get(1));
    Ok(Package {
        manifest: manifest.get(1)?,
        beside: manifest.get(2)?,
        entries: entries.collect::<Result<_, StoreError>>()?,
    })
}
