//! The files that steps of a graph name, and what else they name by id.

use uuid::Uuid;

use super::step_walk::read_steps;
use crate::definitions::{Definitions, ReferenceKind};
use crate::json::Value;
use crate::rows::file_id_of;

/// The ids in fields of steps that the definitions declare as references to files, each once.
pub fn attached_files(definitions: &Definitions, graph: &Value) -> Vec<Uuid> {
    named_in_steps(definitions, graph, ReferenceKind::File)
}

/// The ids in fields of steps that the definitions declare as references to that kind, each once.
pub fn named_in_steps(definitions: &Definitions, graph: &Value, kind: ReferenceKind) -> Vec<Uuid> {
    let mut ids = Vec::new();
    read_steps(definitions, graph, &mut |step| {
        let key = step.get("key").and_then(Value::as_str).unwrap_or_default();
        let (Some(declared), Some(config)) = (definitions.steps.get(key), step.get("config"))
        else {
            return;
        };
        let text = |name: &str| config.get(name).and_then(Value::as_str);
        let of_kind = declared.config.iter().filter(|(_, field)| {
            let reference = field.reference_with(text);
            reference.is_some_and(|reference| reference.kind == kind)
        });
        // All ids are written as those of files are.
        ids.extend(of_kind.filter_map(|(name, _)| file_id_of(text(name)?)));
    });
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::{attached_files, named_in_steps};
    use crate::definitions::{Definitions, ReferenceKind};
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

    #[test]
    fn a_field_names_what_its_siblings_say() {
        let graph = r#"{"steps": [
            {"key": "notify", "config": {"scopeType": "user", "scopeId": "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11"}},
            {"key": "notify", "config": {"scopeType": "channel", "scopeId": "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a22"}}]}"#;
        let graph = Value::parse(graph).expect("JSON");
        for (kind, end) in [(ReferenceKind::User, "11"), (ReferenceKind::Channel, "22")] {
            let found = named_in_steps(Definitions::embedded(), &graph, kind);
            let [only] = found.as_slice() else {
                panic!("{found:?}")
            };
            assert!(only.to_string().ends_with(end), "{only}");
        }
    }
}
