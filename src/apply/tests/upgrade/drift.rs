//! What people changed, reported without a new version (`upgrade` 4.1).

use std::collections::HashSet;

use serde_json::json;

use super::gone_targets::{delete_client, numbered};
use super::namesakes::own_in;
use super::unfit_cells::{chosen, counted, make_texts, rename_options};
use super::{Line, args, client, config, label, rowless, v1, v2};
use crate::apply::{DriftInput, Request, drift};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::upgrade::{Drift, RowsDrift};
use crate::workspace::{
    Change, Column, Id, New, Rail, RecordKind, RowData, Source as _, StoredRow, ready,
};

impl Line {
    pub(super) fn drift(&self, cells: bool) -> Drift {
        self.drift_without(cells, &HashSet::new())
    }

    fn drift_without(&self, cells: bool, unseen: &HashSet<Id>) -> Drift {
        let structure = ready(self.memory.structure()).expect("a structure");
        let request = Request::default();
        self.past(|past| {
            let input = DriftInput {
                template: Id::nil(),
                past,
                request: &request,
                unseen,
                cells,
                definitions: Definitions::embedded(),
            };
            ready(drift(&self.memory, &structure, input)).expect("a drift")
        })
    }
}

/// Changed leaves: ref, path, base, ours.
fn changed(drift: &Drift) -> Vec<(&str, &str, String, String)> {
    let changed = drift.changed.iter();
    changed
        .map(|one| {
            let (base, ours) = (one.base.write(), one.ours.write());
            (one.reference.as_str(), one.path.as_str(), base, ours)
        })
        .collect()
}

#[track_caller]
fn nothing(drift: &Drift) {
    assert!(
        !drift.drift && drift.changed.is_empty() && drift.removed.is_empty(),
        "{drift:#?}"
    );
    let rows = drift.rows.values();
    let mut rows = rows.filter(|rows| **rows != RowsDrift::default());
    assert_eq!((rows.next(), drift.cells.as_deref()), (None, Some(&[][..])));
}

#[test]
fn nothing_drifts_after_an_apply_an_upgrade_and_an_undo() {
    let mut line = Line::new();
    nothing(&line.drift(true));
    let tables: Vec<String> = line.drift(false).rows.into_keys().collect();
    assert_eq!(tables, ["f_clients", "f_orders"]);
    let next = v2(|package| {
        super::args(package, "f_clients")["label"] = "Customers".into();
        super::client(package, 0)["city"] = "Ulm".into();
    });
    line.upgrade(&next, &json!(null));
    nothing(&line.drift(true));
    line.apply(&next, "{}");
    nothing(&line.drift(true));
    line.undo(false).expect("undone");
    line.undo(false).expect("undone");
    nothing(&line.drift(true));
    let mut before = Line::new();
    before.forget_base();
    nothing(&before.drift(true));
}

#[test]
fn leaves_that_people_changed_are_listed_with_what_was_applied() {
    let mut line = Line::new();
    line.edit(RecordKind::Feature, "clients", label("Ours"));
    line.edit(RecordKind::Column, "city", config("required", &json!(true)));
    line.edit(RecordKind::Module, "m", |thing| thing.icon = None);
    line.edit(RecordKind::Column, "name", |thing| thing.order = Some(9));
    line.edit(RecordKind::Rail, "s", |thing| thing.order = Some(0));
    let drift = line.drift(false);
    assert!(drift.drift && drift.cells.is_none());
    let text = |text: &str| format!("{text:?}");
    assert_eq!(
        changed(&drift),
        [
            ("f_clients", "label", text("clients"), text("Ours")),
            (
                "c_clients_city",
                "config.required",
                "null".to_owned(),
                "true".to_owned()
            ),
            ("m_m", "icon", text("box"), "null".to_owned()),
            (
                "f_clients",
                "order.columns",
                json!(["name", "city", "note"]).to_string(),
                json!(["city", "note", "name"]).to_string()
            ),
            (
                "m_m",
                "order.rails",
                json!(["r", "s"]).to_string(),
                json!(["s", "r"]).to_string()
            ),
        ]
    );
}

#[test]
fn what_was_decided_for_ours_is_drift_from_what_the_package_says() {
    let mut line = Line::new();
    line.edit(RecordKind::Feature, "clients", label("Ours"));
    let next = v2(|package| super::args(package, "f_clients")["label"] = "Customers".into());
    line.upgrade(&next, &json!({"f_clients": {"label": "ours"}}));
    let drift = line.drift(false);
    let text = |text: &str| format!("{text:?}");
    assert_eq!(
        changed(&drift),
        [("f_clients", "label", text("Customers"), text("Ours"))]
    );
}

/// The cells were applied by the columns as they were then.
#[test]
fn cells_that_people_changed_after_their_column_are_drift() {
    let mut renamed = Line::of(&v2(chosen));
    rename_options(&mut renamed);
    let mut retyped = Line::of(&v2(counted));
    make_texts(&mut retyped);
    for (mut line, base) in [(renamed, "1".into()), (retyped, Value::from(1_i64))] {
        line.cells(0, &json!({"note": "one"}));
        line.cells(1, &json!({"city": "Ours"}));
        let drift = line.drift(true);
        assert_eq!(drift.rows["f_clients"].changed, 2);
        let cells = drift.cells.unwrap_or_default().into_iter();
        let cells: Vec<_> = cells
            .map(|cell| (cell.column, cell.base, cell.ours))
            .collect();
        assert_eq!(
            cells,
            [
                ("note".to_owned(), base, "one".into()),
                ("city".to_owned(), "Kiel".into(), "Ours".into()),
            ]
        );
    }
}

/// Rows that an upgrade refused for a cell that the column cannot hold keep the base of it.
#[test]
fn rows_with_a_cell_that_does_not_fit_are_compared_all_the_same() {
    let numbered = v2(|package| {
        args(package, "c_clients_note")["type"] = "number".into();
        args(package, "c_clients_note")["defaultComponent"] = "numberfield".into();
        client(package, 0)["note"] = 1.into();
        client(package, 1)["note"] = 2.into();
        client(package, 2)["note"] = 3.into();
    });
    let mut line = Line::new();
    line.upgrade(&numbered, &json!({"c_clients_note": {"type": "ours"}}));
    let rows = |line: &Line| line.drift(true).rows["f_clients"].changed;
    assert_eq!(rows(&line), 0);
    line.cells(0, &json!({"city": "Ours"}));
    assert_eq!(rows(&line), 1);
}

#[test]
fn records_that_went_are_one_with_what_was_in_them() {
    let mut line = Line::new();
    line.remove(RecordKind::Column, "code");
    let drift = line.drift(true);
    assert_eq!(changed(&drift), []);
    let removed = |drift: &Drift| -> Vec<(String, String)> {
        let removed = drift.removed.iter();
        removed
            .map(|one| (one.reference.clone(), one.name.clone()))
            .collect()
    };
    assert_eq!(
        removed(&drift),
        [("c_orders_code".to_owned(), "code".to_owned())]
    );
    line.remove(RecordKind::Feature, "orders");
    let drift = line.drift(true);
    assert_eq!(
        removed(&drift),
        [("f_orders".to_owned(), "orders".to_owned())]
    );
    let tables: Vec<&str> = drift.rows.keys().map(String::as_str).collect();
    assert_eq!(tables, ["f_clients"]);
}

#[test]
fn what_people_put_into_tables_and_modules_is_listed() {
    let mut line = Line::new();
    let structure = line.memory.state().structure;
    let (name, label) = ("own".to_owned(), "Own".to_owned());
    let feature = &structure.features[0];
    let column = Column {
        id: Id::from_u128(0xAA01),
        name: name.clone(),
        label: label.clone(),
        ..feature.columns[0].clone()
    };
    let module = &structure.modules[0];
    let rail = Rail {
        id: Id::from_u128(0xAA02),
        name,
        label,
        ..module.rails[0].clone()
    };
    let made = vec![
        Change::Create(New::Column {
            feature: feature.id,
            column,
        }),
        Change::Create(New::Rail {
            module: module.id,
            rail,
        }),
    ];
    super::person(&mut line.memory, made);
    let drift = line.drift(false);
    let added: Vec<(&str, &str, &str)> = drift
        .added
        .iter()
        .map(|one| {
            (
                one.parent_ref.as_str(),
                one.name.as_str(),
                one.label.as_str(),
            )
        })
        .collect();
    assert_eq!(added, [("f_clients", "own", "Own"), ("m_m", "own", "Own")]);
    assert!(drift.drift && drift.changed.is_empty());
}

#[test]
fn rows_are_counted_and_cells_of_reference_data_are_drift_when_asked_for() {
    let mut line = Line::new();
    line.cells(0, &json!({"city": "Ulm"}));
    let (feature, second) = line.client_row(1);
    let own = StoredRow {
        id: Id::from_u128(u128::MAX >> 1),
        data: RowData::parse(r#"{"name": "own"}"#).expect("cells"),
    };
    let gone = vec![crate::workspace::Removal {
        id: second,
        digest: None,
    }];
    let changes = vec![
        Change::InsertRows {
            feature,
            rows: vec![own],
        },
        Change::RemoveRows {
            feature,
            rows: gone,
        },
    ];
    super::person(&mut line.memory, changes);
    let counts = RowsDrift {
        added: 1,
        deleted: 1,
        changed: 1,
    };
    let drift = line.drift(false);
    assert!(
        !drift.drift && drift.rows["f_clients"] == counts,
        "{drift:#?}"
    );
    let drift = line.drift(true);
    assert!(drift.drift && drift.cells_more == Some(0));
    let cells = drift.cells.as_deref().unwrap_or_default();
    let [cell] = cells else { panic!("{cells:#?}") };
    assert_eq!(
        (cell.reference.as_str(), cell.column.as_str()),
        ("f_clients", "city")
    );
    assert_eq!(
        (&cell.base, &cell.ours),
        (&Value::from("Bonn"), &Value::from("Ulm"))
    );
    // A row that nobody could see is not counted as gone.
    let drift = line.drift_without(false, &HashSet::from([second]));
    assert_eq!(drift.rows["f_clients"].deleted, 0);
}

#[test]
fn cells_of_transactional_data_are_counted_alone() {
    let mut package = v1();
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    for item in items.iter_mut().filter(|item| item["kind"] == "rows") {
        item["dataClass"] = "transactional".into();
    }
    let mut line = Line::of(&package);
    nothing(&line.drift(true));
    line.cells(0, &json!({"city": "Ulm"}));
    let drift = line.drift(true);
    assert!(
        !drift.drift && drift.cells.as_deref() == Some(&[][..]),
        "{drift:#?}"
    );
    assert_eq!(drift.rows["f_clients"].changed, 1);
    let empty = Line::of(&rowless(v1()));
    assert!(empty.drift(true).rows.is_empty());
}

/// Without clients and without what links to them; with rows of orders.
fn clientless() -> serde_json::Value {
    v2(|package| {
        for reference in [
            "f_clients",
            "c_clients_name",
            "c_clients_city",
            "c_clients_note",
            "c_orders_client",
            "w_flow",
        ] {
            super::without(package, reference);
        }
        args(package, "v_orders")["config"] = json!([{"visibleColumns": ["$c_orders_code"]}]);
        let payloads = package["payloads"].as_array_mut().expect("payloads");
        payloads.remove(0);
        payloads[0]["columns"] = json!(["code"]);
        let row = &mut payloads[0]["rows"][0];
        *row = json!({"uid": row["uid"], "data": {"code": "1"}});
        let items = package["manifest"]["items"].as_array_mut().expect("items");
        let mut rows = 0;
        items.retain(|item| {
            rows += usize::from(item["kind"] == "rows");
            item["kind"] != "rows" || rows == 2
        });
    })
}

#[test]
fn cells_of_a_table_that_the_newest_version_lacks_are_those_of_the_one_that_had_it() {
    let mut line = Line::new();
    line.upgrade(&clientless(), &json!(null));
    nothing(&line.drift(true));
    line.cells(0, &json!({"city": "Ulm"}));
    let drift = line.drift(true);
    assert_eq!(drift.rows["f_clients"].changed, 1);
    let cells = drift.cells.as_deref().unwrap_or_default();
    let [cell] = cells else { panic!("{cells:#?}") };
    assert_eq!(
        (cell.reference.as_str(), cell.column.as_str(), &cell.base),
        ("f_clients", "city", &Value::from("Bonn"))
    );
    assert!(drift.drift);
    assert!(!line.drift(false).drift);
    let tables: Vec<&str> = drift.rows.keys().map(String::as_str).collect();
    assert_eq!(tables, ["f_clients", "f_orders"]);
}

#[test]
fn cells_of_a_column_that_the_newest_version_lacks_are_drift_too() {
    let mut line = Line::new();
    line.upgrade(&super::dropped::noteless(), &json!(null));
    nothing(&line.drift(true));
    line.cells(0, &json!({"note": "Ours"}));
    line.cells(1, &json!({"note": "Ours", "city": "Ours"}));
    let drift = line.drift(true);
    let counts = RowsDrift {
        changed: 2,
        ..RowsDrift::default()
    };
    assert_eq!(drift.rows["f_clients"], counts);
    let cells = drift.cells.as_deref().unwrap_or_default();
    let cells: Vec<_> = cells
        .iter()
        .map(|cell| (&*cell.column, cell.base.write()))
        .collect();
    let text = |text: &str| format!("{text:?}");
    assert_eq!(
        cells,
        [
            ("city", text("Kiel")),
            ("note", text("1")),
            ("note", text("2"))
        ]
    );
    assert!(drift.drift && drift.cells_more == Some(0));
}

#[test]
fn a_link_that_nobody_touched_is_no_drift_although_its_row_is_gone() {
    let drifted = |line: &Line| -> Vec<String> {
        let cells = line.drift(true).cells.unwrap_or_default().into_iter();
        cells.map(|cell| cell.column).collect()
    };
    let ways: [fn(&mut Line); 2] = [
        |line| delete_client(line, 0),
        |line| line.remove(RecordKind::Feature, "clients"),
    ];
    for goes in ways {
        let mut line = Line::of(&numbered());
        goes(&mut line);
        assert!(drifted(&line).is_empty());
        line.edit_order(0, &json!({"code": "2"}));
        assert_eq!(drifted(&line), ["code"]);
        own_in(&mut line, "orders", 77, "own");
        line.edit_order(0, &json!({"own": "x"}));
        assert_eq!(drifted(&line), ["code"]);
        // What people put there is theirs.
        line.edit_order(0, &json!({"client": 2}));
        assert_eq!(drifted(&line), ["code", "client"]);
    }
}
