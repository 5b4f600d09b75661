//! Tests: each mistake in a sample package gives one finding and hides no other.

use serde_json::{Value, json};

use crate::check::test_support::{AUTO, LINKS, TINY, findings, parse, set, table};
use crate::check::{CheckOptions, check, promote};
use crate::finding::Fix;
use crate::finding::fix::apply;

const ITEMS: &str = "/manifest/items";
const DEPENDENCIES: &str = "/manifest/dependencies";

#[test]
fn a_parent_is_an_item_whatever_the_child() {
    let nobody = "\"u_00000000-0000-4000-8000-000000000000\"";
    let notes = "\"u_c9e9c616-612e-4696-96ce-cc1b78e51061\"";
    table(
        TINY,
        ITEMS,
        &[
            (&[("/0/parent", nobody)], &[("I008", "/0/parent")]),
            (&[("/0/parent", "\"x\"")], &[("I008", "/0/parent")]),
            (&[("/6/parent", "\"\"")], &[("I008", "/6/parent")]),
            (&[("/6/parent", notes)], &[]),
            (&[("/6/parent", "5")], &[("J005", "/6/parent")]),
            (
                &[("/6/kind", "\"thing\""), ("/6/parent", nobody)],
                &[("I003", "/6/kind"), ("I008", "/6/parent")],
            ),
        ],
    );
    let dependency = "\"u_63d2e490-85ef-4430-8d03-8db4de383784\"";
    table(
        AUTO,
        ITEMS,
        &[
            (&[("/14/parent", dependency)], &[("I008", "/14/parent")]),
            (&[("/14/parent", nobody)], &[("I008", "/14/parent")]),
        ],
    );
}

#[test]
fn a_column_without_a_place_is_out_of_no_order() {
    table(
        TINY,
        "",
        &[
            (
                &[("/manifest/plan/steps/1/args/order", "")],
                &[("S009", "/manifest/plan/steps/1/args")],
            ),
            (
                &[("/manifest/plan/steps/1/args/order", "\"1\"")],
                &[("S009", "/manifest/plan/steps/1/args/order")],
            ),
            (
                &[("/manifest/plan/steps/1/args/order", "null")],
                &[("S009", "/manifest/plan/steps/1/args/order")],
            ),
            // The others are held against each other all the same, and each is listed once.
            (
                &[
                    ("/manifest/plan/steps/1/args/order", "null"),
                    (
                        "/payloads/0/columns",
                        "[\"n\",\"title\",\"body\",\"title\"]",
                    ),
                ],
                &[
                    ("S009", "/manifest/plan/steps/1/args/order"),
                    ("R006", "/payloads/0/columns/2"),
                    ("R006", "/payloads/0/columns/3"),
                ],
            ),
        ],
    );
}

/// A table of another workspace may have the name of one of this one: an import gives it a free one.
#[test]
fn a_blueprint_may_reuse_a_table_name() {
    let name = "/0/blueprint/steps/0/args/name";
    table(
        LINKS,
        DEPENDENCIES,
        &[
            (&[(name, "\"clients\"")], &[]),
            (&[(name, "\"orders\"")], &[]),
        ],
    );
}

/// A blueprint may be where none belongs, or declare what it should not: what its steps use is declared all the same.
#[test]
fn what_a_blueprint_declares_itself_is_declared() {
    let links = parse(LINKS);
    let whole = links["manifest"]["dependencies"][0]["blueprint"].to_string();
    let whole = whole.as_str();
    table(
        AUTO,
        DEPENDENCIES,
        &[
            (&[("/0/blueprint", whole)], &[("D011", "/0/blueprint")]),
            (&[("/3/blueprint", whole)], &[("D006", "/3/blueprint")]),
            (&[("/4/blueprint", whole)], &[("D006", "/4/blueprint")]),
        ],
    );
    let title = "\"$c_other\"";
    let other = r#"{"uid":"u_00000000-0000-4000-8000-000000000001","tool":"create_column","ref":"c_other",
        "args":{"featureId":"$f_countries","name":"other","label":"Other","type":"text","defaultComponent":"textfield","order":3}}"#;
    table(
        LINKS,
        "/manifest/dependencies/0/blueprint/steps",
        &[
            (
                &[
                    ("/0/ref", "\"f_other\""),
                    ("/1/args/featureId", "\"$f_other\""),
                    ("/2/args/featureId", "\"$f_other\""),
                ],
                &[("D007", "/0/ref")],
            ),
            (
                &[
                    ("/0/args/config", "{}"),
                    ("/0/args/config/titleColumn", title),
                    ("/3", other),
                ],
                &[("D007", "/3/ref")],
            ),
            (
                &[("/1/args/featureId", "\"$f_none\"")],
                &[("S006", "/1/args/featureId")],
            ),
        ],
    );
}

/// Every change alone gives one finding: that code at that place.
fn alone(base: &str, cases: &[(&str, &str, &str, &str)]) {
    for (pointer, value, code, place) in cases {
        table(base, "", &[(&[(pointer, value)], &[(code, place)])]);
    }
}

#[test]
fn what_steps_cannot_show_is_reported_of_nobody() {
    for (base, steps) in [(LINKS, &[9, 18, 19][..]), (AUTO, &[14, 15, 18])] {
        for step in steps {
            let step = format!("/manifest/plan/steps/{step}");
            let args = format!("{step}/args");
            alone(
                base,
                &[(&args, "", "J006", &step), (&args, "5", "J005", &args)],
            );
        }
    }
    let config = "/manifest/plan/steps/9/args/config";
    alone(LINKS, &[(config, "5", "S009", config)]);
    // An update that names nothing may be one of any column, but of nothing else.
    let update = "/manifest/plan/steps/22";
    table(
        AUTO,
        "",
        &[(
            &[
                ("/manifest/plan/steps/22/args", ""),
                (
                    "/manifest/dependencies/4/usedBy/0/path",
                    "\"config.0.views.0\"",
                ),
            ],
            &[
                ("D014", "/manifest/dependencies/4/usedBy/0/path"),
                ("J006", update),
            ],
        )],
    );
    // Other dependencies are checked all the same, and so are other items of the same one.
    table(
        LINKS,
        "",
        &[
            (
                &[
                    ("/manifest/plan/steps/9/args", ""),
                    ("/manifest/plan/steps/19/args/config", ""),
                ],
                &[
                    ("D015", "/manifest/dependencies/1"),
                    ("D014", "/manifest/dependencies/1/usedBy/0/path"),
                    ("D014", "/manifest/dependencies/1/usedBy/1/path"),
                    ("D016", "/manifest/plan/externalRefs/3"),
                    ("D016", "/manifest/plan/externalRefs/4"),
                    ("J006", "/manifest/plan/steps/9"),
                ],
            ),
            (
                &[
                    ("/manifest/plan/steps/9/args", ""),
                    (
                        "/manifest/dependencies/0/usedBy/2/path",
                        "\"config.nowhere\"",
                    ),
                ],
                &[
                    ("D014", "/manifest/dependencies/0/usedBy/2/path"),
                    ("J006", "/manifest/plan/steps/9"),
                ],
            ),
        ],
    );
}

#[test]
fn a_dependency_that_does_not_say_what_it_stands_for() {
    for dependency in ["/manifest/dependencies/0", "/manifest/dependencies/1"] {
        for key in ["ref", "identity"] {
            let at = format!("{dependency}/{key}");
            alone(
                LINKS,
                &[(&at, "", "J006", dependency), (&at, "5", "J005", &at)],
            );
        }
        let column = format!("{dependency}/identity/columns/0");
        alone(LINKS, &[(&format!("{column}/ref"), "", "J006", &column)]);
    }
    for index in 0..6 {
        let dependency = format!("/manifest/dependencies/{index}");
        for key in ["ref", "identity"] {
            let at = format!("{dependency}/{key}");
            alone(AUTO, &[(&at, "", "J006", &dependency)]);
        }
    }
    // A use that no `usedBy` lists and a ref of nobody are seen all the same.
    table(
        LINKS,
        "",
        &[
            (
                &[
                    ("/manifest/dependencies/0/ref", ""),
                    ("/manifest/dependencies/0/usedBy/2", ""),
                ],
                &[
                    ("J006", "/manifest/dependencies/0"),
                    (
                        "D018",
                        "/manifest/plan/steps/18/args/config/linkedFeatureId",
                    ),
                ],
            ),
            (
                &[
                    ("/manifest/dependencies/0/identity", ""),
                    (
                        "/manifest/plan/steps/17/args/config/linkedFeatureId",
                        "\"$f_none\"",
                    ),
                ],
                &[
                    ("J006", "/manifest/dependencies/0"),
                    (
                        "S006",
                        "/manifest/plan/steps/17/args/config/linkedFeatureId",
                    ),
                ],
            ),
        ],
    );
}

#[test]
fn an_item_without_a_uid_is_the_one_that_others_mean() {
    for item in [9, 18, 19, 27, 28, 29] {
        let item = format!("/manifest/items/{item}");
        alone(LINKS, &[(&format!("{item}/uid"), "", "J006", &item)]);
    }
    table(
        LINKS,
        "",
        &[
            // A use that nobody lists, and rows that nobody brings.
            (
                &[
                    ("/manifest/items/9/uid", ""),
                    ("/manifest/dependencies/0/usedBy/1", ""),
                ],
                &[
                    ("J006", "/manifest/items/9"),
                    (
                        "D018",
                        "/manifest/plan/steps/9/args/config/linkedValueColumn",
                    ),
                ],
            ),
            (
                &[("/manifest/items/28/uid", ""), ("/payloads/1", "")],
                &[
                    ("J006", "/manifest/items/28"),
                    ("R023", "/manifest/items/28"),
                    ("R012", "/payloads/1/rows/0/refs/tags/rows/0/rowUid"),
                    ("R012", "/payloads/1/rows/0/refs/tags/rows/1/rowUid"),
                    ("R012", "/payloads/1/rows/2/refs/tags/rows/0/rowUid"),
                ],
            ),
            // Counts are held against the entry that is meant.
            (
                &[
                    ("/manifest/items/28/uid", ""),
                    ("/manifest/items/28/count", "7"),
                ],
                &[
                    ("J006", "/manifest/items/28"),
                    ("R025", "/manifest/items/28/count"),
                ],
            ),
            (
                &[
                    ("/manifest/items/29/uid", ""),
                    ("/manifest/unresolved", "[]"),
                ],
                &[
                    ("J006", "/manifest/items/29"),
                    ("R026", "/payloads/2/rows/1/data/region"),
                ],
            ),
        ],
    );
}

#[test]
fn an_entry_that_names_no_item_is_that_of_its_table() {
    for entry in ["/payloads/0", "/payloads/1", "/payloads/2"] {
        let uid = format!("{entry}/itemUid");
        alone(
            LINKS,
            &[(&uid, "", "J006", entry), (&uid, "5", "J005", &uid)],
        );
    }
    table(
        LINKS,
        "",
        &[(
            &[
                ("/payloads/1/itemUid", ""),
                ("/payloads/1/featureRef", "\"f_regions\""),
            ],
            &[
                ("R023", "/manifest/items/28"),
                ("J006", "/payloads/1"),
                ("R020", "/payloads/2/rows/0/refs/tags/rows/0/featureRef"),
                ("R020", "/payloads/2/rows/0/refs/tags/rows/1/featureRef"),
                ("R020", "/payloads/2/rows/2/refs/tags/rows/0/featureRef"),
            ],
        )],
    );
}

#[test]
fn a_column_in_no_table_may_be_the_link_from_another() {
    let table_of = "/manifest/plan/steps/14/args/featureId";
    let class = "/manifest/items/28/dataClass";
    let other = "/manifest/items/27/dataClass";
    alone(
        LINKS,
        &[
            (table_of, "\"\"", "S009", table_of),
            (table_of, "\"$f_none\"", "S006", table_of),
        ],
    );
    table(
        LINKS,
        "",
        &[
            (&[(class, "\"transactional\"")], &[("I012", class)]),
            (
                &[(table_of, "\"\""), (other, "\"transactional\"")],
                &[("I012", other), ("S009", table_of)],
            ),
        ],
    );
}

#[test]
fn labels_and_descriptions_have_their_bounds_wherever_they_stand() {
    let text = |characters: usize| format!("\"{}\"", "é".repeat(characters));
    let (fits, long) = (text(255), text(256));
    for (base, place) in [
        (TINY, "/manifest/label"),
        (TINY, "/manifest/items/0/label"),
        (TINY, "/manifest/plan/steps/0/args/label"),
        (LINKS, "/manifest/dependencies/0/identity/label"),
        (LINKS, "/manifest/dependencies/0/identity/columns/0/label"),
        (
            LINKS,
            "/manifest/dependencies/0/blueprint/steps/0/args/label",
        ),
    ] {
        table(
            base,
            "",
            &[
                (&[(place, &fits)], &[]),
                (&[(place, &long)], &[("M008", place)]),
            ],
        );
    }
    let (fits, long) = (text(10_000), text(10_001));
    let place = "/manifest/description";
    table(
        TINY,
        "",
        &[
            (&[(place, &fits)], &[]),
            (&[(place, &long)], &[("M008", place)]),
        ],
    );
    // Of the wrong type it has no length.
    alone(TINY, &[("/manifest/label", "5", "J005", "/manifest/label")]);
}

#[test]
fn a_tool_that_is_no_text_is_of_the_wrong_type_and_nothing_more() {
    for (base, steps) in [(TINY, 0..4), (LINKS, 0..4), (AUTO, 0..4)] {
        for step in steps {
            let tool = format!("/manifest/plan/steps/{step}/tool");
            for value in ["5", "null", "[]", "{}", "true"] {
                alone(base, &[(&tool, value, "J005", &tool)]);
            }
            alone(base, &[(&tool, "\"create_thing\"", "S001", &tool)]);
        }
    }
    let tool = "/manifest/dependencies/0/blueprint/steps/0/tool";
    alone(
        LINKS,
        &[(tool, "5", "J005", tool), (tool, "\"x\"", "S001", tool)],
    );
}

#[test]
fn a_step_whose_ref_is_no_text_is_that_of_its_item() {
    for base in [TINY, LINKS, AUTO] {
        let package = parse(base);
        let steps = package["manifest"]["plan"]["steps"].as_array();
        for (index, step) in steps.expect("a list").iter().enumerate() {
            if step.get("ref").is_some() {
                let step = format!("/manifest/plan/steps/{index}");
                let reference = format!("{step}/ref");
                alone(
                    base,
                    &[
                        (&reference, "5", "J005", &reference),
                        (&reference, "", "S002", &step),
                    ],
                );
            }
        }
    }
    for index in 0..3 {
        let step = format!("/manifest/dependencies/0/blueprint/steps/{index}");
        let reference = format!("{step}/ref");
        alone(
            LINKS,
            &[
                (&reference, "5", "J005", &reference),
                (&step, "5", "J005", &step),
            ],
        );
    }
}

#[test]
fn an_update_that_carries_a_wrong_value_is_not_needless_too() {
    for (step, key) in [
        (21, "titleColumn"),
        (22, "workflowV2Id"),
        (23, "linkedValueColumn"),
    ] {
        let step = format!("/manifest/plan/steps/{step}");
        let field = format!("{step}/args/config/{key}");
        let id = "\"00000000-0000-4000-8000-000000000000\"";
        alone(AUTO, &[(&field, "5", "S009", &field)]);
        alone(AUTO, &[(&field, id, "X001", &field)]);
        alone(AUTO, &[(&field, "\"\"", "S014", &step)]);
    }
    let title = "/manifest/plan/steps/21/args/config/titleColumn";
    alone(AUTO, &[(title, "\"c_orders_number\"", "S009", title)]);
}

#[test]
fn a_dependency_of_a_malformed_uid_is_the_one_that_its_uses_target() {
    for base in [LINKS, AUTO] {
        let package = parse(base);
        let list = package["manifest"]["dependencies"].as_array();
        for index in 0..list.map_or(0, Vec::len) {
            let uid = format!("{DEPENDENCIES}/{index}/uid");
            alone(base, &[(&uid, "\"x\"", "I001", &uid)]);
        }
    }
}

#[test]
fn two_dependencies_of_one_ref_share_their_uses() {
    for base in [LINKS, AUTO] {
        let package = crate::check::test_support::parse(base);
        let list = package["manifest"]["dependencies"]
            .as_array()
            .expect("a list");
        let end = format!("/manifest/dependencies/{}", list.len());
        for dependency in list {
            let mut twin = dependency.clone();
            twin["uid"] = "u_00000000-0000-4000-8000-00000000beef".into();
            for entry in twin["usedBy"].as_array_mut().into_iter().flatten() {
                entry["targets"] = twin_uid();
            }
            let twin_of = |twin: &Value| {
                let mut changed = package.clone();
                crate::check::test_support::set(&mut changed, &end, &twin.to_string());
                let found = crate::check::test_support::findings(&changed.to_string(), 1);
                // The uids of its columns and of the steps of its blueprint are repeated, too.
                let codes: std::collections::BTreeSet<String> = found
                    .into_iter()
                    .map(|(code, _)| code)
                    .filter(|code| code != "I002")
                    .collect();
                codes.into_iter().collect::<Vec<_>>()
            };
            assert_eq!(twin_of(&twin), ["D008"], "{}", dependency["ref"]);
            // Listing some of the uses, or none, says nothing that the other one does not say.
            let uses = twin["usedBy"].as_array().map_or(0, Vec::len);
            for kept in 0..uses {
                let mut some = twin.clone();
                if let Some(list) = some["usedBy"].as_array_mut() {
                    list.truncate(kept);
                }
                assert_eq!(twin_of(&some), ["D008"], "{} {kept}", dependency["ref"]);
            }
        }
    }
}

/// One search over the text decides whether any value is looked at: it must not miss what escapes hide.
#[test]
fn secrets_are_found_in_keys_and_texts_however_they_are_written() {
    let written = [
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", "X003"),
        (r"A\u004bIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", "X003"),
        ("my workspace_id", "my workspace_id", "X004"),
        (r"my workspace\u005Fid", "my workspace_id", "X004"),
    ];
    let marked = |text: &str| -> Vec<(String, String)> {
        let found = findings(text, 1).into_iter();
        found.filter(|(code, _)| code.starts_with('X')).collect()
    };
    assert!(marked(TINY).is_empty());
    for (written, decoded, code) in written {
        let label = TINY.replacen("\"Vendas\"", &format!("\"{written}\""), 1);
        let place = (code.to_owned(), "/manifest/label".to_owned());
        assert_eq!(marked(&label), [place]);
        let member = format!("\"manifest\":{{\"{written}\":1,");
        let key = TINY.replacen("\"manifest\":{", &member, 1);
        let place = (code.to_owned(), format!("/manifest/{decoded}"));
        assert_eq!(marked(&key), [place]);
        // Two members of one key: both travel.
        let shadowed = format!("\"manifest\":{{\"label\":\"{written}\",");
        let shadowed = TINY.replacen("\"manifest\":{", &shadowed, 1);
        let place = (code.to_owned(), "/manifest/label".to_owned());
        assert_eq!(marked(&shadowed), [place]);
    }
}

#[test]
fn what_hides_the_version_is_shown_where_it_is_missing() {
    let cases: [(&str, &[(&str, &str)]); 3] = [
        (
            r#"{"manifest":{"templateVersion":2},"manifest":{}}"#,
            &[("J002", "/manifest"), ("J003", "/manifest")],
        ),
        (
            r#"{"ven\u0000das":1}"#,
            &[("J003", ""), ("J009", "/ven\u{0}das")],
        ),
        (
            r#"{"manifest":{},"payloads":[{"rows":[{"a":1,"a":2}]}]}"#,
            &[("J003", "/manifest"), ("J002", "/payloads/0/rows/0/a")],
        ),
    ];
    for (text, expected) in cases {
        let found = findings(text, 1);
        let found: Vec<_> = found
            .iter()
            .map(|(code, pointer)| (code.as_str(), pointer.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
        let walked = CheckOptions {
            named: false,
            ..CheckOptions::default()
        };
        assert!(check(text.as_bytes(), &walked).findings.is_empty());
    }
    // A promotion says of it that it cannot be measured, and nothing more.
    let report = promote(br#"{"manifest":5,"manifest":6}"#, &CheckOptions::default());
    assert_eq!(report.findings.len(), 1);
}

#[test]
fn a_secret_of_any_type_is_one() {
    let token = "/manifest/plan/steps/15/args/graphConfig/steps/3/config/bearerToken";
    for value in [
        "\"s3cr3t\"",
        "12345",
        "true",
        "[\"s3cr3t\"]",
        "{\"token\":\"s3cr3t\"}",
    ] {
        alone(AUTO, &[(token, value, "U008", token)]);
        table(
            AUTO,
            "",
            &[(
                &[(token, value), ("/manifest/redacted", "[]")],
                &[("X002", token)],
            )],
        );
    }
    // Empty, it is of the wrong type and gives nothing away.
    for empty in ["null", "[]", "{}"] {
        alone(AUTO, &[(token, empty, "A016", token)]);
    }
}

#[test]
fn what_a_text_looks_like_does_not_excuse_its_type() {
    table(
        TINY,
        "/manifest/tags",
        &[
            (&[("", "\"workspace_id\"")], &[("J005", ""), ("X004", "")]),
            (
                &[("", "\"AKIAIOSFODNN7EXAMPLE\"")],
                &[("J005", ""), ("X003", "")],
            ),
        ],
    );
}

fn twin_uid() -> Value {
    "u_00000000-0000-4000-8000-00000000beef".into()
}

/// The text after one round of all fixes.
fn fixed(text: &str) -> String {
    let report = check(text.as_bytes(), &CheckOptions::default());
    let fixes = report.findings.iter();
    let fixes: Vec<&Fix> = fixes.filter_map(|finding| finding.fix.as_ref()).collect();
    apply(text, &fixes).expect("a fix").0
}

#[test]
fn a_rows_item_gets_all_that_it_lacks_in_one_round() {
    let members = r#","count":3,"dataClass":"transactional""#;
    let lacking = TINY.replacen(members, "", 1);
    assert_ne!(lacking, TINY);
    assert_eq!(fixed(&lacking), TINY);
}

#[test]
fn step_ids_that_are_listed_keep_their_places() {
    const IDS: &str = "/manifest/items/14/stepIds";
    let list = |package: &Value| package.pointer(IDS).and_then(Value::as_array).cloned();
    let package = parse(AUTO);
    let ids = list(&package).expect("ids");
    let listed =
        |order: &[usize]| -> Vec<Value> { order.iter().map(|index| ids[*index].clone()).collect() };
    let all: Vec<usize> = (0..ids.len()).collect();
    let reversed: Vec<usize> = all.iter().rev().copied().collect();
    let twice = [&reversed[..], &all[..1]].concat();
    let without_two = [&all[..3], &all[5..]].concat();
    // The third follows the second, wherever that is.
    let later = &reversed[..ids.len() - 3];
    let without_third = [later, &[1, 0]].concat();
    let with_third = [later, &[1, 2, 0]].concat();
    for (before, after) in [
        (&twice[..], &reversed[..]),
        (&without_two[..], &all[..]),
        (&all[1..], &all[..]),
        (&without_third[..], &with_third[..]),
    ] {
        let mut package = package.clone();
        let written = Value::from(listed(before)).to_string();
        set(&mut package, IDS, &written);
        let package = parse(&fixed(&package.to_string()));
        assert_eq!(list(&package), Some(listed(after)), "{before:?}");
    }
}

/// What the fixes of a rule's findings would write.
fn written(text: &str, code: &str) -> Vec<Option<String>> {
    let report = check(text.as_bytes(), &CheckOptions::default());
    let mut findings = report.findings;
    findings.retain(|finding| finding.rule.code == code);
    let edits = |fix: Fix| -> String { fix.edits.into_iter().map(|edit| edit.text).collect() };
    findings
        .into_iter()
        .map(|finding| finding.fix.map(edits))
        .collect()
}

/// Whether the fixes of a rule's findings are safe; nothing for findings without one.
fn safe(package: &Value, code: &str) -> Vec<Option<bool>> {
    let text = package.to_string();
    let report = check(text.as_bytes(), &CheckOptions::default());
    let mut findings = report.findings;
    findings.retain(|finding| finding.rule.code == code);
    let fixes = findings.into_iter().map(|finding| finding.fix);
    fixes.map(|fix| fix.map(|fix| fix.safe)).collect()
}

fn push(package: &mut Value, list: &str, element: Value) {
    let list = package.pointer_mut(list).and_then(Value::as_array_mut);
    list.expect("a list").push(element);
}

#[test]
fn a_config_that_an_update_does_not_need_gets_no_shape_by_itself() {
    let update = |config: Option<Value>| {
        let mut args = json!({"viewId": "$v_notes"});
        if let Some(config) = config {
            args["config"] = config;
        }
        let uid = "u_e27d4a18-6f3b-4b0d-9c75-80a1f4d2b693";
        let mut package = parse(TINY);
        let step = json!({"uid": uid, "tool": "update_view", "args": args});
        push(&mut package, "/manifest/plan/steps", step);
        safe(&package, "S010")
    };
    let columns = json!({"visibleColumns": ["$c_notes_title"]});
    let later = json!({"visibleColumns": ["$r_home"]});
    assert_eq!(update(None), [None]);
    assert_eq!(update(Some(json!([]))), [None]);
    assert_eq!(update(Some(columns.clone())), [Some(false)]);
    assert_eq!(update(Some(later)), [Some(true)]);
    for config in [Some(columns), Some(json!([])), None] {
        let mut package = parse(TINY);
        let args = package.pointer_mut("/manifest/plan/steps/4/args");
        let args = args.and_then(Value::as_object_mut).expect("args");
        args.remove("config");
        args.extend(config.map(|config| ("config".to_owned(), config)));
        assert_eq!(safe(&package, "S010"), [Some(true)]);
    }
}

#[test]
fn a_second_rows_item_of_a_table_gets_no_parent_by_itself() {
    let mut package = parse(TINY);
    let rows = package["manifest"]["items"].as_array().expect("items");
    let at = rows.iter().position(|item| item["kind"] == "rows");
    let at = at.expect("a rows item");
    let orphan = |package: &mut Value, at: usize| {
        let item = package["manifest"]["items"][at].as_object_mut();
        item.expect("an item").remove("parent");
    };
    let mut alone = package.clone();
    orphan(&mut alone, at);
    assert_eq!(safe(&alone, "I016"), [Some(true)]);
    let mut item = package["manifest"]["items"][at].clone();
    item["uid"] = twin_uid();
    let mut entry = package["payloads"][0].clone();
    entry["itemUid"] = twin_uid();
    push(&mut package, ITEMS, item);
    push(&mut package, "/payloads", entry);
    let last = package["manifest"]["items"].as_array().map_or(0, Vec::len) - 1;
    orphan(&mut package, last);
    assert_eq!(safe(&package, "I016"), [Some(false)]);
    orphan(&mut package, at);
    assert_eq!(safe(&package, "I016"), [Some(false), Some(false)]);
}

#[test]
fn what_was_surely_meant_is_something_that_can_be_there() {
    let fix = |text: &str| Some(text.to_owned());
    // `f_notes` is as near, and a table.
    let views = TINY.replace("\"v_notes\"", "\"v_list\"");
    assert_eq!(written(&views, "S006"), [None, None]);
    let views = TINY.replace("\"v_notes\"", "\"v_note\"");
    assert_eq!(
        written(&views, "S006"),
        [fix("\"$v_note\""), fix("\"$v_note\"")]
    );
    let tables = TINY.replacen("\"$f_notes\"", "\"$f_nots\"", 1);
    assert_eq!(written(&tables, "S006"), [fix("\"$f_notes\"")]);
    let changed = |pointer: &str, value: &str| {
        let mut package = parse(TINY);
        set(&mut package, pointer, value);
        package.to_string()
    };
    // An empty name is at one letter from `n`.
    let nameless = changed("/manifest/plan/steps/3/args/name", "\"\"");
    assert_eq!(written(&nameless, "R005"), [None]);
    let listed = changed("/payloads/0/columns/3", "\"titel\"");
    assert_eq!(written(&listed, "R005"), [None]);
    let unlisted = changed("/payloads/0/columns/0", "\"titel\"");
    assert_eq!(written(&unlisted, "R005"), [fix("\"title\"")]);
    // `f_notes` is nearer and a table, which another item has already.
    let taken = changed("/manifest/items/5/ref", "\"f_note\"");
    assert_eq!(written(&taken, "I006"), [fix("\"v_notes\"")]);
    let free = changed("/manifest/items/3/ref", "\"c_notes_m\"");
    assert_eq!(written(&free, "I006"), [fix("\"c_notes_n\"")]);
}
