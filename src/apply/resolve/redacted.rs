//! The secrets that the export cleared, under the names of their records at the destination.

use super::bindings::Bindings;
use crate::apply::RedactedField;
use crate::check::Checked;
use crate::package::reference::WORKSPACE;

/// All fields that the package names; of a record that nobody binds its name is the label.
pub(super) fn fields(package: &Checked<'_>, bindings: &Bindings<'_>) -> Vec<RedactedField> {
    let manifest = &package.manifest;
    let entries = manifest.layers().map_or(&[][..], |layers| &layers.redacted);
    let field = |entry: &crate::package::model::Redacted| {
        let item = manifest.items().iter().find(|item| item.uid == entry.uid);
        let reference = match item {
            Some(item) => item.reference.as_deref()?,
            None => WORKSPACE,
        };
        let record = bindings.record(reference).map(|record| &record.name);
        let name = record.or(item.map(|item| &item.label));
        Some(RedactedField {
            reference: reference.to_owned(),
            name: name.cloned().unwrap_or_default(),
            path: entry.path.clone(),
            reason: entry.reason.clone(),
        })
    };
    entries.iter().filter_map(field).collect()
}
