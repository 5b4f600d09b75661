//! `POST /v1/templates/check`: what the rules say of a package, which nobody keeps.

use serde_json::Value;

use crate::api::model::package;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(a_package_is_checked_and_not_kept);

/// Codes with their severities and places.
fn found(verdict: &Value) -> Vec<[&str; 3]> {
    let findings = verdict["findings"].as_array().expect("findings");
    findings
        .iter()
        .map(|one| ["code", "severity", "path"].map(|name| one[name].as_str().unwrap_or_default()))
        .collect()
}

async fn a_package_is_checked_and_not_kept(place: Place) {
    let world = World::new(place).await;
    // Who may read may check.
    let viewer = world.as_user("viewer@acme.test");
    let check = |text: &str| {
        let verdict = viewer.json("POST", "/v1/templates/check", text);
        verdict.expect(200).json()
    };
    let mut warned = package("x");
    warned["manifest"]["semver"] = "one".into();
    let verdict = check(&warned.to_string());
    assert_eq!(verdict["outcome"], "clean");
    assert_eq!(found(&verdict), [["M003", "warning", "/manifest/semver"]]);

    warned["manifest"]["description"] = "0198a5ba-0000-7000-8000-000000000001".into();
    let verdict = check(&warned.to_string());
    assert_eq!(verdict["outcome"], "findings");
    assert_eq!(verdict["findings_more"], 0);
    let expected = [
        ["X001", "error", "/manifest/description"],
        ["M003", "warning", "/manifest/semver"],
    ];
    assert_eq!(found(&verdict), expected);

    for (text, code) in [("{", "J001"), (" ", "J001"), ("{}", "J003")] {
        assert_eq!(found(&check(text))[0][0], code, "{text}");
    }
    // Neither is a body of this request.
    for (text, code, rule) in [
        ("[]", "validation_failed", "J003"),
        ("", "invalid_json", "J001"),
    ] {
        let refused = viewer.json("POST", "/v1/templates/check", text);
        let refused = refused.refused(422, code);
        assert!(refused.body.contains(rule), "{}", refused.body);
    }
    let marked = format!("\u{feff}{}", package("x"));
    assert_eq!(check(&marked)["outcome"], "clean");
    assert_eq!(viewer.items("/v1/templates").len(), 0);
}
