//! Builds the package of `tplkit new`: small, without findings, ready for promotion.

use serde_json::{Value, json};

use crate::context::{Clock, Ids};
use crate::definitions::Definitions;
use crate::package::model::{ItemKind, WireWord as _};
use crate::package::schema::schema_id;
use crate::package::summary;

/// A name that no package can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` has no letter or digit to make a technical name of")]
pub struct BadName(pub String);

/// A package called `name`: one table with three columns and a view, a module and a rail that
/// leads to it, and two rows to show the form.
pub fn package(name: &str, clock: &dyn Clock, ids: &mut dyn Ids) -> Result<Value, BadName> {
    let slug = slug(name).ok_or_else(|| BadName(name.to_owned()))?;
    let label = name.trim();
    let now = clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let [table, title, done, notes, view, module, rail, rows] = std::array::from_fn(|_| ids.uid());
    let item = |uid: &str, kind: &str, reference: &str, label: &str| json!({"uid": uid, "kind": kind, "ref": reference, "label": label});
    let child = |uid: &str, kind: &str, reference: &str, label: &str, parent: &str| json!({"uid": uid, "kind": kind, "ref": reference, "label": label, "parent": parent});
    let items = json!([
        item(&table, "feature", "f_tasks", "Tasks"),
        child(&title, "column", "c_tasks_title", "Title", &table),
        child(&done, "column", "c_tasks_done", "Done", &table),
        child(&notes, "column", "c_tasks_notes", "Notes", &table),
        {"uid": rows, "kind": "rows", "label": "Tasks", "parent": table, "count": 2, "dataClass": "transactional"},
        child(&view, "view", "v_tasks", "All tasks", &table),
        item(&module, "module", "m_main", label),
        child(&rail, "rail", "r_tasks", "Tasks", &module),
    ]);
    let steps = steps(label, ids);
    let mut row = |data: Value| json!({"uid": ids.uid(), "data": data});
    let rows = json!([
        row(json!({"title": "Read this package", "done": true})),
        row(
            json!({"title": "Make it yours", "done": false, "notes": "Rename the table, add columns, then run `tplkit check`."})
        ),
    ]);
    Ok(json!({
        "$schema": schema_id("package"),
        "manifest": {
            "name": slug,
            "label": label,
            "description": "One table to begin with.",
            "scope": "workspace",
            "semver": "0.1.0",
            "visibility": "org",
            "templateVersion": 2,
            "source": {
                "workspaceName": label,
                "generatedAt": now,
                "definitionsVersion": Definitions::embedded().version,
            },
            "items": items,
            "dependencies": [],
            "unresolved": [],
            "redacted": [],
            "plan": {
                "planVersion": 1,
                "id": ids.uid(),
                "summary": summary(&items),
                "target": {"workspaceId": "$workspace"},
                "metadata": {"source": "export", "generatedAt": now},
                "externalRefs": [],
                "steps": steps,
            },
        },
        "payloads": [{
            "featureRef": "f_tasks",
            "itemUid": items_rows_uid(&items),
            "count": 2,
            "keyColumn": "title",
            "keyUnique": true,
            "columns": ["title", "done", "notes"],
            "rows": rows,
        }],
    }))
}

/// The sentence of the plan, as exporters write it.
fn summary(items: &Value) -> String {
    let items = items.as_array().into_iter().flatten();
    let (mut kinds, mut rows) = (Vec::new(), Vec::new());
    for item in items {
        match (
            item["kind"].as_str().and_then(ItemKind::parse),
            item["count"].as_u64(),
        ) {
            (Some(ItemKind::Rows), Some(count)) => {
                rows.push((item["label"].as_str().unwrap_or_default(), count));
            }
            (kind, _) => kinds.extend(kind),
        }
    }
    summary::sentence(&kinds, &rows)
}

/// The uid of the rows item among `items`.
fn items_rows_uid(items: &Value) -> Value {
    let rows = items
        .as_array()
        .into_iter()
        .flatten()
        .find(|item| item["kind"] == "rows");
    rows.map_or(Value::Null, |item| item["uid"].clone())
}

fn steps(label: &str, ids: &mut dyn Ids) -> Vec<Value> {
    let mut step = |tool: &str, reference: &str, args: Value| json!({"uid": ids.uid(), "tool": tool, "ref": reference, "args": args});
    let column = |name: &str, label: &str, kind: &str, component: &str, order: u32| json!({"featureId": "$f_tasks", "name": name, "label": label, "type": kind, "defaultComponent": component, "order": order});
    vec![
        step(
            "create_feature",
            "f_tasks",
            json!({"workspaceId": "$workspace", "name": "tasks", "label": "Tasks"}),
        ),
        step(
            "create_column",
            "c_tasks_title",
            column("title", "Title", "text", "textfield", 1),
        ),
        step(
            "create_column",
            "c_tasks_done",
            column("done", "Done", "boolean", "checkbox", 2),
        ),
        step(
            "create_column",
            "c_tasks_notes",
            column("notes", "Notes", "long_text", "textarea", 3),
        ),
        step(
            "create_view",
            "v_tasks",
            json!({"featureId": "$f_tasks", "name": "all_tasks", "label": "All tasks", "type": "table", "config": [{}]}),
        ),
        step(
            "create_module",
            "m_main",
            json!({"workspaceId": "$workspace", "name": "main", "label": label}),
        ),
        step(
            "create_rail",
            "r_tasks",
            json!({
                "moduleId": "$m_main",
                "name": "tasks",
                "label": "Tasks",
                "config": [{"views": ["$v_tasks"], "defaultViewId": "$v_tasks"}],
            }),
        ),
    ]
}

/// Letters and digits in lower case, everything between them one hyphen.
fn slug(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let slug: String = words.join("-").chars().take(63).collect();
    (!slug.is_empty()).then(|| slug.trim_end_matches('-').to_owned())
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn slugs_are_technical_names() {
        assert_eq!(slug("Minha Oficina 2").as_deref(), Some("minha-oficina-2"));
        assert_eq!(slug("  École: été! ").as_deref(), Some("école-été"));
        assert_eq!(slug("…"), None);
        assert!(slug(&"a b".repeat(60)).is_some_and(|slug| slug.chars().count() <= 63));
    }
}
