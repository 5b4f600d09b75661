//! Edits of several documents in the form that the client understands.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::documents::Documents;

/// What the client can do with a `WorkspaceEdit`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EditSupport {
    /// Edits with the versions of their documents.
    pub(super) document_changes: bool,
    /// Renames of files among them.
    pub(super) renames: bool,
    /// New files among them.
    pub(super) creates: bool,
}

impl EditSupport {
    /// Reads the capabilities of a client.
    pub(super) fn read(capabilities: &Value) -> EditSupport {
        let edit = capabilities.pointer("/workspace/workspaceEdit");
        let flag = edit.and_then(|edit| edit.get("documentChanges"));
        let operations = edit
            .and_then(|edit| edit.get("resourceOperations"))
            .and_then(Value::as_array);
        let offers =
            |name: &str| operations.is_some_and(|kinds| kinds.iter().any(|kind| kind == name));
        let (renames, creates) = (offers("rename"), offers("create"));
        EditSupport {
            // Who renames or makes files has to take them in this form.
            document_changes: renames || creates || flag.and_then(Value::as_bool) == Some(true),
            renames,
            creates,
        }
    }
}

/// Edits of documents, by URI, as one `WorkspaceEdit`.
pub(super) fn workspace_edit(
    edits: BTreeMap<String, Vec<Value>>,
    documents: &Documents,
    support: EditSupport,
) -> Value {
    if support.document_changes {
        return json!({"documentChanges": document_changes(edits, documents)});
    }
    json!({"changes": edits})
}

/// The same as a list, to which file operations may be added.
pub(super) fn document_changes(
    edits: BTreeMap<String, Vec<Value>>,
    documents: &Documents,
) -> Vec<Value> {
    let changes = edits.into_iter().map(|(uri, edits)| {
        let version = documents.version(&uri);
        json!({"textDocument": {"uri": uri, "version": version}, "edits": edits})
    });
    changes.collect()
}
