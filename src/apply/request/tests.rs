//! Tests: valid and invalid requests, as JSON and TOML.

use super::{Request, Resolution, RowsMode};
use crate::json::Doc;
use crate::problem::Code;

const ID: &str = "01890000-0000-7000-8000-000000000001";

#[test]
fn json_and_toml_say_the_same() {
    let json = format!(
        r#"{{"$schema": "x", "workspaceId": "{ID}", "jobId": "{ID}", "includeRows": false, "copy": true, "plan": "abc",
            "resolutions": {{"$f_a": {{"action": "map", "id": "{ID}", "columns": {{"$c_a_x": "{ID}"}}, "leaveEmpty": ["n", "n", "m"]}}, "f_b": {{"action": "import"}}, "m_c": {{"action": "skip"}}}},
            "rowsModes": {{"f_t": "all", "$f_u": "missingByKey", "f_v": "none"}}}}"#
    );
    let toml = format!(
        "workspaceId = \"{ID}\" # here\nincludeRows = false\ncopy = true\nplan = 'abc'\n\
         [resolutions.\"$f_a\"]\naction = \"map\"\nid = \"{ID}\"\nleaveEmpty = [\"n\", \"m\"]\n[resolutions.f_a_]\naction = \"skip\"\n\
         [resolutions.\"$f_a\".columns]\n\"$c_a_x\" = \"{ID}\"\n\
         [resolutions]\nf_b = {{ action = \"import\" }}\nm_c.action = \"skip\"\n\
         [rowsModes]\nf_t = \"all\"\n\"$f_u\" = \"missingByKey\"\nf_v = \"none\"\n"
    )
    .replace("[resolutions.f_a_]\naction = \"skip\"\n", "");
    let request = Request::from_json(&json).expect("a request");
    assert_eq!(Request::from_toml(&toml).expect("a request"), request);
    assert!(!request.include_rows && request.copy);
    assert_eq!(
        Request::from_value(&request.to_value()).expect("a request"),
        request
    );
    assert_eq!(Request::default().to_value().write(), "{}");
    let Resolution::Map {
        id,
        columns,
        leave_empty,
    } = &request.resolutions["f_a"]
    else {
        panic!("mapped");
    };
    assert_eq!(leave_empty, &["n", "m"]);
    assert_eq!(
        (id.as_str(), columns["c_a_x"].to_string().as_str()),
        (ID, ID)
    );
    assert_eq!(request.rows_modes["f_u"], RowsMode::MissingByKey);
    assert_eq!(
        Request::from_json("{}").expect("a request"),
        Request::default()
    );
    assert_eq!(
        Request::from_toml("").expect("a request"),
        Request::default()
    );
}

/// Codes, refs and details of what is wrong.
fn faults(text: &str) -> Vec<(Code, Option<String>, String)> {
    let refusals = Request::from_json(text).expect_err("refused");
    refusals
        .into_iter()
        .map(|r| (r.code, r.reference, r.detail))
        .collect()
}

#[track_caller]
fn shape(text: &str, reference: Option<&str>, detail: &str) {
    let expected = (
        Code::ValidationFailed,
        reference.map(str::to_owned),
        detail.to_owned(),
    );
    assert_eq!(faults(text), [expected]);
}

#[test]
fn both_spellings_of_a_ref_are_one_too_many() {
    let columns = format!(
        r#"{{"resolutions": {{"f_a": {{"action": "map", "id": "{ID}", "columns": {{"c_x": "{ID}", "$c_x": "{ID}"}}}}}}}}"#
    );
    for (text, reference) in [
        (
            r#"{"resolutions": {"f_a": {"action": "skip"}, "$f_a": {"action": "skip"}}}"#,
            "f_a",
        ),
        (r#"{"rowsModes": {"$f_t": "all", "f_t": "all"}}"#, "f_t"),
        (&columns, "c_x"),
    ] {
        let found = faults(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].0, found[0].1.as_deref()),
            (Code::UnknownResolutionRef, Some(reference))
        );
        assert!(found[0].2.contains("Keep one of the two"), "{found:?}");
    }
}

#[test]
fn members_that_were_taken_out_are_known() {
    let detail = |text: &str, taken: &[&str]| {
        let doc = Doc::parse(text).expect("JSON");
        let faults = Request::read_beside(doc.root(), taken).expect_err("a fault");
        faults[0].detail.clone()
    };
    let all = detail(r#"{"nothing": 1}"#, &["base"]);
    assert!(
        all.ends_with("baseJob, conflicts, decisions, base."),
        "{all}"
    );
    let near = detail(r#"{"pakage": {}}"#, &["base", "package"]);
    assert!(near.ends_with("Did you mean `package`?"), "{near}");
    let file = detail(r#"{"base": {}}"#, &[]);
    assert!(file.ends_with("baseJob, conflicts, decisions."), "{file}");
}

#[test]
fn every_fault_says_where_and_what_to_give() {
    shape("[]", None, "the request is []. Give an object.");
    shape(
        r#"{"includeRows": null}"#,
        None,
        "`includeRows` is null. Give true or false.",
    );
    shape(r#"{"copy": 1}"#, None, "`copy` is 1. Give true or false.");
    shape(r#"{"plan": 1}"#, None, "`plan` is 1. Give a string.");
    shape(r#"{"jobId": "x"}"#, None, "`jobId` is \"x\". Give a UUID.");
    shape(
        r#"{"includerows": true}"#,
        None,
        "`includerows` is nothing that a request has. Did you mean `includeRows`?",
    );
    shape(
        r#"{"resolutions": []}"#,
        None,
        "`resolutions` is []. Give an object.",
    );
    shape(
        r#"{"resolutions": {"f_a": "skip"}}"#,
        Some("f_a"),
        "`resolutions.f_a` is \"skip\". Give an object with `action`.",
    );
    shape(
        r#"{"resolutions": {"f_a": {}}}"#,
        Some("f_a"),
        "`resolutions.f_a` has no `action`. Give one of: import, map, skip.",
    );
    shape(
        r#"{"resolutions": {"f_a": {"action": "drop"}}}"#,
        Some("f_a"),
        "`resolutions.f_a.action` is \"drop\". Give one of import, map, skip.",
    );
    shape(
        r#"{"resolutions": {"$f_a": {"action": "map", "id": ""}}}"#,
        Some("f_a"),
        "`resolutions.$f_a.id` is \"\". Give an id or a name.",
    );
    shape(
        r#"{"resolutions": {"f_a": {"action": "skip", "columns": {}}}}"#,
        Some("f_a"),
        "`resolutions.f_a.columns` belongs to the action `map` alone. Leave it out, or map.",
    );
    shape(
        r#"{"rowsModes": {"f_t": "some"}}"#,
        Some("f_t"),
        "`rowsModes.f_t` is \"some\". Give one of all, missingByKey, none.",
    );
    let map = r#"{"resolutions": {"f_a": {"action": "map"}}}"#;
    assert!(
        faults(map)[0]
            .2
            .starts_with("`resolutions.f_a` maps and does not say to what.")
    );
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    shape(
        r#"{"copy": true, "copy": true}"#,
        None,
        "`copy` appears twice in one object. Keep one of the two.",
    );
    let toml = Request::from_toml("copy = true\ncopy = true\n").expect_err("refused");
    assert!(toml[0].detail.contains("duplicate key"), "{toml:?}");
}

#[test]
fn text_that_is_neither_is_refused_with_its_place() {
    let json = Request::from_json("{\n  \"copy\": tru\n}").expect_err("refused");
    assert!(
        json[0].detail.starts_with("not JSON: line 2, column 11"),
        "{json:?}"
    );
    let toml = Request::from_toml("copy = \n").expect_err("refused");
    assert!(toml[0].detail.contains("line 1"), "{toml:?}");
}

#[test]
fn all_faults_are_reported_at_once() {
    let text = r#"{"copy": 1, "x": 2, "resolutions": {"a b": {"action": "skip"}, "f_a": {"action": "skip", "columns": {"c_x": 7}}}}"#;
    let codes: Vec<_> = faults(text).into_iter().map(|fault| fault.0).collect();
    let shape = Code::ValidationFailed;
    assert_eq!(
        codes,
        [shape, shape, Code::UnknownResolutionRef, shape, shape]
    );
}

#[test]
fn decisions_take_one_of_the_sides_and_say_once_what_they_were_made_against() {
    for (decision, code, place) in [
        (
            r#"{"take": "rename"}"#,
            Code::ValidationFailed,
            "config.required",
        ),
        (
            r#"{"take": "create", "ours": 1}"#,
            Code::ValidationFailed,
            "config.required",
        ),
        (r#"{"take": "rename"}"#, Code::ValidationFailed, "*"),
        (r#"{"take": 5}"#, Code::ValidationFailed, "label"),
        (
            r#"{"take": "ours", "value": 1}"#,
            Code::ValidationFailed,
            "label",
        ),
        (r#"{"ours": 1}"#, Code::ValidationFailed, "label"),
        (
            r#"{"take": "ours", "ours": 1, "absent": true}"#,
            Code::ValidationFailed,
            "label",
        ),
        (
            r#"{"value": 2, "ours": null, "absent": true}"#,
            Code::ValidationFailed,
            "label",
        ),
        (r#""mine""#, Code::ValidationFailed, "config.required"),
        ("5", Code::ValidationFailed, "label"),
        // A word that no rule knows there.
        (r#""rename""#, Code::UnknownResolutionRef, "config.required"),
        (r#""delete""#, Code::UnknownResolutionRef, r"rows.u_1.a\\.b"),
    ] {
        let body =
            format!(r#"{{"upgrade": true, "decisions": {{"f_a": {{"{place}": {decision}}}}}}}"#);
        let refusals = Request::from_json(&body).expect_err(decision);
        let [refusal] = refusals.as_slice() else {
            panic!("{refusals:?}");
        };
        assert_eq!(
            (refusal.code, refusal.reference.as_deref()),
            (code, Some("f_a"))
        );
        let place = place.replace(r"\\", r"\");
        let start = format!("`decisions.f_a.{place}` ");
        assert!(refusal.detail.starts_with(&start), "{}", refusal.detail);
    }
    for good in [
        r#"{"take": "theirs", "ours": null}"#,
        r#"{"take": "ours", "absent": true}"#,
        r#"{"value": null}"#,
        r#""ours""#,
    ] {
        let body = format!(r#"{{"upgrade": true, "decisions": {{"f_a": {{"label": {good}}}}}}}"#);
        Request::from_json(&body).expect(good);
    }
}
