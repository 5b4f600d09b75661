//! Names and labels that records get because theirs are none that a workspace takes.

use serde_json::{Value as Json, json};

use crate::apply::Approved;
use crate::apply::test_packages::{Pack, apply, empty};
use crate::workspace::{Change, New};

fn renamed(approved: &Approved) -> Vec<(&str, &str, &str)> {
    let renamed = approved.renamed.iter();
    renamed
        .map(|one| (&*one.reference, &*one.from, &*one.to))
        .collect()
}

/// A table with columns of these names and components.
fn columns(columns: &[(&str, &str)]) -> Pack {
    columns_behind(Pack::new(), columns)
}

/// The same behind other tables.
fn columns_behind(pack: Pack, columns: &[(&str, &str)]) -> Pack {
    let mut pack = pack.table("t");
    for (at, (name, component)) in columns.iter().enumerate() {
        let args = json!({"featureId": "$f_t", "name": name, "label": name, "type": "text",
            "defaultComponent": component, "order": at + 1});
        pack = pack.create("create_column", &format!("c_t_{at}"), args);
    }
    pack
}

#[test]
fn names_of_what_every_row_has_are_taken() {
    let pack = columns(&[
        ("created_at", "textfield"),
        ("updated_at", "textfield"),
        ("id", "textfield"),
        ("id_2", "textfield"),
    ]);
    let row = json!({"created_at": "x", "id": "y"});
    let pack = pack.rows("t", None, &[(row, Json::Null)]);
    let approved = apply(&pack, "{}", &empty()).expect("approved");
    assert_eq!(
        renamed(&approved),
        [
            ("c_t_0", "created_at", "created_at_2"),
            ("c_t_1", "updated_at", "updated_at_2"),
            ("c_t_2", "id", "id_3"),
        ]
    );
    // Cells are written under the new names.
    let works = approved.tables[0].columns.iter();
    let works: Vec<_> = works
        .map(|work| (&*work.package_name, &*work.column.name))
        .collect();
    assert_eq!(works, [("created_at", "created_at_2"), ("id", "id_3")]);
}

#[test]
fn an_identity_may_be_called_id_and_a_table_like_a_field_of_rows() {
    let tables = Pack::new().table("created_at");
    let pack = columns_behind(tables, &[("id", "id"), ("ID", "textfield")]);
    let approved = apply(&pack, "{}", &empty()).expect("approved");
    assert_eq!(renamed(&approved), []);
}

#[test]
fn what_has_no_label_has_its_name_for_one() {
    let table = json!({"workspaceId": "$workspace", "name": "t", "label": ""});
    let column = json!({"featureId": "$f_t", "name": "created_at", "label": "", "type": "text",
        "defaultComponent": "textfield", "order": 1});
    let module = json!({"workspaceId": "$workspace", "name": "m", "label": ""});
    let pack = Pack::new()
        .create("create_feature", "f_t", table)
        .create("create_column", "c_t_a", column)
        .create("create_module", "m_m", module);
    let approved = apply(&pack, "{}", &empty()).expect("approved");
    let labels = approved.structure.changes.iter();
    let labels: Vec<&str> = labels
        .filter_map(|change| match change {
            Change::Create(New::Feature(made)) => Some(&*made.label),
            Change::Create(New::Column { column, .. }) => Some(&*column.label),
            Change::Create(New::Module(made)) => Some(&*made.label),
            _ => None,
        })
        .collect();
    assert_eq!(labels, ["t", "created_at", "m"]);
}

#[test]
fn an_automation_without_a_name_has_the_tail_of_its_ref() {
    let args = json!({"workspaceId": "$workspace", "name": "", "label": "", "triggerConfig": {"type": "manual"},
        "graphConfig": {"steps": []}, "isDraft": true});
    let pack = Pack::new().create("create_workflow_v2", "w_tell_all", args);
    let approved = apply(&pack, "{}", &empty()).expect("approved");
    let [Change::Create(New::Workflow(made))] = approved.structure.changes.as_slice() else {
        panic!("{:?}", approved.structure.changes)
    };
    assert_eq!(made.name, "tell_all");
    assert_eq!(approved.structure.entry.created[0].name, "tell_all");
    assert_eq!(renamed(&approved), [("w_tell_all", "", "tell_all")]);
}
