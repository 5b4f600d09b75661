//! Tables: modes, columns, links, order.

use serde_json::{Value as Json, json};

use crate::apply::test_packages::{Pack, apply, furnished, id, minter, refused, uid};
use crate::apply::{LinkWork, Mode, RowStepWork};
use crate::problem::Code;

fn link(table: &str, column: &str) -> Json {
    json!({"linkedFeatureId": format!("$f_{table}"), "linkedValueColumn": format!("$c_{table}_{column}")})
}

fn points(row: usize, table: &str, column: &str) -> Json {
    json!({"rowUid": uid(row), "featureRef": format!("f_{table}"), "valueColumn": column})
}

/// Two tables whose rows have a key.
fn tables() -> Pack {
    Pack::new()
        .table("a")
        .table("b")
        .column("a", "k", "text", json!(null))
        .column("b", "k", "text", json!(null))
        .column("b", "a", "linked_select", link("a", "k"))
        .rows(
            "b",
            None,
            &[(
                json!({"k": "1", "a": "x"}),
                json!({"a": points(6100, "a", "k")}),
            )],
        )
        .rows(
            "a",
            Some("k"),
            &[
                (json!({"k": "x"}), Json::Null),
                (json!({"k": "y"}), Json::Null),
            ],
        )
}

#[test]
fn link_targets_come_first_and_ids_follow_the_entries() {
    let approved = apply(&tables(), "{}", &furnished()).expect("approved");
    let tables: Vec<_> = approved
        .tables
        .iter()
        .map(|t| (t.feature_ref.as_str(), t.entry, t.first_ordinal))
        .collect();
    assert_eq!(tables, [("f_a", 1, 6), ("f_b", 0, 5)]);
    let links: Vec<_> = approved.tables[1]
        .columns
        .iter()
        .map(|c| (c.package_name.as_str(), c.link.clone()))
        .collect();
    assert_eq!(links, [("k", LinkWork::Data), ("a", LinkWork::Refs)]);
    assert!(approved.unresolved.is_empty());
}

#[test]
fn modes_are_those_asked_for_and_no_rows_beat_them_all() {
    let modes = |body: &str| {
        let approved = apply(&tables(), body, &furnished()).expect("approved");
        approved
            .tables
            .into_iter()
            .map(|table| table.mode)
            .collect::<Vec<_>>()
    };
    let by_key = Mode::MissingByKey {
        column: "k".to_owned(),
    };
    assert_eq!(modes("{}"), [Mode::All, Mode::All]);
    assert_eq!(
        modes(r#"{"rowsModes": {"$f_a": "missingByKey", "f_b": "all"}}"#),
        [by_key, Mode::All]
    );
    // Nothing points from rows that do not enter, so the tables keep their order.
    assert_eq!(
        modes(r#"{"rowsModes": {"f_b": "none"}}"#),
        [Mode::None, Mode::All]
    );
    let none =
        r#"{"includeRows": false, "rowsModes": {"f_a": "missingByKey", "f_b": "missingByKey"}}"#;
    assert_eq!(modes(none), [Mode::None, Mode::None]);
}

#[test]
fn missing_by_key_needs_a_verified_key() {
    let body = r#"{"rowsModes": {"f_a": "missingByKey", "f_b": "missingByKey"}}"#;
    refused(
        &tables(),
        body,
        &furnished(),
        &[(Code::RowsModeWithoutKey, "f_b")],
    );
    let pack = Pack::new().table("c").column("c", "k", "text", json!(null));
    let body = r#"{"rowsModes": {"f_c": "missingByKey"}}"#;
    refused(
        &pack,
        body,
        &furnished(),
        &[(Code::RowsModeWithoutKey, "f_c")],
    );
    assert!(apply(&pack, r#"{"rowsModes": {"f_c": "none"}}"#, &furnished()).is_ok());
}

/// Each of two tables has a column that points at the other.
fn circle(held: bool) -> Pack {
    let refs = if held {
        json!({"b": points(6100, "b", "k")})
    } else {
        Json::Null
    };
    let cell = if held {
        json!({"k": "x", "b": "1"})
    } else {
        json!({"k": "x"})
    };
    Pack::new()
        .table("a")
        .table("b")
        .column("a", "k", "text", json!(null))
        .column("b", "k", "text", json!(null))
        .column("b", "a", "linked_select", link("a", "k"))
        .column("a", "b", "linked_select", link("b", "k"))
        .rows("a", None, &[(cell, refs)])
        .rows(
            "b",
            None,
            &[(
                json!({"k": "1", "a": "x"}),
                json!({"a": points(6000, "a", "k")}),
            )],
        )
}

#[test]
fn tables_that_point_at_each_other_enter_in_order_and_are_reported() {
    let approved = apply(&circle(true), "{}", &furnished()).expect("approved");
    let order: Vec<_> = approved.tables.iter().map(|table| table.entry).collect();
    assert_eq!(order, [0, 1]);
    let reported = serde_json::to_value(&approved.unresolved).expect("JSON");
    let entry = |number| json!({"uid": uid(number), "path": "rows[]", "kind": "rows", "form": "uuid", "reason": "payload_cycle", "action": "chave esvaziada"});
    assert_eq!(reported, json!([entry(5000), entry(5001)]));
}

#[test]
fn columns_alone_make_no_circle() {
    let approved = apply(&circle(false), "{}", &furnished()).expect("approved");
    assert!(approved.unresolved.is_empty(), "{:?}", approved.unresolved);
    let without = apply(
        &circle(true),
        r#"{"rowsModes": {"f_b": "none"}}"#,
        &furnished(),
    )
    .expect("approved");
    assert!(without.unresolved.is_empty());
}

/// Orders link to clients that do not travel.
fn linked(column: &str) -> Pack {
    linked_to(column, false)
}

/// The same, with a blueprint or without.
fn linked_to(column: &str, blueprint: bool) -> Pack {
    let mut pack = Pack::new().table("orders").column(
        "orders",
        "client",
        "linked_select",
        link("clients", column),
    );
    pack.external = vec![
        "f_clients",
        if column == "id" {
            "c_clients_id"
        } else {
            "c_clients_name"
        },
    ];
    pack.far_table(
        "clients",
        &[column],
        blueprint,
        &[
            (1001, "config.linkedFeatureId"),
            (1001, "config.linkedValueColumn"),
        ],
    )
    .rows("orders", None, &[(json!({"client": "x"}), Json::Null)])
}

#[test]
fn only_links_by_the_identity_of_a_mapped_table_are_looked_up() {
    let body = |column: &str, number| {
        json!({"resolutions": {"f_clients": {"action": "map", "id": id(10), "columns": {column: id(number)}}}}).to_string()
    };
    let approved = apply(&linked("id"), &body("c_clients_id", 11), &furnished()).expect("approved");
    let expected = LinkWork::Identity {
        feature: id(10),
        column: "id".to_owned(),
    };
    assert_eq!(approved.tables[0].columns[0].link, expected);
    let approved =
        apply(&linked("name"), &body("c_clients_name", 12), &furnished()).expect("approved");
    assert_eq!(approved.tables[0].columns[0].link, LinkWork::Data);
}

#[test]
fn no_identity_of_the_source_goes_to_an_imported_table() {
    for (column, expected) in [("id", LinkWork::Absent), ("name", LinkWork::Data)] {
        let pack = linked_to(column, true);
        let approved = apply(&pack, "{}", &furnished()).expect("approved");
        assert_eq!(approved.tables[0].columns[0].link, expected, "{column}");
        // The table that an earlier job imported holds other identities, too.
        let entry = crate::workspace::ledger::Entry::Structure(approved.structure.entry.clone());
        let there = crate::apply::test_packages::written(&approved, furnished());
        let earlier = [entry, crate::workspace::ledger::Entry::Completed];
        let minter = crate::apply::Minter::at(jiff::Timestamp::UNIX_EPOCH, 6);
        let again = crate::apply::test_packages::again(&pack, "{}", &there, Some(&earlier), minter);
        let again = again.expect("approved");
        assert_eq!(again.tables[0].columns[0].link, expected, "{column}");
    }
}

#[test]
fn no_identity_of_the_source_goes_to_a_table_that_arrives_without_rows() {
    let identity = json!({"featureId": "$f_a", "name": "id", "label": "Id", "type": "text", "defaultComponent": "id", "order": 1});
    for (column, expected) in [("id", LinkWork::Absent), ("k", LinkWork::Data)] {
        let mut pack = Pack::new()
            .table("a")
            .table("b")
            .create("create_column", "c_a_id", identity.clone())
            .column("a", "k", "text", json!(null))
            .column("b", "a", "linked_select", link("a", column))
            .rows("b", None, &[(json!({"a": "x"}), Json::Null)]);
        pack.unresolved = vec![
            json!({"uid": uid(5000), "path": "rows[].data.a", "kind": "rows", "form": "uuid",
            "reason": "tabela_alvo_sem_linhas", "action": "valor mantido", "count": 1}),
        ];
        let approved = apply(&pack, "{}", &furnished()).expect("approved");
        assert_eq!(approved.tables[0].columns[0].link, expected, "{column}");
    }
}

#[test]
fn links_by_identities_that_rows_do_not_keep_are_known() {
    let identity = |name: &str| json!({"featureId": "$f_a", "name": name, "label": name, "type": "text", "defaultComponent": "id", "order": name.len()});
    for (column, entering, left_out) in [
        ("id", true, true),
        // The rows bring these, where they enter.
        ("key", false, true),
        ("k", false, false),
    ] {
        let pack = Pack::new()
            .table("a")
            .table("b")
            .create("create_column", "c_a_id", identity("id"))
            .create("create_column", "c_a_key", identity("key"))
            .column("a", "k", "text", json!(null))
            .column("b", "a", "linked_select", link("a", column))
            .rows("b", None, &[(json!({"a": "x"}), Json::Null)])
            .rows("a", None, &[(json!({"k": "y"}), Json::Null)]);
        for (body, expected) in [
            ("{}", entering),
            (r#"{"rowsModes": {"f_a": "none"}}"#, left_out),
        ] {
            let approved = apply(&pack, body, &furnished()).expect("approved");
            let mut tables = approved.tables.iter();
            let table = tables.find(|table| table.feature_ref == "f_b");
            let work = &table.expect("a table").columns[0];
            assert_eq!(work.link, LinkWork::Refs);
            assert_eq!(work.source_identities, expected, "{column} {body}");
        }
    }
}

#[test]
fn links_into_a_mapped_table_are_looked_up_although_rows_enter_it() {
    // Of a dependency: no check passes its rows without a parent.
    let mut pack = linked("id").rows("clients", None, &[(json!({}), Json::Null)]);
    pack.items.pop();
    let text = pack.text();
    let package = crate::check::Checked::trusted(&text).expect("a package");
    let map = json!({"action": "map", "id": id(10), "columns": {"c_clients_id": id(11)}});
    let body = json!({"resolutions": {"f_clients": map}}).to_string();
    let approved = crate::apply::resolve(
        crate::apply::ResolveInput {
            package: &package,
            request: &crate::apply::test_packages::request(&body),
            destination: &furnished(),
            past: crate::apply::JobHistory::default(),
            definitions: crate::definitions::Definitions::embedded(),
        },
        minter(),
    );
    let approved = approved.expect("approved");
    let mut tables = approved.tables.iter();
    let table = tables.find(|table| table.feature_ref == "f_orders");
    let expected = LinkWork::Identity {
        feature: id(10),
        column: "id".to_owned(),
    };
    assert_eq!(table.expect("a table").columns[0].link, expected);
}

#[test]
fn cells_that_point_at_a_skipped_table_will_be_empty() {
    let body = r#"{"resolutions": {"f_clients": {"action": "skip"}}}"#;
    let approved = apply(&linked("id"), body, &furnished()).expect("approved");
    let expected = LinkWork::Skipped {
        dependency: "f_clients".to_owned(),
    };
    assert_eq!(approved.tables[0].columns[0].link, expected);
}

#[test]
fn identity_columns_are_there_although_no_row_carries_them() {
    let identity = json!({"featureId": "$f_a", "name": "id", "label": "Id", "type": "text", "defaultComponent": "id", "order": 1});
    let pack = Pack::new()
        .table("a")
        .create("create_column", "c_a_id", identity)
        .column("a", "k", "text", json!(null))
        .column("a", "unused", "text", json!(null))
        .rows("a", None, &[(json!({"k": "x"}), Json::Null)]);
    let approved = apply(&pack, "{}", &furnished()).expect("approved");
    let columns: Vec<_> = approved.tables[0]
        .columns
        .iter()
        .map(|c| c.package_name.as_str())
        .collect();
    assert_eq!(columns, ["id", "k"]);
}

#[test]
fn row_steps_take_their_ids_after_the_payloads() {
    let pack = tables()
        .step(
            "insert_row",
            json!({"featureId": "$f_a", "data": {"k": "z"}}),
        )
        .step(
            "insert_rows",
            json!({"featureId": "$f_a", "rows": [{"data": {"k": "v"}}]}),
        )
        .step(
            "update_row",
            json!({"rowId": uid(6100), "data": {"k": "w"}, "merge": true}),
        )
        .step(
            "bulk_update_rows",
            json!({"featureId": "$f_a", "rows": [{"id": uid(6101), "data": {}}]}),
        );
    let approved = apply(&pack, "{}", &furnished()).expect("approved");
    let ordinals: Vec<_> = approved
        .row_steps
        .iter()
        .filter_map(|step| match &step.work {
            RowStepWork::Insert { first_ordinal, .. } => Some(*first_ordinal),
            _ => None,
        })
        .collect();
    assert_eq!(ordinals, [8, 9]);
    let one = RowStepWork::Update {
        feature_ref: None,
        rows: vec![(uid(6100), r#"{"k":"w"}"#.to_owned())],
        merge: true,
    };
    let many = RowStepWork::Update {
        feature_ref: Some("f_a".to_owned()),
        rows: vec![(uid(6101), "{}".to_owned())],
        merge: false,
    };
    assert_eq!(
        (&approved.row_steps[2].work, &approved.row_steps[3].work),
        (&one, &many)
    );
    let none = apply(&pack, r#"{"includeRows": false}"#, &furnished()).expect("approved");
    assert!(
        none.row_steps
            .iter()
            .all(|step| step.work == RowStepWork::Nothing)
    );
    assert_eq!(none.minter, minter());
}

/// Rows for a table that is a dependency: no check passes them, older packages had them.
fn for_a_dependency(body: &Json) -> Result<crate::apply::Approved, Vec<crate::apply::Refusal>> {
    let cells = json!({"name": "x"});
    let mut pack = Pack::new()
        .far_table("clients", &["name"], false, &[])
        .rows("clients", None, &[(cells, Json::Null)]);
    pack.items.clear();
    pack.payloads[0]["columns"] = json!(["name"]);
    let text = pack.text();
    let package = crate::check::Checked::trusted(&text).expect("a package");
    let request = crate::apply::test_packages::request(
        &json!({"resolutions": {"f_clients": body}}).to_string(),
    );
    let definitions = crate::definitions::Definitions::embedded();
    crate::apply::resolve(
        crate::apply::ResolveInput {
            package: &package,
            request: &request,
            destination: &furnished(),
            past: crate::apply::JobHistory::default(),
            definitions,
        },
        minter(),
    )
}

#[test]
fn rows_of_a_table_that_nobody_bound_do_not_enter_and_are_reported() {
    let approved = for_a_dependency(&json!({"action": "skip"})).expect("approved");
    assert_eq!(approved.tables[0].feature, None);
    let reported = serde_json::to_value(&approved.unresolved).expect("JSON");
    let expected = json!([{"uid": uid(5000), "path": "rows[]", "kind": "rows", "form": "uuid",
        "reason": "feature_ref_unresolved", "action": "chave esvaziada", "count": 1}]);
    assert_eq!(reported, expected);
}

#[test]
fn a_column_that_only_rows_need_has_to_be_mapped_too() {
    let refusals = for_a_dependency(&json!({"action": "map", "id": id(10)})).expect_err("refused");
    let expected = [(Code::MappingColumnsIncomplete, "c_clients_name")];
    assert_eq!(crate::apply::test_packages::codes(&refusals), expected);
    let body = json!({"action": "map", "id": id(10), "columns": {"c_clients_name": id(12)}});
    let table = for_a_dependency(&body).expect("approved").tables.remove(0);
    assert_eq!(table.feature, Some(id(10)));
    let columns: Vec<_> = table
        .columns
        .iter()
        .map(|work| (work.package_name.as_str(), work.column.id))
        .collect();
    // The identity column of the destination mints, though the package does not know it.
    assert_eq!(columns, [("name", id(12)), ("", id(11))]);
}
