//! An unpacked folder is one package in the editor, too.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, TestFolder, at, capabilities};
use crate::packages::{edited, edits_of, indented, place};

/// A case, unpacked into `pkg`.
fn unpacked(case: &str) -> TestFolder {
    let folder = TestFolder::new();
    folder.write("a.json", &indented(case));
    folder.tplkit(&["unpack", "a.json", "pkg"]);
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("folder") {
        let entry = entry.expect("entry");
        let name = entry.file_name().into_string().expect("text");
        if entry.path().is_dir() {
            let inside = files(&entry.path()).into_iter();
            found.extend(inside.map(|file| format!("{name}/{file}")));
        } else {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// The diagnostics of every file, as they are published first.
fn published(client: &mut Client, count: usize) -> Vec<(String, Option<i64>, Vec<Value>)> {
    (0..count)
        .map(|_| {
            let params = client.published();
            (
                params["uri"].as_str().expect("a URI").to_owned(),
                params["version"].as_i64(),
                params["diagnostics"].as_array().expect("a list").clone(),
            )
        })
        .collect()
}

#[test]
fn every_file_has_diagnostics_once_one_is_open() {
    let folder = unpacked("base-tiny");
    let names = files(&folder.path("pkg"));
    let broken = folder
        .read("pkg/columns/notes_body.json")
        .replace("long_text", "longtext");
    folder.write("pkg/columns/notes_body.json", &broken);
    let mut client = Client::start();
    let open = folder.uri("pkg/features/notes.json");
    client.open(&open, &folder.read("pkg/features/notes.json"));
    let first = published(&mut client, names.len());
    for (uri, version, diagnostics) in &first {
        assert_eq!(*version, (*uri == open).then_some(1), "{uri}");
        let wanted = usize::from(uri.ends_with("columns/notes_body.json"));
        assert_eq!(diagnostics.len(), wanted, "{uri}: {diagnostics:?}");
    }
    let mut uris: Vec<&str> = first.iter().map(|(uri, ..)| uri.as_str()).collect();
    uris.sort_unstable();
    let wanted: Vec<String> = names
        .iter()
        .map(|name| folder.uri(&format!("pkg/{name}")))
        .collect();
    assert_eq!(uris, wanted);
    // What is typed in one file is found in another: the editor's text counts, not the disk's.
    let text = folder.read("pkg/features/notes.json");
    client.replace(&open, 2, &text.replace("\"f_notes\"", "\"f_memos\""));
    let mut elsewhere = 0;
    loop {
        let (uri, version, diagnostics) = published(&mut client, 1).remove(0);
        elsewhere += usize::from(uri != open && !diagnostics.is_empty());
        if uri == open {
            assert_eq!(version, Some(2));
        }
        if elsewhere > 2 {
            break;
        }
    }
    client.replace(&open, 3, &text);
    client.notify(
        "textDocument/didClose",
        &json!({"textDocument": {"uri": open}}),
    );
    client.exchange("tplkit/text", &json!({"textDocument": {"uri": open}}));
}

#[test]
fn an_index_is_checked_as_it_is_typed() {
    let folder = unpacked("base-tiny");
    let mut client = Client::start();
    let index = folder.uri("pkg/tplkit.index");
    let text = folder.read("pkg/tplkit.index");
    client.open(&index, &text);
    assert_eq!(client.diagnostics(&index, 1), Vec::<Value>::new());
    client.replace(
        &index,
        2,
        &text.replace("features/notes.json", "features/memos.json"),
    );
    let found = client.diagnostics(&index, 2);
    assert!(found.iter().any(|one| one["code"] == "J010"), "{found:?}");
}

#[test]
fn fixes_and_responses_are_about_the_files() {
    let folder = unpacked("base-tiny");
    let name = "pkg/features/notes.json";
    let text = folder.read(name).replacen(
        "\"label\": \"Notes\"",
        "\"label\": \"Notes\",\n    \"count\": 1",
        1,
    );
    let uri = folder.uri(name);
    let mut client = Client::start();
    client.open(&uri, &text);
    let found = client.diagnostics(&uri, 1);
    assert_eq!(found[0]["code"], "I010", "{found:?}");
    let params = json!({
        "textDocument": {"uri": uri},
        "range": found[0]["range"],
        "context": {"diagnostics": [], "only": ["quickfix"]},
    });
    let actions = client.request("textDocument/codeAction", &params);
    let fixed = edited(&text, &edits_of(&actions[0]["edit"], &uri));
    assert!(!fixed.contains("count"), "{fixed}");
    let params = json!({
        "textDocument": {"uri": uri},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
        "context": {"diagnostics": [], "only": ["source.fixAll"]},
    });
    let actions = client.request("textDocument/codeAction", &params);
    assert_eq!(edited(&text, &edits_of(&actions[0]["edit"], &uri)), fixed);
    client.replace(&uri, 2, &fixed);
    // Places in other files.
    let column = folder.uri("pkg/columns/notes_body.json");
    let text = folder.read("pkg/columns/notes_body.json");
    client.open(&column, &text);
    let here = place(&text, "\"$f_notes\"", 0, 3);
    let found = client.at("textDocument/definition", &column, here);
    assert_eq!(found["uri"], uri);
    let mut params = at(&column, here);
    params["context"] = json!({"includeDeclaration": true});
    let found = client.request("textDocument/references", &params);
    let rows = folder.uri("pkg/rows/notes.json");
    let found = found.as_array().expect("places");
    assert!(found.iter().any(|place| place["uri"] == rows), "{found:?}");
    let symbols = client.request(
        "textDocument/documentSymbol",
        &json!({"textDocument": {"uri": column}}),
    );
    assert_eq!(symbols[0]["name"], "Body");
    // Completion while the file is broken.
    let broken = text.replacen("\"$f_notes\"", "\"\"", 1);
    client.replace(&column, 2, &broken);
    let found = client.at(
        "textDocument/completion",
        &column,
        place(&broken, "\"featureId\": \"\"", 0, 14),
    );
    assert_eq!(found["items"][0]["label"], "$f_notes", "{found}");
    let hints = client.request(
        "textDocument/inlayHint",
        &json!({
            "textDocument": {"uri": uri},
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}},
        }),
    );
    assert!(hints.is_array());
    // Formatting is `fmt` for this file.
    let loose = text.replacen('{', "{\n\n", 1);
    client.replace(&column, 3, &loose);
    let params =
        json!({"textDocument": {"uri": column}, "options": {"tabSize": 2, "insertSpaces": true}});
    let edits = client.request("textDocument/formatting", &params);
    assert_eq!(edited(&loose, edits.as_array().expect("edits")), text);
}

/// Carries out a `WorkspaceEdit` on the disk, in its order.
fn carry_out(edit: &Value) {
    let path = |uri: &Value| {
        uri.as_str()
            .expect("a URI")
            .strip_prefix("file://")
            .expect("a file")
            .to_owned()
    };
    for change in edit["documentChanges"].as_array().expect("changes") {
        if change["kind"] == "rename" {
            fs::rename(path(&change["oldUri"]), path(&change["newUri"])).expect("renamed");
            continue;
        }
        let file = path(&change["textDocument"]["uri"]);
        let text = fs::read_to_string(&file).expect("read");
        fs::write(
            &file,
            edited(&text, change["edits"].as_array().expect("edits")),
        )
        .expect("written");
    }
}

#[test]
fn a_rename_renames_files_and_packs_to_the_renamed_package() {
    for (case, name, new) in [
        ("base-tiny", "f_notes", "f_memos"),
        ("base-tiny", "c_notes_body", "c_text"),
        ("base-links", "", "f_renamed"),
    ] {
        let folder = unpacked(case);
        let packed = folder.tplkit(&["pack", "pkg"]);
        let value: Value = serde_json::from_str(&packed).expect("JSON");
        let name = match name {
            "" => value["payloads"][0]["featureRef"].as_str().expect("a ref"),
            name => name,
        };
        let tail = name.split_once('_').expect("a ref").1;
        let file = if name.starts_with('f') {
            "features"
        } else {
            "columns"
        };
        let file = format!("pkg/{file}/{tail}.json");
        let text = folder.read(&file);
        let uri = folder.uri(&file);
        // The same rename of the packed file.
        let mut client = Client::start();
        client.open("untitled:packed", &packed);
        let mut params = at(
            "untitled:packed",
            place(&packed, &format!("\"{name}\""), 0, 3),
        );
        params["newName"] = new.into();
        let edit = client.request("textDocument/rename", &params);
        let wanted = edited(&packed, &edits_of(&edit, "untitled:packed"));
        assert!(!wanted.contains(&format!("{name}\"")));
        client.open(&uri, &text);
        let mut params = at(&uri, place(&text, &format!("\"{name}\""), 0, 3));
        params["newName"] = format!("${new}").into();
        let edit = client.request("textDocument/rename", &params);
        let changes = edit["documentChanges"].as_array().expect("changes");
        let renames = changes
            .iter()
            .filter(|change| change["kind"] == "rename")
            .count();
        assert_eq!(renames, if name.starts_with('f') { 3 } else { 1 }, "{edit}");
        let open = changes
            .iter()
            .find(|change| change["textDocument"]["uri"] == uri)
            .expect("the open file");
        assert_eq!(open["textDocument"]["version"], 1);
        carry_out(&edit);
        assert_eq!(folder.tplkit(&["pack", "pkg"]), wanted, "{case} {name}");
        // The folder is the one that `unpack` writes.
        folder.write("wanted.json", &wanted);
        folder.tplkit(&["unpack", "wanted.json", "wanted"]);
        let names = files(&folder.path("pkg"));
        assert_eq!(names, files(&folder.path("wanted")));
        for name in names {
            assert_eq!(
                folder.read(&format!("pkg/{name}")),
                folder.read(&format!("wanted/{name}")),
                "{name}"
            );
        }
    }
}

#[test]
fn an_editor_that_cannot_rename_files_gets_an_error() {
    let folder = unpacked("base-tiny");
    let text = folder.read("pkg/features/notes.json");
    let uri = folder.uri("pkg/features/notes.json");
    let mut offered = capabilities();
    offered["workspace"]["workspaceEdit"]["resourceOperations"] = json!(["create"]);
    let mut client = Client::with(&offered);
    client.open(&uri, &text);
    let mut params = at(&uri, place(&text, "\"f_notes\"", 0, 3));
    params["newName"] = "f_memos".into();
    let (_, message) = client.refused("textDocument/rename", &params);
    assert!(
        message.contains("resourceOperations") && message.contains("rename"),
        "{message}"
    );
}

#[test]
fn an_open_file_with_another_name_keeps_it() {
    let folder = unpacked("base-tiny");
    fs::rename(
        folder.path("pkg/columns/notes_body.json"),
        folder.path("pkg/columns/mine.json"),
    )
    .expect("renamed");
    let index = folder
        .read("pkg/tplkit.index")
        .replace("notes_body", "mine");
    folder.write("pkg/tplkit.index", &index);
    let text = folder.read("pkg/columns/mine.json");
    let uri = folder.uri("pkg/columns/mine.json");
    let mut client = Client::start();
    client.open(&uri, &text);
    let mut params = at(&uri, place(&text, "\"c_notes_body\"", 0, 3));
    params["newName"] = "c_text".into();
    let edit = client.request("textDocument/rename", &params);
    assert!(!edit.to_string().contains("rename\""), "{edit}");
    carry_out(&edit);
    assert!(folder.tplkit(&["pack", "pkg"]).contains("c_text"));
}
