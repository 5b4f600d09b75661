//! `tplkit simulate --upgrade`: what the base decided about dependencies holds, and so does an equal name.

use serde_json::{Value, json};

use crate::support::{Place, case, tiny};

/// Decisions on all that the package does not bring, but for a connection of its name.
const OTHERS: &str = "[resolutions.m_vendas]\naction = \"skip\"\n\
                      [resolutions.connection_mailer]\naction = \"skip\"\n\
                      [resolutions.w_ext]\naction = \"skip\"\n\
                      [resolutions.v_board]\naction = \"skip\"\n\
                      [resolutions.timerprofile_turno]\naction = \"skip\"\n";

/// A package whose automation asks a connection, and the next version: another label.
fn versions() -> [String; 2] {
    let text = std::fs::read_to_string(case("valid/base-auto.json")).expect("fixture");
    let mut next: Value = serde_json::from_str(&text).expect("JSON");
    let steps = next["manifest"]["plan"]["steps"].as_array_mut();
    let mut steps = steps.expect("steps").iter_mut();
    let module = steps.find(|step| step["ref"] == "m_sales");
    module.expect("a module")["args"]["label"] = "Trade".into();
    [text, next.to_string()]
}

/// Both versions, decisions on the connection as well, and a workspace of an organization that has the connection.
fn place(connection: &str, decision: &str) -> Place {
    let [first, second] = versions();
    let decided = format!("{OTHERS}{decision}");
    let place = Place::with(&[
        ("tiny.json", &tiny()),
        ("1.json", &first),
        ("2.json", &second),
        ("r.toml", &decided),
    ]);
    place
        .run(&["simulate", "tiny.json", "--save", "here.json"])
        .exits(0);
    let mut here: Value = serde_json::from_str(&place.read("here.json")).expect("JSON");
    let connections = &mut here["structure"]["organization"]["connections"];
    *connections = json!([{"name": connection, "kind": "http"}]);
    place.write("here.json", &here.to_string());
    place
}

/// Upgrades to the second version without a word about dependencies: the label alone changes, and the connection stays.
fn changes_the_label(place: &Place, from: &[&str]) {
    let words = ["simulate", "2.json", "--upgrade", "--format", "json"];
    let words = [&words[..], from, &["--save", "then.json"]].concat();
    let document = place.run(&words).exits(0).json();
    let updates = document["plan"]["update"].as_array().expect("a list");
    let paths: Vec<&Value> = updates.iter().map(|update| &update["path"]).collect();
    assert_eq!(paths, ["label"], "{document}");
    let unresolved = document["report"]["unresolved"].as_array().expect("a list");
    let emptied = unresolved.iter().any(|one| one["ref"] == "connection_erp");
    assert!(!emptied, "{document}");
    assert_eq!(document["again"]["changed"], false);
    assert_eq!(document["undo"]["restored"], true);
}

/// The same once more, from what that saved: nothing changes.
fn changes_nothing_more(place: &Place) {
    let words = ["simulate", "2.json", "--upgrade", "--into", "then.json"];
    let words = [&words[..], &["--format", "json"]].concat();
    let document = place.run(&words).exits(0).json();
    assert_eq!(document["plan"]["update"], json!([]), "{document}");
    assert_eq!(document["again"]["changed"], false);
}

/// Applies the first version to the workspace.
fn apply(place: &Place) {
    let words = ["simulate", "1.json", "--into", "here.json"];
    let decided = ["--resolutions", "r.toml", "--save", "now.json"];
    place.run(&[&words[..], &decided].concat()).exits(0);
}

#[test]
fn an_equal_name_satisfies_a_later_version_too() {
    let place = place("erp", "");
    apply(&place);
    changes_the_label(&place, &["--into", "now.json"]);
    changes_nothing_more(&place);
    // The same where the base is applied for the upgrade.
    changes_the_label(&place, &["--into", "here.json", "--base", "1.json"]);
}

#[test]
fn what_was_mapped_stays_mapped() {
    let decision = "[resolutions.connection_erp]\naction = \"map\"\nid = \"other\"\n";
    let place = place("other", decision);
    apply(&place);
    changes_the_label(&place, &["--into", "now.json"]);
    changes_nothing_more(&place);
}
