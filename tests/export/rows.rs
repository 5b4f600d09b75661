//! Row payloads.

use serde_json::{Value, json};
use tplkit::export::{RowsSelection, Selection};

use crate::exported::{exported, exported_but, exported_by, with_rows};
use crate::space::Space;

fn uid(entry: &Value, row: usize) -> &Value {
    &entry["rows"][row]["uid"]
}

#[test]
fn declared_columns_travel_in_table_order() {
    let mut space = Space::new();
    let a = space.table("a");
    for name in ["x", "y", "never", "z é"] {
        space.text(a, name);
    }
    space.raw_row(a, r#"{"z é":"caf\u00e9 \/","orphan":1,"x":"1"}"#);
    space.raw_row(a, r#"{"y":"$f_a","x":"2","z é":null}"#);
    let package = exported(&space, &with_rows());
    let entry = package.payload("f_a");
    assert_eq!(entry["columns"], json!(["x", "y", "z é"]));
    assert_eq!(entry["rows"][0]["data"], json!({"x": "1", "z é": "café /"}));
    assert_eq!(
        entry["rows"][1]["data"],
        json!({"x": "2", "y": "$f_a", "z é": null})
    );
    assert_eq!(entry["count"], 2);
    assert_eq!(entry["rows"][0].get("refs"), None);
    let rows = package
        .list("items")
        .iter()
        .find(|item| item["kind"] == "rows")
        .unwrap();
    assert_eq!(
        (&rows["uid"], &rows["count"]),
        (&entry["itemUid"], &json!(2))
    );
    assert_eq!(rows["parent"], package.item("f_a")["uid"]);
    let summary = "Creates 6 items: 1 table, 4 columns and rows of 1 table (a label 2).";
    assert_eq!(package.0["manifest"]["plan"]["summary"], summary);
}

#[test]
fn nested_cells_and_digits_stay_what_they_are() {
    let mut space = Space::new();
    let a = space.table("a");
    space.column(a, "j", "json", &json!({}));
    space.column(a, "n", "number", &json!({}));
    space.raw_row(
        a,
        r#"{"j":{"b":[1,{"z":1,"a":[]}],"a":"\u0041"},"n":123456789012345678901234567890.5}"#,
    );
    let text = crate::exported::try_export(&space, &with_rows()).unwrap();
    crate::exported::assert_clean(&text, &[]);
    let line = r#""data": {"j": {"a": "A", "b": [1, {"a": [], "z": 1}]}, "n": 123456789012345678901234567890.5}}"#;
    assert!(text.contains(line), "{text}");
}

#[test]
fn the_automatic_identity_never_travels_and_others_do() {
    let mut space = Space::new();
    let a = space.table("a");
    space.column_as(a, "id", "text", "id", &json!({}));
    space.column_as(a, "number", "number", "id", &json!({"idType": "sequence"}));
    space.text(a, "name");
    let id = space.id();
    space.row(a, &json!({"id": id, "number": 7, "name": "x"}));
    let package = exported(&space, &with_rows());
    let entry = package.payload("f_a");
    assert_eq!(entry["columns"], json!(["number", "name"]));
    assert_eq!(entry["rows"][0]["data"], json!({"number": 7, "name": "x"}));
    assert_eq!(entry["keyColumn"], "name");
}

#[test]
fn the_shape_of_the_value_decides_what_a_link_is() {
    let mut space = Space::new();
    let (clients, orders) = (space.table("clients"), space.table("orders"));
    space.text(clients, "code");
    space.link(orders, "client", clients, "code");
    for code in ["a", "b", "b"] {
        space.row(clients, &json!({"code": code}));
    }
    for client in [
        json!("a"),
        json!(["b", "gone", "a", "b"]),
        json!("gone"),
        json!(["gone"]),
        json!(""),
        json!([]),
    ] {
        space.row(orders, &json!({"client": client}));
    }
    let package = exported(&space, &with_rows());
    let (clients, orders) = (package.payload("f_clients"), package.payload("f_orders"));
    let to = |row| json!({"rowUid": uid(clients, row), "featureRef": "f_clients", "valueColumn": "code"});
    assert_eq!(orders["rows"][0]["refs"], json!({"client": to(0)}));
    // Of rows with one value the first is meant; what leads nowhere stays only in the data.
    assert_eq!(
        orders["rows"][1]["refs"],
        json!({"client": {"rows": [to(1), to(0), to(1)]}})
    );
    assert_eq!(
        orders["rows"][1]["data"]["client"],
        json!(["b", "gone", "a", "b"])
    );
    for row in 2..6 {
        assert!(orders["rows"][row].get("refs").is_none(), "{row}");
    }
    let classes: Vec<_> = package
        .list("items")
        .iter()
        .filter_map(|item| item.get("dataClass"))
        .collect();
    assert_eq!(classes, ["reference", "transactional"]);
    assert!(package.unresolved().is_empty());
}

#[test]
fn links_by_number_compare_amounts() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.column(a, "n", "number", &json!({}));
    space.link(b, "a", a, "n");
    space.raw_row(a, r#"{"n":1}"#);
    space.raw_row(b, r#"{"a":1.0}"#);
    space.raw_row(b, r#"{"a":"1"}"#);
    let package = exported(&space, &with_rows());
    let b = package.payload("f_b");
    assert_eq!(
        b["rows"][0]["refs"]["a"]["rowUid"],
        *uid(package.payload("f_a"), 0)
    );
    assert!(b["rows"][1].get("refs").is_none());
}

#[test]
fn links_by_the_automatic_identity_find_rows_with_and_without_a_cell() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.column_as(a, "id", "text", "id", &json!({}));
    space.text(a, "name");
    space.link(b, "a", a, "id");
    let minted = space.id();
    space.row(a, &json!({"id": minted, "name": "x"}));
    let bare = space.row(a, &json!({"name": "y"}));
    space.row(b, &json!({"a": minted}));
    space.row(b, &json!({"a": bare}));
    let package = exported(&space, &with_rows());
    let (a, b) = (package.payload("f_a"), package.payload("f_b"));
    for row in 0..2 {
        let to = json!({"rowUid": uid(a, row), "featureRef": "f_a", "valueColumn": "id"});
        assert_eq!(b["rows"][row]["refs"]["a"], to);
    }
}

#[test]
fn self_links_lead_forward_and_backward_and_make_no_reference_data() {
    let mut space = Space::new();
    let a = space.table("a");
    space.text(a, "code");
    space.link(a, "peer", a, "code");
    space.row(a, &json!({"code": "1", "peer": "2"}));
    space.row(a, &json!({"code": "2", "peer": "1"}));
    let package = exported(&space, &with_rows());
    let entry = package.payload("f_a");
    assert_eq!(entry["rows"][0]["refs"]["peer"]["rowUid"], *uid(entry, 1));
    assert_eq!(entry["rows"][1]["refs"]["peer"]["rowUid"], *uid(entry, 0));
    let rows = package
        .list("items")
        .iter()
        .find(|item| item["kind"] == "rows")
        .unwrap();
    assert_eq!(rows["dataClass"], "transactional");
}

#[test]
fn a_table_without_rows_is_reported_once_per_column() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.text(a, "code");
    space.link(b, "a", a, "code");
    for cell in [json!("1"), json!(["1", "2"]), json!(""), json!(null)] {
        space.row(b, &json!({"a": cell}));
    }
    let selection = Selection {
        rows: RowsSelection::Some(vec![b]),
        ..Selection::default()
    };
    let package = exported(&space, &selection);
    assert_eq!(
        package.unresolved(),
        ["rows[].data.a rows uuid tabela_alvo_sem_linhas valor mantido"]
    );
    let entry = &package.list("unresolved")[0];
    assert_eq!(
        (&entry["count"], &entry["sourceLabel"]),
        (&json!(2), &json!("a label"))
    );
    assert_eq!(entry["uid"], package.payload("f_b")["itemUid"]);
    assert_eq!(
        package.payload("f_b")["rows"][0],
        json!({"uid": uid(package.payload("f_b"), 0), "data": {"a": "1"}})
    );
}

#[test]
fn links_to_what_is_gone_are_reported() {
    let mut space = Space::new();
    let gone = space.id();
    let (a, b) = (space.table("a"), space.table("b"));
    space.text(a, "code");
    space.link(b, "table", gone, "code");
    space.link(b, "column", a, "deleted");
    space.row(b, &json!({"table": "1", "column": "2"}));
    let package = exported(&space, &with_rows());
    assert_eq!(
        package.unresolved()[3..],
        [
            "rows[].data.table rows uuid inexistente valor mantido",
            "rows[].data.column rows uuid inexistente valor mantido",
        ]
    );
}

#[test]
fn links_to_a_dependency_are_left_to_the_import() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.text(a, "code");
    space.link(b, "a", a, "code");
    space.row(b, &json!({"a": "1"}));
    let selection = Selection {
        features: Some(vec![b]),
        ..with_rows()
    };
    let package = exported(&space, &selection);
    assert!(package.unresolved().is_empty());
    assert!(package.payload("f_b")["rows"][0].get("refs").is_none());
}

#[test]
fn a_chosen_table_without_rows_has_an_empty_entry() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.text(a, "code");
    space.link(b, "a", a, "code");
    space.row(b, &json!({"a": "1"}));
    let package = exported(&space, &with_rows());
    let entry = package.payload("f_a");
    assert_eq!(
        (&entry["rows"], &entry["columns"], &entry["keyColumn"]),
        (&json!([]), &json!([]), &json!(null))
    );
    assert!(package.unresolved().is_empty());
}

/// The key of a table with these columns and rows.
fn key(columns: &[(&str, &str, Value)], rows: &[Value]) -> Value {
    let mut space = Space::new();
    let a = space.table("a");
    for (name, kind, config) in columns {
        space.column(a, name, kind, config);
    }
    for row in rows {
        space.row(a, row);
    }
    let package = exported(&space, &with_rows());
    let entry = package.payload("f_a");
    assert_eq!(entry["keyUnique"], json!(!entry["keyColumn"].is_null()));
    entry["keyColumn"].clone()
}

#[test]
fn keys_are_ranked_and_verified() {
    let columns = |names: [&'static str; 4]| {
        let config = [
            json!({}),
            json!({}),
            json!({"unique": true}),
            json!({"required": true}),
        ];
        let columns = names.into_iter().zip(config);
        columns
            .map(|(name, config)| (name, "text", config))
            .collect::<Vec<_>>()
    };
    let columns = columns(["any", "CODE", "solo", "must"]);
    let row = |any: &str, code: &str, solo: &str, must: &str| json!({"any": any, "CODE": code, "solo": solo, "must": must});
    assert_eq!(
        key(
            &columns,
            &[row("1", "1", "1", "1"), row("2", "2", "2", "2")]
        ),
        "must"
    );
    assert_eq!(
        key(
            &columns,
            &[row("1", "1", "1", "1"), row("2", "2", "2", "1")]
        ),
        "solo"
    );
    let solo_missing = json!({"any": "2", "CODE": "2", "must": "1"});
    assert_eq!(
        key(&columns, &[row("1", "1", "1", "1"), solo_missing.clone()]),
        "CODE"
    );
    assert_eq!(
        key(&columns, &[row("1", "", "1", "1"), solo_missing.clone()]),
        "any"
    );
    let none = json!({"any": "1", "CODE": "", "must": "1"});
    assert_eq!(key(&columns, &[row("1", "2", "1", "1"), none]), Value::Null);
    // Raw values: case and spaces count.
    assert_eq!(
        key(
            &[("x", "text", json!({}))],
            &[json!({"x": "a"}), json!({"x": "A"}), json!({"x": "a "})]
        ),
        "x"
    );
}

#[test]
fn only_text_keys_are_keys() {
    let columns = [
        ("note", "long_text", json!({"required": true})),
        (
            "number",
            "number",
            json!({"required": true, "unique": true}),
        ),
        ("mail", "email", json!({})),
    ];
    let row = json!({"note": "n", "number": 1, "mail": "a@b.c"});
    assert_eq!(key(&columns, &[row]), "mail");
    let mut space = Space::new();
    let a = space.table("a");
    space.link(a, "code", a, "code");
    space.row(a, &json!({"code": "1"}));
    assert_eq!(
        exported(&space, &with_rows()).payload("f_a")["keyColumn"],
        Value::Null
    );
}

#[test]
fn what_the_source_should_not_hold_travels_all_the_same() {
    let mut space = Space::new();
    let a = space.table("a");
    space.column(a, "n", "number", &json!({"required": true}));
    space.row(a, &json!({"n": "five"}));
    space.row(a, &json!({}));
    let package = exported_but(&space, &with_rows(), &["R017", "R019"]);
    assert_eq!(
        package.payload("f_a")["rows"][0]["data"],
        json!({"n": "five"})
    );
}

#[test]
fn links_to_a_table_without_a_ref_are_reported() {
    let mut space = Space::new();
    let (a, b) = (space.table("a"), space.table("b"));
    space.text(a, "code");
    space.link(b, "a", a, "code");
    space.row(b, &json!({"a": "1"}));
    let selection = Selection {
        features: Some(vec![b]),
        ..with_rows()
    };
    let absent = "/column_types/linked_select/config/linkedFeatureId/reference/absent_target";
    let package = exported_by(&space, &selection, absent, json!("empty"));
    assert_eq!(
        package.unresolved(),
        [
            "config.linkedFeatureId feature uuid fora_da_selecao chave esvaziada",
            "rows[].data.a rows uuid sem_ref_cunhado valor mantido",
        ]
    );
}

#[test]
fn the_ids_of_files_are_emptied_and_reported_column_by_column() {
    let mut space = Space::new();
    let (photos, uses) = (space.table("photos"), space.table("uses"));
    space.column(photos, "photo", "file", &json!({"required": true}));
    space.column(photos, "z é", "file", &json!({}));
    space.text(photos, "note");
    space.link(uses, "photo", photos, "photo");
    let id = "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11";
    let upper = id.to_uppercase();
    space.row(photos, &json!({"photo": id, "z é": "scan.pdf", "note": id}));
    space.row(photos, &json!({"photo": upper, "z é": id}));
    space.row(photos, &json!({"photo": "photo.png"}));
    space.column(
        uses,
        "photos",
        "linked_select",
        &json!({"linkedFeatureId": photos, "linkedValueColumn": "photo", "isMultiSelect": true}),
    );
    space.row(uses, &json!({"photo": id, "photos": ["photo.png", upper]}));
    // The text stays that a column of another type holds. A link to a row that is known by its file goes with the file.
    let package = exported(&space, &with_rows());
    let entry = package.payload("f_photos");
    assert_eq!(entry["columns"], json!(["photo", "z é", "note"]));
    assert_eq!(
        entry["rows"][0]["data"],
        json!({"photo": null, "z é": "scan.pdf", "note": id})
    );
    assert_eq!(
        entry["rows"][1]["data"],
        json!({"photo": null, "z é": null})
    );
    assert_eq!(entry["rows"][2]["data"], json!({"photo": "photo.png"}));
    assert_ne!(entry["keyColumn"], "photo");
    let linking = package.payload("f_uses");
    assert_eq!(
        linking["rows"][0]["data"],
        json!({"photo": null, "photos": null})
    );
    assert_eq!(linking["rows"][0].get("refs"), None);
    let of = |item: &Value, path: &str, count: u64| {
        json!({"uid": item, "path": path, "kind": "rows", "form": "uuid", "reason": "nao_exportavel",
            "action": "chave esvaziada", "count": count})
    };
    assert_eq!(
        package.list("unresolved"),
        [
            of(&entry["itemUid"], "rows[].data.photo", 2),
            of(&entry["itemUid"], "rows[].data.z é", 1),
            of(&linking["itemUid"], "rows[].data.photo", 1),
            of(&linking["itemUid"], "rows[].data.photos", 1),
        ]
    );
}

#[test]
fn cells_with_options_that_do_not_travel_are_emptied_and_reported() {
    let mut space = Space::new();
    let a = space.table("a");
    let id = "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11";
    let words = format!("is {id}");
    space.column(
        a,
        "kind",
        "select",
        &json!({"options": [id, "b", "$f_x", "$100"]}),
    );
    space.column(
        a,
        "tags",
        "multi_select",
        &json!({"options": ["x", id, words]}),
    );
    space.row(a, &json!({"kind": id, "tags": [id, "x", words]}));
    space.row(a, &json!({"kind": "b", "tags": [words]}));
    space.row(a, &json!({"kind": "$f_x", "tags": ["x"]}));
    space.row(a, &json!({"kind": "$100"}));
    let package = exported(&space, &with_rows());
    let config = &package.created("c_a_kind")["config"];
    assert_eq!(config["options"], json!(["", "b", "", "$100"]));
    let entry = package.payload("f_a");
    let rows = entry["rows"].as_array().unwrap().iter();
    let rows: Vec<&Value> = rows.map(|row| &row["data"]).collect();
    assert_eq!(
        rows,
        [
            &json!({"kind": null, "tags": ["x"]}),
            &json!({"kind": "b", "tags": []}),
            &json!({"kind": null, "tags": ["x"]}),
            &json!({"kind": "$100"}),
        ]
    );
    let of = |path: &str, count: u64| {
        json!({"uid": entry["itemUid"], "path": path, "kind": "rows", "form": "uuid", "reason": "nao_exportavel",
            "action": "chave esvaziada", "count": count})
    };
    let cells = package.list("unresolved").iter();
    let cells: Vec<&Value> = cells.filter(|entry| entry["kind"] == "rows").collect();
    assert_eq!(
        cells,
        [&of("rows[].data.kind", 2), &of("rows[].data.tags", 2)]
    );
}
