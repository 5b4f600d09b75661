//! `tplkit.toml` holds in the editor, too, and findings are accepted into its baseline.

use serde_json::{Value, json};

use crate::client::{Client, TestFolder, capabilities};
use crate::packages::{edited, edits_of, indented};

/// The small package with two findings.
fn faulty() -> String {
    indented("base-tiny").replacen(
        "\"name\": \"vendas\",",
        "\"name\": \"vendas\",\n    \"scope\": \"everywhere\",\n    \"semver\": \"one\",",
        1,
    )
}

fn codes(diagnostics: &[Value]) -> Vec<(&str, u64)> {
    let found = diagnostics.iter().map(|one| {
        (
            one["code"].as_str().expect("a code"),
            one["severity"].as_u64().expect("a severity"),
        )
    });
    found.collect()
}

#[test]
fn rules_speak_as_the_nearest_file_says() {
    let folder = TestFolder::new();
    folder.write("tplkit.toml", "ignore = [\"M001\"]\ndeny = [\"M003\"]\n");
    let uri = folder.uri("a.json");
    let mut client = Client::start();
    client.open(&uri, &faulty());
    assert_eq!(codes(&client.diagnostics(&uri, 1)), [("M003", 1)]);
    // What cannot be used is named once, and everything speaks.
    folder.write("tplkit.toml", "ignroe = []\n");
    client.replace(&uri, 2, &faulty());
    assert_eq!(
        codes(&client.diagnostics(&uri, 2)),
        [("M001", 1), ("M003", 2)]
    );
    let message = client.notified("window/showMessage");
    let text = message["message"].as_str().expect("text");
    assert!(
        text.contains("tplkit.toml:1:1") && text.contains("ignore"),
        "{text}"
    );
    // A document without a file has none.
    client.open("untitled:a", &faulty());
    assert_eq!(client.diagnostics("untitled:a", 1).len(), 2);
}

fn accept(client: &mut Client, uri: &str, at: &Value) -> Value {
    let params = json!({
        "textDocument": {"uri": uri},
        "range": at["range"],
        "context": {"diagnostics": [], "only": ["tplkit.accept"]},
    });
    client.request("textDocument/codeAction", &params)
}

#[test]
fn a_finding_is_accepted_into_the_baseline() {
    let folder = TestFolder::new();
    let text = faulty();
    folder.write("a.json", &text);
    let uri = folder.uri("a.json");
    let baseline = folder.uri("accepted.json");
    let mut client = Client::start();
    client.open(&uri, &text);
    let found = client.diagnostics(&uri, 1);
    assert_eq!(
        accept(&mut client, &uri, &found[0]),
        json!([]),
        "no file names a baseline"
    );
    // There is none yet: the editor makes it.
    folder.write("tplkit.toml", "baseline = \"accepted.json\"\n");
    client.replace(&uri, 2, &text);
    let found = client.diagnostics(&uri, 2);
    let actions = accept(&mut client, &uri, &found[0]);
    assert_eq!(
        actions[0]["edit"]["documentChanges"][0]["kind"], "create",
        "{actions}"
    );
    folder.write(
        "accepted.json",
        &edited("", &edits_of(&actions[0]["edit"], &baseline)),
    );
    client.replace(&uri, 3, &text);
    let found = client.diagnostics(&uri, 3);
    assert_eq!(codes(&found), [("M003", 2)]);
    // It is what `check --write-baseline` would know, and `check` agrees.
    let actions = accept(&mut client, &uri, &found[0]);
    let old = folder.read("accepted.json");
    folder.write(
        "accepted.json",
        &edited(&old, &edits_of(&actions[0]["edit"], &baseline)),
    );
    let written = folder.read("accepted.json");
    let document: Value =
        serde_json::from_str(&folder.tplkit(&["check", "--format", "json", "a.json"]))
            .expect("JSON");
    assert_eq!(document["files"][0]["findings"], json!([]));
    folder.tplkit(&["check", "a.json", "--write-baseline"]);
    assert_eq!(folder.read("accepted.json"), written);
    // As it is typed, not as it was saved.
    client.open(&baseline, &written);
    client.replace(&baseline, 2, &old);
    loop {
        let params = client.published();
        if params["uri"] == uri && params["diagnostics"].as_array().map(Vec::len) == Some(1) {
            break;
        }
    }
}

/// An editor makes the file, and opens it, before it fills it.
#[test]
fn a_baseline_that_is_still_empty_is_no_mistake() {
    let folder = TestFolder::new();
    folder.write("tplkit.toml", "baseline = \"known.json\"\n");
    let (uri, baseline) = (folder.uri("a.json"), folder.uri("known.json"));
    let mut client = Client::start();
    client.open(&uri, &faulty());
    assert_eq!(client.diagnostics(&uri, 1).len(), 2);
    folder.write("known.json", "");
    client.notify("workspace/didChangeWatchedFiles", &json!({"changes": []}));
    client.open(&baseline, "");
    client.replace(&uri, 2, &faulty());
    let found = client.diagnostics(&uri, 2);
    assert_eq!(found.len(), 2);
    let actions = accept(&mut client, &uri, &found[0]);
    let text = edited("", &edits_of(&actions[0]["edit"], &baseline));
    assert!(text.contains("M001"), "{text}");
    // The first message is about what is wrong.
    folder.write("tplkit.toml", "ignroe = []\n");
    client.replace(&uri, 3, &faulty());
    let message = client.notified("window/showMessage");
    let text = message["message"].as_str().expect("text");
    assert!(text.contains("tplkit.toml:1:1"), "{text}");
}

/// The editor has it open under its own name, whatever names it.
#[test]
fn a_baseline_in_the_folder_above_is_edited_as_it_is_typed() {
    let folder = TestFolder::new();
    std::fs::create_dir(folder.path("sub")).expect("a folder");
    folder.write("sub/tplkit.toml", "baseline = \"../known.json\"\n");
    folder.write("known.json", "");
    let (uri, baseline) = (folder.uri("sub/a.json"), folder.uri("known.json"));
    let mut client = Client::start();
    client.open(&baseline, "");
    client.open(&uri, &faulty());
    let mut found = client.diagnostics(&uri, 1);
    assert_eq!(found.len(), 2);
    // Nothing is saved in between.
    let mut text = String::new();
    for version in 2..4 {
        let actions = accept(&mut client, &uri, &found[0]);
        let edits = edits_of(&actions[0]["edit"], &baseline);
        assert!(!edits.is_empty(), "{actions}");
        text = edited(&text, &edits);
        client.replace(&baseline, version, &text);
        client.replace(&uri, version, &faulty());
        found = client.diagnostics(&uri, version);
    }
    assert_eq!(found, Vec::<Value>::new());
    let known: Value = serde_json::from_str(&text).expect("JSON");
    let accepted = known["findings"].as_array().expect("a list");
    let accepted: Vec<&Value> = accepted.iter().map(|one| &one["code"]).collect();
    assert_eq!(accepted, ["M001", "M003"]);
}

/// A finding may be accepted before the package is saved for the first time.
#[test]
fn a_package_that_is_not_saved_yet_has_the_name_that_it_will_have() {
    let folder = TestFolder::new();
    folder.write("tplkit.toml", "baseline = \"known.json\"\n");
    folder.write("known.json", "");
    for name in ["new.json", "new/folder/new.json"] {
        let (uri, baseline) = (folder.uri(name), folder.uri("known.json"));
        let mut client = Client::start();
        client.open(&uri, &faulty());
        let found = client.diagnostics(&uri, 1);
        let actions = accept(&mut client, &uri, &found[0]);
        let text = edited("", &edits_of(&actions[0]["edit"], &baseline));
        let known: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(known["findings"][0]["path"], name);
    }
}

#[test]
fn a_client_that_makes_no_files_is_offered_no_new_baseline() {
    let folder = TestFolder::new();
    folder.write("tplkit.toml", "baseline = \"accepted.json\"\n");
    let uri = folder.uri("a.json");
    let mut offered = capabilities();
    offered["workspace"]["workspaceEdit"]["resourceOperations"] = json!(["rename"]);
    let mut client = Client::with(&offered);
    client.open(&uri, &faulty());
    let found = client.diagnostics(&uri, 1);
    assert_eq!(accept(&mut client, &uri, &found[0]), json!([]));
}

#[test]
fn changes_on_the_disk_are_asked_for_and_count() {
    let folder = TestFolder::new();
    let uri = folder.uri("a.json");
    let mut offered = capabilities();
    offered["workspace"]["didChangeWatchedFiles"] = json!({"dynamicRegistration": true});
    let mut client = Client::with(&offered);
    let registration = client.notified("client/registerCapability");
    assert_eq!(
        registration["registrations"][0]["method"],
        "workspace/didChangeWatchedFiles"
    );
    client.open(&uri, &faulty());
    assert_eq!(client.diagnostics(&uri, 1).len(), 2);
    folder.write("tplkit.toml", "ignore = [\"M001\"]\n");
    client.notify("workspace/didChangeWatchedFiles", &json!({"changes": []}));
    assert_eq!(codes(&client.diagnostics(&uri, 1)), [("M003", 2)]);
}
