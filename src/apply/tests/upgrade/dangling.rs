//! Links by the automatic identity that name no row, because the source does not have it any more: what they hold is an
//! identity of the source, and another row's here.

use serde_json::{Value as Json, json};

use super::super::world::{link, points};
use super::unlinked::compared;
use super::{Line, conflicts, updates, upgrade_body};
use crate::apply::Preview;
use crate::apply::test_packages::{Pack, uid};

/// Two clients with minted numbers, and an order that points at a client.
fn orders(client: &Json, refs: &Json) -> Json {
    let identity = json!({"featureId": "$f_clients", "name": "id", "label": "id", "type": "number",
        "defaultComponent": "id", "order": 9, "config": {"idType": "sequence"}});
    let named = |name: &str| (json!({"name": name}), Json::Null);
    let refs = match refs {
        Json::Null => Json::Null,
        refs => json!({"client": refs}),
    };
    let order = (json!({"code": "1", "client": client}), refs);
    let pack = Pack::new()
        .table("clients")
        .table("orders")
        .column("clients", "name", "text", json!(null))
        .create("create_column", "c_clients_id", identity)
        .column("orders", "code", "text", json!(null))
        .column("orders", "client", "linked_select", link("clients", "id"))
        .rows("clients", Some("name"), &["A", "B"].map(named))
        .rows("orders", Some("code"), &[order]);
    let mut package = serde_json::from_str(&pack.text()).expect("JSON");
    compared(&mut package);
    package
}

/// The client of number 1 at the source is gone there; here it is somebody else.
fn dangling() -> Json {
    orders(&json!(1), &Json::Null)
}

/// It points at a client.
fn pointing(row: usize) -> Json {
    orders(&json!(7), &points(row, "clients", "id"))
}

fn order(line: &Line) -> Json {
    serde_json::from_str(&line.order(0)).expect("JSON")
}

fn not_carried(plan: &Preview) -> Vec<(Option<&str>, Option<u64>)> {
    let left = plan.not_carried.iter();
    left.map(|one| (one.path.as_deref(), one.count)).collect()
}

#[test]
fn an_apply_empties_them_and_nothing_has_changed_after_it() {
    let mut line = Line::empty();
    let plan = line.plan(&dangling(), "{}");
    assert_eq!(plan.rows["f_orders"].dropped_links, 1);
    let report = line.apply(&dangling(), "{}");
    let reported = report.unresolved.iter();
    let reported: Vec<_> = reported
        .map(|one| (one.path.as_str(), one.reason.as_str(), one.count))
        .collect();
    assert_eq!(
        reported,
        [("rows[].data.client", "row_ref_dropped", Some(1))]
    );
    assert_eq!(order(&line), json!({"code": "1"}));
    assert!(!line.drift(true).drift);
    // Whoever works on has not touched the link.
    line.edit_order(0, &json!({"code": "2"}));
    let plan = line.plan(&dangling(), &upgrade_body(&Json::Null));
    assert_eq!((conflicts(&plan), updates(&plan)), (vec![], vec![]));
    assert_eq!(not_carried(&plan), []);
    line.upgrade(&dangling(), &Json::Null);
    assert_eq!(order(&line), json!({"code": "2"}));
    // What people enter there is theirs, the number of the source too.
    for client in [1, 2] {
        line.edit_order(0, &json!({"client": client}));
        let drift = line.drift(true).cells.unwrap_or_default();
        let drifted: Vec<_> = drift.iter().map(|cell| &*cell.column).collect();
        assert_eq!(drifted, ["code", "client"]);
    }
    line.upgrade(&dangling(), &Json::Null);
    assert_eq!(order(&line), json!({"code": "2", "client": 2}));
}

#[test]
fn a_version_that_names_a_row_brings_it() {
    let mut line = Line::of(&dangling());
    line.edit_order(0, &json!({"code": "2"}));
    line.upgrade(&pointing(6001), &Json::Null);
    assert_eq!(order(&line), json!({"code": "2", "client": 2}));
    assert!(line.drift(true).cells.is_some_and(|cells| cells.len() == 1));
}

#[test]
fn a_version_that_names_no_row_any_more_takes_nothing_away() {
    let mut line = Line::of(&pointing(6001));
    let before = order(&line);
    assert_eq!(before, json!({"code": "1", "client": 2}));
    let plan = line.plan(&dangling(), &upgrade_body(&Json::Null));
    assert_eq!((conflicts(&plan), updates(&plan)), (vec![], vec![]));
    assert_eq!(not_carried(&plan), [(Some("rows[].data.client"), Some(1))]);
    line.upgrade(&dangling(), &Json::Null);
    assert_eq!(order(&line), before);
    // A row that is new with it enters without a link, and later versions have nothing to bring.
    let mut more = dangling();
    let new = json!({"uid": uid(6101), "data": {"code": "3", "client": [1, 2]}});
    super::unlinked::add(&mut more, 1, new);
    let report = line.upgrade(&more, &Json::Null);
    assert_eq!(report.rows["f_orders"].inserted, 1);
    let stored: Json = serde_json::from_str(&line.order(1)).expect("JSON");
    assert_eq!(stored, json!({"code": "3"}));
    let report = line.upgrade(&more, &Json::Null);
    assert_eq!(report.rows["f_orders"].updated, 0);
    assert!(!line.drift(true).drift);
}
