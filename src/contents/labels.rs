//! What people call the things that refs name.

use std::collections::HashMap;

use super::{halves, list};
use crate::json::Node;
use crate::package::reference::undollared;

/// Labels by ref, without the dollar: of items, columns, dependencies and their columns.
pub fn labels(root: Node<'_>) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let (manifest, _) = halves(root);
    for item in list(manifest, "items") {
        note(&mut found, item, item);
    }
    let plan = manifest.get("plan");
    for step in plan.into_iter().flat_map(|plan| list(plan, "steps")) {
        note(&mut found, step, step.get("args").unwrap_or(step));
    }
    for dependency in list(manifest, "dependencies") {
        let identity = dependency.get("identity").unwrap_or(dependency);
        note(&mut found, dependency, identity);
        for column in list(identity, "columns") {
            note(&mut found, column, column);
        }
    }
    found
}

/// Notes what `of` is called: by its label, else by its name. What was noted first stays.
fn note(found: &mut HashMap<String, String>, of: Node<'_>, named: Node<'_>) {
    let called = named.get_str("label").or_else(|| named.get_str("name"));
    if let (Some(reference), Some(called)) = (of.get_str("ref"), called) {
        let reference = undollared(reference).to_owned();
        found.entry(reference).or_insert_with(|| called.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::labels;
    use crate::json::Doc;

    #[test]
    fn items_columns_and_dependencies_have_labels() {
        let text = r#"{"templateVersion": 2,
            "items": [{"ref": "$f_a", "label": "Clients"}, {"label": "rows have no ref"}],
            "plan": {"steps": [
                {"ref": "f_a", "args": {"label": "another"}},
                {"ref": "c_a_b", "args": {"label": "Due on", "name": "due_on"}},
                {"ref": "w_a", "args": {"name": "Remind"}}]},
            "dependencies": [{"ref": "f_x", "identity": {"name": "costs", "columns": [{"ref": "c_x_y", "name": "code"}]}}]}"#;
        let doc = Doc::parse(text).expect("JSON");
        let found = labels(doc.root());
        let of = |reference: &str| found.get(reference).map(String::as_str);
        assert_eq!(of("f_a"), Some("Clients"));
        assert_eq!(of("c_a_b"), Some("Due on"));
        assert_eq!(of("w_a"), Some("Remind"));
        assert_eq!(of("f_x"), Some("costs"));
        assert_eq!(of("c_x_y"), Some("code"));
        assert_eq!(found.len(), 5);
    }
}
