//! Columns that become stricter, and the cells that are there.

use serde_json::{Value as Json, json};

use super::{Line, args, asked, client, conflicts, v1, v2};

fn stricter(config: &Json) -> Json {
    v2(|package| args(package, "c_clients_city")["config"] = config.clone())
}

#[test]
fn what_would_not_fit_is_asked_with_its_places() {
    let mut line = Line::new();
    line.cells(0, &json!({"city": null}));
    line.cells(2, &json!({"city": "Kiel"}));
    let plan = line.plan(&stricter(&json!({"required": true})), &asked(&Json::Null));
    assert_eq!(
        conflicts(&plan),
        [("required_empty", "c_clients_city", "config.required")]
    );
    let conflict = &plan.conflicts[0];
    assert_eq!(
        (conflict.count, conflict.places.as_slice()),
        (Some(1), &[line.client_row(0).1][..])
    );
    let plan = line.plan(&stricter(&json!({"unique": true})), &asked(&Json::Null));
    assert_eq!(
        conflicts(&plan),
        [("unique_repeated", "c_clients_city", "config.unique")]
    );
    // `theirs` lets cells stay empty, and never lets values stand twice.
    let theirs = |path: &str| asked(&json!({"c_clients_city": {path: "theirs"}}));
    let plan = line.plan(
        &stricter(&json!({"required": true})),
        &theirs("config.required"),
    );
    assert_eq!(conflicts(&plan), []);
    let plan = line.plan(
        &stricter(&json!({"unique": true})),
        &theirs("config.unique"),
    );
    assert_eq!(conflicts(&plan).len(), 1);
    // `ours` keeps the column.
    let ours = asked(&json!({"c_clients_city": {"config.unique": "ours"}}));
    assert_eq!(
        line.plan(&stricter(&json!({"unique": true})), &ours)
            .refusals,
        []
    );
}

#[test]
fn another_type_is_measured_and_what_fits_is_written() {
    let number = v2(|package| {
        let args = args(package, "c_clients_note");
        args["type"] = "number".into();
        args["defaultComponent"] = "numberfield".into();
        for row in 0..3 {
            client(package, row)["note"] = (row + 1).into();
        }
    });
    let line = Line::new();
    let plan = line.plan(&number, &asked(&Json::Null));
    assert_eq!(plan.conflicts[0].code.as_str(), "type_change_loses");
    assert_eq!(
        (plan.conflicts[0].count, plan.conflicts[0].path.as_deref()),
        (Some(3), Some("type"))
    );
    let fits = Line::new();
    assert_eq!(fits.plan(&v1(), &asked(&Json::Null)).conflicts, []);
    let unique = stricter(&json!({"unique": true}));
    let mut line = Line::new();
    line.upgrade(&unique, &Json::Null);
    let city = line.get(crate::workspace::RecordKind::Column, "city");
    assert_eq!(city.config.get("unique"), Some(&true.into()));
}
