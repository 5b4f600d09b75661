//! Previews of small applies, and what makes them stale.

use serde_json::{Value as Json, json};

use super::{Preview, PreviewInput, RowsPreview, fresh, package_digest, preview};
use crate::apply::test_packages::{Pack, checked, furnished, id, request, uid};
use crate::definitions::Definitions;
use crate::problem::Code;
use crate::workspace::ledger::{Entry, RowDigest, RowNames, Rows, WrittenRow, WrittenStructure};
use crate::workspace::memory::{Memory, State};
use crate::workspace::{RowData, Source as _, StoredRow, ready};

/// The furnished workspace with rows in its table `clients`.
fn state(clients: &[(u128, Json)]) -> State {
    let mut state = State::empty(id(1), id(2), "here", "Here");
    state.structure = furnished();
    let rows = clients.iter().map(|(number, data)| StoredRow {
        id: id(*number),
        data: RowData::trusted(&data.to_string()),
    });
    state.rows.insert(id(10), rows.collect());
    state
}

fn preview_of(pack: &Pack, body: &str, state: State, earlier: &[Entry]) -> Preview {
    let text = pack.text();
    let package = checked(&text);
    let memory = Memory::new(state);
    let destination = ready(memory.structure()).expect("a structure");
    let input = PreviewInput {
        package: &package,
        package_digest: &package_digest(&text),
        request: &request(body),
        earlier,
        base: None,
        definitions: Definitions::embedded(),
    };
    ready(preview(&memory, &destination, input)).expect("a preview")
}

fn link(table: &str, column: &str) -> Json {
    json!({"linkedFeatureId": format!("$f_{table}"), "linkedValueColumn": format!("$c_{table}_{column}")})
}

/// Orders link to clients that do not travel, by their identity, and to other orders.
fn orders() -> Pack {
    let mut pack = Pack::new()
        .table("orders")
        .column("orders", "number", "text", json!(null))
        .column("orders", "client", "linked_select", link("clients", "id"))
        .column("orders", "after", "linked_select", link("orders", "number"));
    pack.external = vec!["f_clients", "c_clients_id"];
    let uses = [
        (1002, "config.linkedFeatureId"),
        (1002, "config.linkedValueColumn"),
    ];
    let after = |row: usize| json!({"after": {"rowUid": uid(row), "featureRef": "f_orders", "valueColumn": "number"}});
    pack.far_table("clients", &["id"], false, &uses).rows(
        "orders",
        Some("number"),
        &[
            (
                json!({"number": "1", "client": "a", "after": "2"}),
                after(6001),
            ),
            (
                json!({"number": "2", "client": ["a", "gone", "lost"]}),
                Json::Null,
            ),
        ],
    )
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "`json!(…)` reads better without a `&`"
)]
fn mapped(more: Json) -> String {
    let mut body = json!({"resolutions": {"f_clients": {"action": "map", "id": id(10), "columns": {"c_clients_id": id(11)}}}});
    for (key, value) in more.as_object().into_iter().flatten() {
        body[key] = value.clone();
    }
    body.to_string()
}

fn clients() -> State {
    state(&[
        (101, json!({"id": "a", "name": "A"})),
        (102, json!({"id": "b", "name": "B"})),
    ])
}

#[test]
fn a_preview_says_what_an_apply_would_do() {
    let seen = preview_of(&orders(), &mapped(json!({})), clients(), &[]);
    let digest = seen.digest.clone();
    assert_eq!(digest.len(), 64);
    let create = |kind: &str, reference: &str, name: &str| json!({"kind": kind, "ref": reference, "name": name, "label": name});
    assert_eq!(
        serde_json::to_value(&seen).expect("JSON"),
        json!({
            "digest": digest, "refusals": [],
            "create": [create("feature", "f_orders", "orders"), create("column", "c_orders_number", "number"),
                create("column", "c_orders_client", "client"), create("column", "c_orders_after", "after")],
            "bind": [], "rename": [], "replaced_configs": [], "dropped_keys": [],
            "rows": {"f_orders": {"insert": 2, "existing": 0, "skipped": 0, "dropped_links": 1, "update": 0, "left": 0, "kept": 0, "conflicts": 0, "failed": 0, "reasons": []}},
            "go_live": [], "stays_draft": [], "not_carried": [], "redacted": [],
            "base": null, "update": [], "conflicts": [], "kept": [], "left": [], "renames": [], "unused": [],
        })
    );
}

#[test]
fn links_into_an_imported_table_are_counted_as_lost() {
    let uses = [
        (1001, "config.linkedFeatureId"),
        (1001, "config.linkedValueColumn"),
    ];
    for (column, lost) in [("id", 2), ("name", 0)] {
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
        let cells = [json!("a"), json!(["a", "b"]), json!(null)];
        let rows = cells.map(|cell| (json!({"client": cell}), Json::Null));
        let pack = pack
            .far_table("clients", &[column], true, &uses)
            .rows("orders", None, &rows);
        let seen = preview_of(&pack, "{}", clients(), &[]);
        let rows = &seen.rows["f_orders"];
        assert_eq!((rows.insert, rows.dropped_links), (3, lost), "{column}");
    }
}

#[test]
fn what_has_no_id_yet_is_shown_by_its_name() {
    let module = json!({"workspaceId": "$workspace", "name": "crm", "label": "CRM"});
    let config = json!({"defaultModuleId": "$m_crm", "theme": "dark"});
    let pack = Pack::new().create("create_module", "m_crm", module).step(
        "update_workspace",
        json!({"workspaceId": "$workspace", "config": config}),
    );
    let seen = preview_of(&pack, "{}", clients(), &[]);
    let [replaced] = seen.replaced_configs.as_slice() else {
        panic!("{:?}", seen.replaced_configs);
    };
    assert_eq!(replaced.reference, "workspace");
    let expected = json!({"defaultModuleId": "(new) crm", "theme": "dark"});
    assert_eq!(
        serde_json::to_value(&replaced.after).expect("JSON"),
        expected
    );
}

#[test]
fn refusals_stand_in_the_response() {
    let seen = preview_of(&orders(), "{}", clients(), &[]);
    let response = serde_json::to_value(&seen).expect("JSON");
    assert_eq!(response["refusals"][0]["code"], "mapping_required");
    assert_eq!(response["refusals"][0]["ref"], "f_clients");
    assert_eq!(
        (&response["create"], &response["rows"]),
        (&json!([]), &json!({}))
    );
}

#[test]
fn rows_that_are_not_written_drop_the_links_to_them() {
    let none = mapped(json!({"rowsModes": {"f_orders": "none"}}));
    let rows = preview_of(&orders(), &none, clients(), &[]).rows;
    assert_eq!(rows["f_orders"], RowsPreview::default());
}

/// A package whose table an earlier job made, with a row that is still there.
fn second() -> (Pack, State, Vec<Entry>) {
    let pack = Pack::new()
        .table("t")
        .column("t", "k", "text", json!(null))
        .rows(
            "t",
            Some("k"),
            &[
                (json!({"k": "x"}), Json::Null),
                (json!({"k": "y"}), Json::Null),
                (json!({"k": "Y"}), Json::Null),
            ],
        );
    let mut state = state(&[]);
    state
        .structure
        .features
        .push(crate::apply::test_packages::feature(
            80,
            "t",
            &[(81, "k", "textfield")],
        ));
    let row = |number: u128, key: &str| StoredRow {
        id: id(number),
        data: RowData::trusted(&json!({"k": key}).to_string()),
    };
    state
        .rows
        .insert(id(80), vec![row(800, "x"), row(801, "Y")]);
    let made = |reference: &str, kind, number| crate::workspace::ledger::Created {
        reference: reference.to_owned(),
        kind,
        id: id(number),
        name: "t".to_owned(),
    };
    let structure = WrittenStructure {
        created: vec![
            made("f_t", crate::workspace::RecordKind::Feature, 80),
            made("c_t_k", crate::workspace::RecordKind::Column, 81),
        ],
        ..WrittenStructure::default()
    };
    let rows = Rows {
        uid: uid(5000),
        feature: id(80),
        rows: vec![WrittenRow {
            position: 0,
            id: id(800),
            digest: RowDigest::default(),
        }],
        emptied: Vec::new(),
        sequences: Vec::new(),
        early_links: Vec::new(),
        names: RowNames::default(),
    };
    let ledger = vec![
        Entry::Structure(structure),
        Entry::Rows(rows),
        Entry::Completed,
    ];
    (pack, state, ledger)
}

#[test]
fn keys_are_compared_raw_and_the_ledger_is_believed() {
    let (pack, state, ledger) = second();
    let all = preview_of(&pack, "{}", state.clone(), &ledger).rows["f_t"].clone();
    let expected = RowsPreview {
        insert: 2,
        skipped: 1,
        ..RowsPreview::default()
    };
    assert_eq!(all, expected);
    let by_key = r#"{"rowsModes": {"f_t": "missingByKey"}}"#;
    let seen = preview_of(&pack, by_key, state, &ledger);
    let expected = RowsPreview {
        insert: 1,
        existing: 1,
        skipped: 1,
        ..RowsPreview::default()
    };
    assert_eq!(seen.rows["f_t"], expected);
    assert_eq!((seen.create.len(), seen.bind.len()), (0, 2));
}

#[test]
fn a_digest_moves_with_what_it_rests_on_and_with_nothing_else() {
    let body = mapped(json!({}));
    let digest = |pack: &Pack, body: &str, state: State| preview_of(pack, body, state, &[]).digest;
    let first = digest(&orders(), &body, clients());
    assert_eq!(first, digest(&orders(), &body, clients()));
    // A plan that was looked at is not part of what is asked.
    assert_eq!(
        first,
        digest(&orders(), &mapped(json!({"plan": first})), clients())
    );
    // Nor is the order of its keys.
    let reversed = format!(
        r#"{{"resolutions": {{"f_clients": {{"columns": {{"$c_clients_id": "{}"}}, "id": "{}", "action": "map"}}}}}}"#,
        id(11),
        id(10)
    );
    assert_eq!(first, digest(&orders(), &reversed, clients()));
    // Unrelated: another table, another client, another name of a client.
    let mut other = clients();
    other
        .structure
        .features
        .push(crate::apply::test_packages::feature(90, "else", &[]));
    assert_eq!(first, digest(&orders(), &body, other));
    let more = state(&[
        (101, json!({"id": "a", "name": "Z"})),
        (103, json!({"id": "c"})),
    ]);
    assert_eq!(first, digest(&orders(), &body, more));

    let mut moved = vec![first];
    moved.push(digest(
        &orders(),
        &mapped(json!({"includeRows": false})),
        clients(),
    ));
    let titled = json!({"featureId": "$f_orders", "config": {"titleColumn": "$c_orders_number"}});
    let titled = orders().step("update_feature", titled);
    moved.push(digest(&titled, &body, clients()));
    moved.push(digest(
        &orders(),
        &body,
        state(&[(102, json!({"id": "b"}))]),
    ));
    let mut taken = clients();
    taken
        .structure
        .features
        .push(crate::apply::test_packages::feature(91, "orders", &[]));
    moved.push(digest(&orders(), &body, taken));
    let mut renamed = clients();
    renamed.structure.features[0].columns[0].name = "ident".to_owned();
    moved.push(digest(&orders(), &body, renamed));
    moved.push(digest(&orders(), "{}", clients()));
    let count = moved.len();
    moved.sort();
    moved.dedup();
    assert_eq!(moved.len(), count);
}

#[test]
fn a_stale_plan_is_refused() {
    assert_eq!(fresh(None, "a"), Ok(()));
    assert_eq!(fresh(Some("a"), "a"), Ok(()));
    let refusal = fresh(Some("b"), "a").expect_err("stale");
    assert_eq!(refusal.code, Code::PlanStale);
}

/// Teams, and people who are in several of them.
fn people(value: &str, cells: &[(Json, &[usize])]) -> Pack {
    let identity = json!({"featureId": "$f_teams", "name": "id", "label": "Id", "type": "text", "defaultComponent": "id", "order": 1});
    let refs = |rows: &[usize]| {
        let triples = rows.iter().map(|row| {
            let mut triple = json!({"rowUid": uid(*row), "featureRef": "f_teams"});
            if value != "id" {
                triple["valueColumn"] = value.into();
            }
            triple
        });
        json!({"teams": {"rows": triples.collect::<Vec<_>>()}})
    };
    let rows: Vec<_> = cells
        .iter()
        .map(|(cell, rows)| (json!({"teams": cell}), refs(rows)))
        .collect();
    let mut link = link("teams", value);
    link["isMultiSelect"] = true.into();
    Pack::new()
        .table("teams")
        .table("people")
        .create("create_column", "c_teams_id", identity)
        .column("teams", "code", "text", json!(null))
        .column("people", "teams", "linked_select", link)
        .rows("people", None, &rows)
        .rows(
            "teams",
            Some("code"),
            &[
                (json!({"code": "a"}), Json::Null),
                (json!({"code": "b"}), Json::Null),
            ],
        )
}

#[test]
fn a_list_cell_keeps_elements_without_a_target_only_where_they_can_be_placed() {
    let dropped = |value: &str, cells: &[(Json, &[usize])]| {
        preview_of(&people(value, cells), "{}", clients(), &[]).rows["f_people"].dropped_links
    };
    assert_eq!(dropped("code", &[(json!(["a", "b"]), &[6100, 6101])]), 0);
    assert_eq!(
        dropped("code", &[(json!(["a", "?", "b"]), &[6100, 6101])]),
        0
    );
    assert_eq!(dropped("id", &[(json!(["1", "2"]), &[6100, 6101])]), 0);
    assert_eq!(dropped("id", &[(json!(["1", "?", "2"]), &[6100, 6101])]), 1);
}

#[test]
fn rows_that_exist_by_key_are_targets_and_rows_of_no_table_are_none() {
    let pack = people("code", &[(json!(["a"]), &[6100]), (json!(["b"]), &[6101])]);
    let none = preview_of(
        &pack,
        r#"{"rowsModes": {"f_teams": "none"}}"#,
        clients(),
        &[],
    );
    assert_eq!(none.rows["f_people"].dropped_links, 2);
    assert_eq!(none.rows["f_teams"], RowsPreview::default());
    let missing = preview_of(
        &pack,
        r#"{"rowsModes": {"f_teams": "missingByKey"}}"#,
        clients(),
        &[],
    );
    assert_eq!(
        (
            missing.rows["f_people"].dropped_links,
            missing.rows["f_teams"].insert
        ),
        (0, 2)
    );
}

#[test]
fn rows_of_steps_are_counted_with_their_table() {
    let pack = Pack::new()
        .table("t")
        .column("t", "k", "text", json!(null))
        .step(
            "insert_rows",
            json!({"featureId": "$f_t", "rows": [{"data": {"k": "x"}}, {"data": {"k": "y"}}]}),
        );
    assert_eq!(
        preview_of(&pack, "{}", clients(), &[]).rows["f_t"].insert,
        2
    );
}
