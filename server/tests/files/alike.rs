//! A file that is not there and one that somebody does not see are one to them: the same bytes, by the same statements.

use serde_json::{Value, json};

use super::signed_in;
use crate::kill::Wire;
use crate::process::{SECRET, Serving, admin, database, owner};
use crate::stores::Place;

#[test]
fn what_is_missing_and_what_is_hidden_are_refused_alike_with_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    refused_alike(&database(folder.path()));
}

#[test]
fn what_is_missing_and_what_is_hidden_are_refused_alike_with_postgres() {
    if let Some(place) = Place::postgres() {
        refused_alike(&place.url);
    }
}

/// Somebody of an organization, by their e-mail.
fn member(database: &str, organization: &str, email: &str, role: &str) {
    let create = ["create-user", "--email", email, "--password-stdin"];
    admin(database, &create, SECRET).expect("a record");
    let add = [
        "add-member",
        "--organization",
        organization,
        "--email",
        email,
        "--role",
        role,
    ];
    admin(database, &add, "").expect("a record");
}

fn token(serving: &Serving, email: &str) -> String {
    let body = json!({"email": email, "password": SECRET});
    let (_, tokens) = Wire::new(serving, "")
        .ask("POST", "/v1/auth/token", Some(&body))
        .expect("a response");
    tokens["access_token"].as_str().expect("a token").to_owned()
}

fn uploaded(wire: &mut Wire, workspace: &str) -> String {
    let path = format!("/v1/files?workspace_id={workspace}&name=f");
    wire.made(&path, &json!("bytes"))
}

fn refused_alike(database: &str) {
    let acme = owner(database);
    let other = admin(database, &["create-organization", "--label", "Other"], "");
    let other = other.expect("a record")["id"].clone();
    let other = other.as_str().expect("an id");
    member(database, &acme, "editor@acme.test", "editor");
    member(database, other, "stranger@other.test", "owner");
    let bytes = tempfile::tempdir().expect("a folder");
    let files = format!("file:{}", bytes.path().display());
    // Nobody but the requests asks the store.
    let arguments = [
        "--rate-limit",
        "off",
        "--no-worker",
        "--log",
        "sql",
        "--files",
        &files,
    ];
    let key = "0a".repeat(32);
    let serving = Serving::start_with(database, &arguments, &[("TPLKIT_SECRET_KEY", &key)]);
    let (mut owning, workspace) = signed_in(&serving, &acme);
    let closed = json!({"organization_id": acme, "label": "Closed", "access": "members"});
    let closed = owning.made("/v1/workspaces", &closed);
    let mut strange = Wire::new(&serving, &token(&serving, "stranger@other.test"));
    let far = json!({"organization_id": other, "label": "Far"});
    let far = strange.made("/v1/workspaces", &far);
    let table = json!({"workspace_id": workspace, "label": "T"});
    let table = owning.made("/v1/features", &table);
    let columns = format!("/v1/features/{table}/columns");
    owning.made(&columns, &json!({"label": "photo", "type": "file"}));
    let files = [
        "0198a5ba-0000-7000-8000-0000000000aa".to_owned(),
        // Somebody else's, in the same workspace, in one that is closed, and in another organization.
        uploaded(&mut owning, &workspace),
        uploaded(&mut owning, &closed),
        uploaded(&mut strange, &far),
    ];
    let token = token(&serving, "editor@acme.test");
    let ask = |(method, path, body): (&str, &str, &str), file: &str| {
        let (path, body) = (path.replace("FILE", file), body.replace("FILE", file));
        let before = serving.log().len();
        let content = if body.is_empty() {
            String::new()
        } else {
            let length = body.len();
            format!("content-type: application/json\r\ncontent-length: {length}\r\n")
        };
        let response = serving.ask(&format!(
            "{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
             authorization: Bearer {token}\r\n{content}\r\n{body}"
        ));
        let log = quiet_after(&serving, &response);
        (plain(&response, file), statements(&log[before..]))
    };
    let rows = format!("/v1/features/{table}/rows");
    let flow = json!({"workspace_id": workspace, "name": "a", "is_draft": false,
        "trigger_config": {"type": "manual"}, "graph_config": {"steps": [{"key": "email.send", "config":
            {"to": "a@b.test", "subject": "s", "body": "b", "attachmentFileId": "FILE"}}]}});
    let flow = flow.to_string();
    for request in [
        ("GET", "/v1/files/FILE", ""),
        ("GET", "/v1/files/FILE/content", ""),
        ("HEAD", "/v1/files/FILE/content", ""),
        ("GET", "/v1/files/FILE/content?inline=true", ""),
        ("DELETE", "/v1/files/FILE", ""),
        ("DELETE", "/v1/files/FILE?force=true", ""),
        ("POST", "/v1/files/FILE/links", r#"{"expires_in":60}"#),
        ("POST", &rows, r#"{"data":{"photo":"FILE"}}"#),
        ("POST", "/v1/workflows-v2", &flow),
    ] {
        // What the server remembers of who asks is known from here on.
        ask(request, &files[0]);
        let (response, sent) = ask(request, &files[0]);
        let status = &response[..12];
        assert!(
            ["HTTP/1.1 404", "HTTP/1.1 422"].contains(&status),
            "{response}"
        );
        assert!(!sent.is_empty(), "{request:?}");
        for file in &files[1..] {
            let found = ask(request, file);
            assert_eq!(found, (response.clone(), sent.clone()), "{request:?}");
        }
    }
    // They are there.
    for (wire, file) in [(&mut owning, &files[2]), (&mut strange, &files[3])] {
        let path = format!("/v1/files/{file}");
        let (status, _) = wire.ask("GET", &path, None).expect("a response");
        assert_eq!(status, 200);
    }
}

/// The log, once the response stands in it and nothing is added for a while.
fn quiet_after(serving: &Serving, response: &str) -> String {
    let ids = request_ids(response);
    let mut before = serving.log();
    while !ids.iter().all(|id| before.contains(id)) {
        std::thread::sleep(std::time::Duration::from_millis(5));
        before = serving.log();
    }
    loop {
        std::thread::sleep(std::time::Duration::from_millis(40));
        let log = serving.log();
        if log == before {
            return log;
        }
        before = log;
    }
}

/// A response without what differs from request to request.
fn plain(response: &str, file: &str) -> String {
    let mut plain = response.replace(file, "FILE");
    for id in request_ids(response) {
        plain = plain.replace(id, "REQUEST");
    }
    let lines = plain
        .split("\r\n")
        .filter(|line| !line.starts_with("date: "));
    lines.collect::<Vec<_>>().join("\r\n")
}

fn request_ids(response: &str) -> Vec<&str> {
    let ids = response.lines();
    let ids = ids.filter_map(|line| line.strip_prefix("x-request-id: "));
    ids.map(str::trim_end).collect()
}

/// The statements that a log shows, each with the types of its parameters.
fn statements(log: &str) -> Vec<String> {
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let of_store = lines.filter(|line: &Value| line["target"] == "sql");
    let texts = of_store.map(|line| format!("{} {}", line["sql"], line["types"]));
    texts.collect()
}
