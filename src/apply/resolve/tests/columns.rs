//! Which columns of the destination take those of the package, and which may stay empty.

use serde_json::{Value as Json, json};

use crate::apply::test_packages::{Pack, apply, codes, furnished, id, refused};
use crate::definitions::Definitions;
use crate::problem::Code;
use crate::workspace::{Column, Structure};

/// Visits link to clients, which do not travel; a step brings rows for those.
fn visits(column_type: &str) -> Pack {
    let link = json!({"linkedFeatureId": "$f_clients", "linkedValueColumn": "$c_clients_name"});
    let mut pack = Pack::new()
        .table("visits")
        .column("visits", "client", "linked_select", link)
        .step(
            "insert_rows",
            json!({"featureId": "$f_clients", "rows": [{"data": {"name": "x"}}, {"data": {}}]}),
        );
    pack.external = vec!["f_clients", "c_clients_name"];
    let uses = [
        (1001, "config.linkedFeatureId"),
        (1001, "config.linkedValueColumn"),
    ];
    let mut pack = pack.far_table("clients", &["name"], false, &uses);
    let column = &mut pack.dependencies[0]["identity"]["columns"][0];
    column["type"] = column_type.into();
    let known = &Definitions::embedded().column_types[column_type];
    column["defaultComponent"] = known.default_component.as_str().into();
    pack
}

/// Clients with one column of each of these types, from 50 on.
fn destination(types: &[&str], config: &Json) -> Structure {
    let mut structure = furnished();
    for (number, column_type) in (50_u128..).zip(types) {
        let config = crate::apply::test_packages::value(config.clone());
        structure.features[0].columns.push(Column {
            id: id(number),
            name: format!("{column_type}_{number}"),
            label: (*column_type).to_owned(),
            column_type: (*column_type).to_owned(),
            default_component: String::new(),
            order: 9,
            config: config.as_object().cloned().unwrap_or_default(),
        });
    }
    structure
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "`json!(…)` reads better without a `&`"
)]
fn mapped(columns: Json, more: Json) -> String {
    let mut clients = json!({"action": "map", "id": id(10), "columns": columns});
    for (key, value) in more.as_object().into_iter().flatten() {
        clients[key] = value.clone();
    }
    json!({"resolutions": {"f_clients": clients}}).to_string()
}

#[test]
fn a_column_is_mapped_to_one_of_equal_storage() {
    let into = destination(
        &[
            "number",
            "currency",
            "select",
            "json",
            "date",
            "button",
            "of_others",
        ],
        &json!({}),
    );
    let to = |number: u128| mapped(json!({"c_clients_name": id(number)}), json!({}));
    for (from, fitting) in [
        ("text", &[12, 53, 56][..]),
        ("number", &[50, 51, 53, 56]),
        ("select", &[12, 52, 53, 56]),
        ("date", &[53, 54, 56]),
        ("json", &[53, 56]),
        ("button", &[]),
    ] {
        for number in [12, 50, 51, 52, 53, 54, 55, 56] {
            let found = apply(&visits(from), &to(number), &into);
            let Err(refusals) = found else {
                assert!(fitting.contains(&number), "{from} to {number}");
                continue;
            };
            assert!(
                !fitting.contains(&number),
                "{from} to {number}: {refusals:?}"
            );
            assert_eq!(
                codes(&refusals),
                [(Code::MappingColumnNotFound, "c_clients_name")]
            );
            let detail = &refusals[0].detail;
            assert!(detail.contains(&format!("type {from},")), "{detail}");
        }
    }
}

#[test]
fn two_columns_onto_one_are_a_fault_of_the_shape() {
    let body = mapped(
        json!({"c_clients_name": id(12), "$c_clients_other": id(12)}),
        json!({}),
    );
    let faults = crate::apply::Request::from_json(&body).expect_err("refused");
    assert_eq!(codes(&faults), [(Code::ValidationFailed, "f_clients")]);
    assert!(
        faults[0]
            .detail
            .starts_with("`resolutions.f_clients.columns` maps both"),
        "{faults:?}"
    );
}

#[test]
fn a_required_column_is_filled_or_listed() {
    let into = destination(&["text", "text"], &json!({"required": true}));
    let name = json!({"c_clients_name": id(50)});
    let expected = (Code::MappingRequired, "f_clients");
    // One row has nothing for the first, and none for the second.
    let body = mapped(name.clone(), json!({}));
    let refusals = apply(&visits("text"), &body, &into).expect_err("refused");
    assert_eq!(codes(&refusals), [expected, expected]);
    assert!(refusals[0].detail.contains("\"text_50\""), "{refusals:?}");
    assert!(refusals[1].detail.contains("\"text_51\""), "{refusals:?}");
    let one = mapped(name.clone(), json!({"leaveEmpty": ["text_51"]}));
    refused(&visits("text"), &one, &into, &[expected]);
    let both = mapped(name, json!({"leaveEmpty": ["text_51", "text_50"]}));
    let approved = apply(&visits("text"), &both, &into).expect("approved");
    let crate::apply::RowStepWork::Insert { columns, .. } = &approved.row_steps[0].work else {
        panic!("{:?}", approved.row_steps);
    };
    let mapped_column = columns.iter().find(|work| work.column.id == id(50));
    assert!(mapped_column.is_some_and(|work| !work.column.is_required()));
    // Nothing is required when no row enters.
    let mut none: Json = serde_json::from_str(&body).expect("JSON");
    none["includeRows"] = false.into();
    assert!(apply(&visits("text"), &none.to_string(), &into).is_ok());
    none["includeRows"] = true.into();
    none["rowsModes"] = json!({"f_clients": "none"});
    assert!(apply(&visits("text"), &none.to_string(), &into).is_ok());
}

#[test]
fn only_columns_of_the_table_are_left_empty() {
    let body = mapped(
        json!({"c_clients_name": id(12)}),
        json!({"leaveEmpty": ["nam"]}),
    );
    refused(
        &visits("text"),
        &body,
        &furnished(),
        &[(Code::ValidationFailed, "f_clients")],
    );
    // An identity is minted: nothing is required for it, and it may be listed.
    let id_too = mapped(
        json!({"c_clients_name": id(12)}),
        json!({"leaveEmpty": ["id"]}),
    );
    assert!(apply(&visits("text"), &id_too, &furnished()).is_ok());
}
