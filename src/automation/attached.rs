//! The files that steps of a graph name.

use uuid::Uuid;

use super::step_walk::each_step;
use crate::definitions::{Definitions, ReferenceKind};
use crate::json::Value;
use crate::rows::file_id_of;

/// The ids in fields of steps that the definitions declare as references to files, each once.
pub fn attached_files(definitions: &Definitions, graph: &Value) -> Vec<Uuid> {
    let mut ids = Vec::new();
    each_step(definitions, &mut graph.clone(), &mut |_, step| {
        let key = step.get("key").and_then(Value::as_str).unwrap_or_default();
        let (Some(declared), Some(config)) = (definitions.steps.get(key), step.get("config"))
        else {
            return;
        };
        let files = declared.config.iter().filter(|(_, field)| {
            let reference = field.reference.as_ref();
            reference.is_some_and(|reference| reference.kind == ReferenceKind::File)
        });
        let named = files.filter_map(|(name, _)| file_id_of(config.get(name)?.as_str()?));
        ids.extend(named);
    });
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::attached_files;
    use crate::definitions::Definitions;
    use crate::json::Value;

    #[test]
    fn files_are_found_in_branches_too() {
        let graph = r#"{"steps": [
            {"key": "email.send", "config": {"to": "a", "attachmentFileId": "3F0C5B1E-9f5d-4d8e-8a47-2f5b8d1f0a11"}},
            {"key": "ifElse", "config": {"then": [
                {"key": "email.send", "config": {"attachmentFileId": "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11"}},
                {"key": "email.send", "config": {"attachmentFileId": "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a22"}}],
                "else": [{"key": "notify", "config": {"attachmentFileId": "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a33"}}]}},
            {"key": "email.send", "config": {"attachmentFileId": "", "mailboxId": "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a44"}}]}"#;
        let graph = Value::parse(graph).expect("JSON");
        let found = attached_files(Definitions::embedded(), &graph);
        let ends: Vec<String> = found
            .iter()
            .map(|id| id.to_string()[34..].to_owned())
            .collect();
        assert_eq!(ends, ["11", "22"]);
    }
}
