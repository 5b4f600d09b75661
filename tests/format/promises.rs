//! What the format requires of a reader, each rule with the three or four readings that are mixed up
//! most.

use serde_json::{Value, json};
use tplkit::check::{CheckOptions, check_text, promote};
use tplkit::finding::FileKind;

fn package() -> Value {
    serde_json::from_str(include_str!("../../examples/service-desk.json")).unwrap()
}

/// The package as a text, with members at the beginning of its manifest that need not be those of a value.
fn beginning_with(members: &str) -> String {
    let begun = "{\"manifest\":{";
    let file = package().to_string();
    assert!(file.starts_with(begun));
    file.replacen(begun, &format!("{begun}{members},"), 1)
}

/// Codes of the findings, each once.
fn codes(package: &Value) -> Vec<&'static str> {
    codes_of(package, &CheckOptions::default())
}

fn codes_of(package: &Value, options: &CheckOptions<'_>) -> Vec<&'static str> {
    let report = check_text(&package.to_string(), options);
    let mut codes: Vec<_> = report.findings.iter().map(|one| one.rule.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The rules of a promotion that do not hold.
fn broken(package: &Value) -> Vec<&'static str> {
    broken_in(&package.to_string())
}

fn broken_in(text: &str) -> Vec<&'static str> {
    let report = promote(text.as_bytes(), &CheckOptions::default());
    let verdicts = report.promotion.unwrap();
    assert_eq!(verdicts.len(), 5, "all five are measured");
    let broken = verdicts.iter().filter(|verdict| !verdict.passed);
    broken.map(|verdict| verdict.rule.code).collect()
}

/// The package with another value at a JSON Pointer whose owner is there.
fn with(pointer: &str, value: Value) -> Value {
    let mut package = package();
    let (owner, key) = pointer.rsplit_once('/').unwrap();
    match package.pointer_mut(owner).unwrap() {
        Value::Object(members) => drop(members.insert(key.to_owned(), value)),
        Value::Array(elements) => elements[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
    package
}

fn without(pointer: &str) -> Value {
    let mut package = package();
    let (owner, key) = pointer.rsplit_once('/').unwrap();
    let owner = package.pointer_mut(owner).unwrap().as_object_mut().unwrap();
    assert!(owner.remove(key).is_some());
    package
}

/// Position of the first dependency of a kind.
fn dependency(kind: &str) -> String {
    let package = package();
    let mut list = package["manifest"]["dependencies"]
        .as_array()
        .unwrap()
        .iter();
    let at = list.position(|one| one["kind"] == kind).unwrap();
    format!("/manifest/dependencies/{at}")
}

#[test]
fn without_a_version_a_walked_file_is_plain_a_named_one_a_finding_and_no_promotion_passes() {
    let file = without("/manifest/templateVersion");
    let walked = CheckOptions {
        named: false,
        ..CheckOptions::default()
    };
    let report = check_text(&file.to_string(), &walked);
    assert_eq!((report.kind, report.findings.len()), (FileKind::Plain, 0));
    assert_eq!(codes(&file), ["J003"]);
    assert!(broken(&file).contains(&"P001"));
}

#[test]
fn only_the_integers_1_and_2_are_versions() {
    for version in [
        json!("2"),
        json!(3),
        json!(2.5),
        json!(2.0),
        json!(true),
        json!(null),
    ] {
        let file = with("/manifest/templateVersion", version.clone());
        assert_eq!(codes(&file), ["J004"], "{version}");
        assert!(broken(&file).contains(&"P001"), "{version}");
    }
}

#[test]
fn a_bare_manifest_has_no_payloads_and_null_ones_are_a_mistake() {
    let mut bare = package()["manifest"].clone();
    assert_eq!(codes(&bare), Vec::<&str>::new());
    // Its rows items have no entry then.
    assert_eq!(broken(&bare), ["P003"]);
    let items = bare["items"].as_array_mut().unwrap();
    items.retain(|item| item["kind"] != "rows");
    assert_eq!(codes(&json!({"manifest": bare})), Vec::<&str>::new());
    assert_eq!(
        codes(&json!({"manifest": bare, "payloads": []})),
        Vec::<&str>::new()
    );
    assert_eq!(
        codes(&json!({"manifest": bare, "payloads": null})),
        ["J008"]
    );
}

#[test]
fn a_ref_tells_its_kind_by_what_declares_it_and_not_by_its_letter() {
    let package = package();
    // A channel and a module share their letter; so do automations and a dependency on one.
    let items = package["manifest"]["items"].as_array().unwrap();
    let starts = |kind: &str, letter: &str| {
        let mut of_kind = items.iter().filter(|item| item["kind"] == kind);
        of_kind.all(|item| item["ref"].as_str().unwrap().starts_with(letter))
    };
    assert!(starts("module", "m_") && starts("workflow", "w_"));
    let channel = package.pointer(&dependency("channel")).unwrap();
    assert!(channel["ref"].as_str().unwrap().starts_with("m_"));
    assert_eq!(codes(&package), Vec::<&str>::new());
}

#[test]
fn uids_are_of_version_4() {
    let uid = "u_97c9ba3d-d53d-108e-ad00-05363a81bb38";
    let file = with("/manifest/plan/steps/0/uid", json!(uid));
    assert_eq!(codes(&file), ["I001"]);
}

#[test]
fn a_detail_that_disagrees_with_the_blueprint_is_refused_either_way() {
    let channel = format!("{}/detail", dependency("workflowV2"));
    assert_eq!(codes(&with(&channel, json!("blueprint"))), ["D005"]);
    let mut file: Value =
        serde_json::from_str(include_str!("../../examples/event-planning.json")).unwrap();
    let list = file["manifest"]["dependencies"].as_array_mut().unwrap();
    let imported = list
        .iter_mut()
        .find(|one| one["detail"] == "blueprint")
        .unwrap();
    imported["detail"] = json!("identity");
    assert_eq!(codes(&file), ["D005"]);
}

#[test]
fn a_channel_is_by_uuid_required_and_has_no_blueprint() {
    let channel = dependency("channel");
    let changes = [
        ("form", json!("name")),
        ("required", json!(false)),
        ("blueprint", json!({"steps": []})),
    ];
    for (key, value) in changes {
        assert_eq!(
            codes(&with(&format!("{channel}/{key}"), value)),
            ["D011"],
            "{key}"
        );
    }
}

#[test]
fn foreign_words_are_spelled_exactly() {
    for (key, code) in [("reason", "U001"), ("action", "U002")] {
        let pointer = format!("/manifest/unresolved/0/{key}");
        let word = package()
            .pointer(&pointer)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(codes(&with(&pointer, json!(word.to_uppercase()))), [code]);
        assert_eq!(
            codes(&with(&pointer, json!(word.replace('_', " ") + " "))),
            [code]
        );
    }
}

#[test]
fn a_promotion_looks_at_keys_and_values_decoded_and_in_rows_too() {
    let texts = [
        r#"{"note": "my_workspace_id_2"}"#,
        r#"{"organization\u005fid": 1}"#,
    ];
    for text in texts {
        // Not by way of a value: the escape must reach the reader.
        let file = beginning_with(&format!("\"more\":{text}"));
        assert_eq!(broken_in(&file), ["P002"], "{text}");
    }
    let cell = with("/payloads/0/rows/0/data/x", json!("the organization_id"));
    assert_eq!(broken(&cell), ["P002"]);
    let legal = with(
        "/payloads/0/rows/0/data/x",
        json!("workspaceId, organizationId"),
    );
    assert_eq!(broken(&legal), Vec::<&str>::new());
}

/// Which member of a repeated key counts is for readers to choose, and the package has both.
#[test]
fn a_promotion_looks_at_both_members_of_a_repeated_key() {
    for members in [
        r#""more": "organization_id", "more": "ok""#,
        r#""more": "ok", "more": "organization_id""#,
        r#""more": {"workspace_id": 1}, "more": {"x": 1}"#,
        r#""more": {"x": {"y": "my workspace\u005fid"}, "x": 1}"#,
    ] {
        assert_eq!(broken_in(&beginning_with(members)), ["P002"], "{members}");
    }
    assert_eq!(
        broken_in(&beginning_with(r#""more": 1, "more": 2"#)),
        [""; 0]
    );
    let shadowed = format!(
        "{{\"payloads\": [{{\"rows\": [\"workspace_id\"]}}], {}",
        &package().to_string()[1..]
    );
    assert_eq!(broken_in(&shadowed), ["P002"]);
}
