//! Records that the package gives another name (`upgrade` 3.2.2).

use serde_json::{Value as Json, json};

use super::super::world::person;
use super::{Line, args, client, conflicts, updates, upgrade_body, v1, v2, with, without};
use crate::apply::{NotCarried, Preview};
use crate::json::Value;
use crate::workspace::RecordKind::{Column, Feature};
use crate::workspace::{Change, Id, New};

/// The column `note` of clients is `remark`, under another ref, with these values.
pub(super) fn remark(values: [&str; 3]) -> Json {
    v2(|package| {
        without(package, "c_clients_note");
        for (row, value) in values.into_iter().enumerate() {
            let cells = client(package, row).as_object_mut().expect("cells");
            cells.remove("note");
            cells.insert("remark".to_owned(), value.into());
        }
        package["payloads"][0]["columns"] = json!(["name", "city", "remark"]);
        with(
            package,
            "create_column",
            "c_clients_remark",
            json!({"featureId": "$f_clients", "name": "remark", "label": "remark", "type": "text", "defaultComponent": "textfield", "order": 9}),
        );
    })
}

fn rename() -> Json {
    json!({"c_clients_remark": "rename"})
}

/// What is not carried: ref, path, base and theirs.
fn names(left_out: &[NotCarried]) -> Vec<[&str; 4]> {
    fn text(value: Option<&Value>) -> &str {
        value.and_then(Value::as_str).unwrap_or_default()
    }
    let left_out = left_out.iter();
    left_out
        .map(|left| {
            let path = left.path.as_deref().unwrap_or_default();
            let [base, theirs] = [&left.base, &left.theirs].map(|side| text(side.as_ref()));
            [left.reference.as_str(), path, base, theirs]
        })
        .collect()
}

fn plan(line: &Line, package: &Json) -> Preview {
    line.plan(package, &upgrade_body(&Json::Null))
}

#[test]
fn cells_of_a_renamed_column_are_merged_with_what_was_applied() {
    let mut line = Line::new();
    // Of the first row another cell is other than it was applied, of the second this one, of the third none.
    line.cells(0, &json!({"city": "Ours"}));
    line.cells(1, &json!({"note": "Ours"}));
    let new = remark(["1 new", "2", "3 new"]);
    let planned = line.plan(&new, &upgrade_body(&rename()));
    assert_eq!(planned.conflicts, []);
    let rows = &planned.rows["f_clients"];
    assert_eq!((rows.update, rows.kept, rows.conflicts), (2, 2, 0));
    let report = line.upgrade(&new, &rename());
    assert_eq!(report.rows["f_clients"].updated, 2);
    let clients = line.clients();
    let holds =
        |row: usize, cells: [&str; 2]| cells.iter().all(|cell| clients[row].contains(*cell));
    assert!(
        holds(0, [r#""note":"1 new""#, "Ours"])
            && holds(1, [r#""note":"Ours""#, "Kiel"])
            && holds(2, [r#""note":"3 new""#, "Jena"]),
        "{clients:?}"
    );
    // Where both sides changed the cell its base is known.
    let third = remark(["1 new", "Theirs", "3 new"]);
    let planned = plan(&line, &third);
    let conflict = &planned.conflicts[0];
    let sides = [&conflict.base, &conflict.theirs, &conflict.ours].map(Value::as_str);
    assert_eq!(sides, [Some("2"), Some("Theirs"), Some("Ours")]);
    assert_eq!(planned.conflicts.len(), 1);
}

#[test]
fn a_plain_apply_counts_cells_by_the_name_that_they_have_in_each_package() {
    let mut line = Line::new();
    // The same ref under another name: it is bound by its ref.
    let new = v2(|package| {
        args(package, "c_clients_note")["name"] = "remark".into();
        for (row, value) in ["1", "2", "new"].into_iter().enumerate() {
            let cells = client(package, row).as_object_mut().expect("cells");
            cells.remove("note");
            cells.insert("remark".to_owned(), value.into());
        }
        package["payloads"][0]["columns"] = json!(["name", "city", "remark"]);
    });
    let report = line.apply(&new, "{}");
    let cells = report.not_carried.iter().filter(|left| left.kind == "rows");
    let cells: Vec<_> = cells
        .map(|left| (left.path.as_deref(), left.count))
        .collect();
    assert_eq!(cells, [(Some("rows[].data.remark"), Some(1))]);
    line.upgrade(&new, &Json::Null);
    assert!(line.clients()[2].contains(r#""note":"new""#));
}

#[test]
fn the_technical_name_stays_and_is_reported_until_it_is_the_base() {
    let new = remark(["1", "2", "3"]);
    let mut line = Line::new();
    let expected = ["c_clients_remark", "name", "note", "remark"];
    let planned = line.plan(&new, &upgrade_body(&rename()));
    assert_eq!(names(&planned.not_carried), [expected]);
    let report = line.upgrade(&new, &rename());
    assert_eq!(names(&report.not_carried), [expected]);
    assert_eq!(line.get(Column, "note").called(), "remark");
    let again = plan(&line, &new);
    assert_eq!(names(&again.not_carried), <[[&str; 4]; 0]>::default());
    assert_eq!((updates(&again), conflicts(&again)), (vec![], vec![]));
    // The ref is that of the package now.
    let third = {
        let mut third = remark(["1", "2", "3"]);
        args(&mut third, "c_clients_remark")["label"] = "Remark".into();
        third
    };
    assert_eq!(
        updates(&plan(&line, &third)),
        [("c_clients_remark", "label")]
    );
}

#[test]
fn the_same_ref_under_another_name_is_reported_whatever_people_call_it() {
    let new = v2(|package| args(package, "f_clients")["name"] = "customers".into());
    let mut line = Line::new();
    line.edit(Feature, "clients", |thing| {
        thing.label = Some("Ours".to_owned());
    });
    let expected = ["f_clients", "name", "clients", "customers"];
    assert_eq!(names(&plan(&line, &new).not_carried), [expected]);
    assert_eq!(names(&line.plan(&new, "{}").not_carried), [expected]);
    line.upgrade(&new, &Json::Null);
    assert!(line.thing(Feature, "customers").is_none());
    assert_eq!(plan(&line, &new).not_carried, []);
}

#[test]
fn a_name_that_was_taken_is_no_other_name_of_the_package() {
    let mut line = Line::empty();
    let taken = crate::workspace::Feature {
        id: Id::from_u128(77),
        name: "clients".to_owned(),
        label: "People's".to_owned(),
        config: crate::json::Object::new(),
        is_shared: false,
        columns: Vec::new(),
        views: Vec::new(),
    };
    person(&mut line.memory, vec![Change::Create(New::Feature(taken))]);
    line.apply(&v1(), "{}");
    assert!(line.thing(Feature, "clients_2").is_some());
    let planned = plan(&line, &v1());
    assert_eq!((planned.not_carried, planned.update), (vec![], vec![]));
    // A ref that the base lacks is known by the name in the package that was applied.
    let text = v1().to_string().replace("f_clients", "f_customers");
    let other: Json = serde_json::from_str(&text).expect("JSON");
    let planned = plan(&line, &other);
    assert_eq!((planned.create, planned.left), (vec![], vec![]));
}

/// The column `name` of clients, its key, is `title` under another ref, and no row has the uid that it had.
fn entitled() -> Json {
    let package = v2(|package| {
        args(package, "c_clients_name")["name"] = "title".into();
        for row in 0..3 {
            let cells = client(package, row).clone();
            *client(package, row) =
                json!({"title": cells["name"], "city": cells["city"], "note": cells["note"]});
        }
        client(package, 0)["city"] = "Ulm".into();
        package["payloads"][0]["columns"] = json!(["title", "city", "note"]);
        package["payloads"][0]["keyColumn"] = "title".into();
    });
    let text = (0..3).fold(package.to_string(), |text, row| {
        text.replace(&super::uid(6000 + row), &super::uid(7000 + row))
    });
    let text = text.replace("c_clients_name", "c_clients_title");
    let text = text.replace(r#""valueColumn":"name""#, r#""valueColumn":"title""#);
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn rows_are_known_by_their_key_under_its_new_name() {
    let mut line = Line::new();
    let new = entitled();
    // Undecided the key is a new column, which tells no row; the way out is shown.
    let refused = plan(&line, &new);
    assert_eq!(super::codes(&refused.refusals), ["rows_unmatched"]);
    let shown: Vec<_> = refused
        .renames
        .iter()
        .map(|one| (&*one.reference, &*one.from))
        .collect();
    assert_eq!(shown, [("c_clients_title", "c_clients_name")]);
    let decided = json!({"c_clients_title": "rename"});
    let planned = line.plan(&new, &upgrade_body(&decided));
    assert_eq!(
        super::codes(&planned.refusals),
        [""; 0],
        "{:?}",
        planned.refusals
    );
    let rows = &planned.rows["f_clients"];
    assert_eq!((rows.insert, rows.skipped, rows.update), (0, 3, 1));
    let report = line.upgrade(&new, &decided);
    assert_eq!(
        (
            report.rows["f_clients"].inserted,
            report.rows["f_clients"].updated
        ),
        (0, 1)
    );
    let clients = line.clients();
    assert_eq!(clients.len(), 3);
    assert!(
        clients[0].contains(r#""name":"A""#) && clients[0].contains("Ulm"),
        "{clients:?}"
    );
    // They are known by their new uids and their new key from now on.
    let planned = plan(&line, &new);
    assert_eq!(
        (planned.refusals.len(), planned.rows["f_clients"].skipped),
        (0, 3)
    );
    line.undo(false).expect("undone");
    assert_eq!(line.clients().len(), 3);
}
