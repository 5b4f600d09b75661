//! Secrets and values are planted everywhere a user can put them, and looked for everywhere they must
//! not be: in the log at its finest, in the database, in refusals. To extend it, plant something more
//! in [`plant`] and name it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cluster;
use crate::process::{Serving, admin, database};
use crate::stores::Place;

/// Something to look for.
struct Canary {
    name: &'static str,
    text: String,
    /// Whether the database keeps it: what people store is stored.
    kept: bool,
    /// Whether refusals say it: they name the path.
    reported: bool,
}

/// The server, and everything that was planted and refused so far.
struct Field {
    serving: Serving,
    canaries: Vec<Canary>,
    refusals: Vec<String>,
}

impl Field {
    /// A secret that stands nowhere.
    fn secret(&mut self, name: &'static str, text: &str) -> String {
        self.note(name, text, false, false)
    }

    /// A value that the database keeps.
    fn value(&mut self, name: &'static str, text: &str) -> String {
        self.note(name, text, true, false)
    }

    fn note(&mut self, name: &'static str, text: &str, kept: bool, report: bool) -> String {
        self.canaries.push(Canary {
            name,
            text: text.to_owned(),
            kept,
            reported: report,
        });
        text.to_owned()
    }

    /// Asks, and gives the document of the response.
    fn ask(&mut self, method: &str, path: &str, headers: &str, body: Option<Value>) -> Value {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let content = if body.is_empty() {
            String::new()
        } else {
            let length = body.len();
            format!("content-type: application/json\r\ncontent-length: {length}\r\n")
        };
        let response = self.serving.ask(&format!(
            "{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{headers}{content}\r\n{body}"
        ));
        let (_, document) = response.split_once("\r\n\r\n").expect("a response");
        if response.contains("application/problem+json") {
            self.refusals.push(document.to_owned());
        }
        serde_json::from_str(document).unwrap_or_default()
    }
}

/// Plants everything.
fn plant(field: &mut Field, database: &str) {
    let password = field.secret("password", "canary-password-1");
    let create = ["create-organization", "--label", "Acme"];
    let organization = admin(database, &create, "").expect("a record");
    let organization = organization["id"].as_str().expect("an id").to_owned();
    let email = field.value("e-mail", "canary@acme.test");
    let create = ["create-user", "--email", &email, "--password-stdin"];
    admin(database, &create, &password).expect("a record");
    let add = [
        "add-member",
        "--organization",
        &organization,
        "--email",
        &email,
        "--role",
        "owner",
    ];
    admin(database, &add, "").expect("a record");

    let sign_in = json!({"email": email, "password": password});
    let tokens = field.ask("POST", "/v1/auth/token", "", Some(sign_in));
    let text = |document: &Value, name: &str| document[name].as_str().expect(name).to_owned();
    let access = field.secret("access token", &text(&tokens, "access_token"));
    let refresh = field.secret("refresh token", &text(&tokens, "refresh_token"));
    let wrong = field.secret("wrong password", "canary-password-2");
    let wrong = json!({"email": email, "password": wrong});
    field.ask("POST", "/v1/auth/token", "", Some(wrong));
    let bearer = format!("authorization: Bearer {access}\r\n");

    let service = field.secret("service key", "canary-service-key");
    let with_service = format!("{bearer}x-platform-service-key: {service}\r\n");
    let key = json!({"organization_id": organization, "name": "k", "scopes": ["read"]});
    let key = field.ask("POST", "/v1/api-keys", &with_service, Some(key));
    let key = field.secret("API key", &text(&key, "key"));
    let with_key = format!("authorization: Bearer {key}\r\n");
    let here = format!("/v1/organizations/{organization}");
    field.ask("GET", &here, &with_key, None);
    field.ask("PATCH", &here, &with_key, Some(json!({})));

    let label = field.value("label", "canary-label");
    let config = field.value("value of a config", "canary-config-value");
    let change = json!({"label": label, "config": {"a": config}});
    field.ask("PATCH", &here, &bearer, Some(change));
    let refused = field.secret("refused value", "canary-refused-value");
    for body in [
        json!({"label": [refused]}),
        json!({"label": 1, "config": refused}),
        json!({"other": refused}),
        json!(refused),
    ] {
        field.ask("PATCH", &here, &bearer, Some(body));
    }
    let query = field.secret("query", "canary-query");
    for query in [format!("cursor={query}"), format!("limit={query}")] {
        field.ask("GET", &format!("/v1/organizations?{query}"), &bearer, None);
    }
    let path = field.note("path", "canary-path", false, true);
    for path in [format!("/v1/{path}"), format!("/v1/organizations/{path}")] {
        field.ask("GET", &path, &bearer, None);
    }
    let unknown = field.secret("credential of nobody", "canary-credential");
    let unknown = format!("authorization: Bearer {unknown}\r\n");
    field.ask("GET", "/v1/me", &unknown, None);
    let method = field.secret("method", "CANARYMETHOD");
    field.ask(&method, &here, &bearer, None);
    let malformed = field.secret("what is not a request", "canary malformed");
    field
        .refusals
        .push(field.serving.ask(&format!("{malformed}\r\n\r\n")));

    plant_rows(field, &organization, &bearer);
    plant_connections(field, &organization, &bearer);
    plant_files(field, &organization, &bearer);

    let next = json!({"refresh_token": refresh});
    let next = field.ask("POST", "/v1/auth/refresh", "", Some(next));
    field.secret("second access token", &text(&next, "access_token"));
    field.secret("second refresh token", &text(&next, "refresh_token"));
}

/// In tables, and in queries about their rows.
fn plant_rows(field: &mut Field, organization: &str, bearer: &str) {
    let text = |document: &Value, name: &str| document[name].as_str().expect(name).to_owned();
    let workspace = json!({"organization_id": organization, "label": "w"});
    let workspace = field.ask("POST", "/v1/workspaces", bearer, Some(workspace));
    let feature = json!({"workspace_id": text(&workspace, "id"), "label": "f"});
    let feature = field.ask("POST", "/v1/features", bearer, Some(feature));
    let feature = format!("/v1/features/{}", text(&feature, "id"));
    let (columns, rows) = (format!("{feature}/columns"), format!("{feature}/rows"));
    // Whoever may write a table may hear the names of its columns.
    let name = field.note("name of a column", "canary_column", true, true);
    let unique = json!({"label": name, "type": "text", "config": {"unique": true}});
    field.ask("POST", &columns, bearer, Some(unique));
    let amount = json!({"label": "amount", "type": "number"});
    field.ask("POST", &columns, bearer, Some(amount));

    let cell = field.value("cell", "canary-cell");
    let key = field.value("key of no column", "canary-key");
    let inside = field.value("text inside a cell", "canary-inside");
    for other in ["", "-2", "-3"] {
        let data = json!({name.clone(): format!("{cell}{other}"), key.clone(): {"a": [inside]}});
        field.ask("POST", &rows, bearer, Some(json!({"data": data})));
    }
    // Taken, alone and in a batch.
    let taken = json!({"data": {name.clone(): cell}});
    field.ask("POST", &rows, bearer, Some(taken.clone()));
    let batch = json!({"rows": [{"data": {}}, taken]});
    field.ask("POST", &format!("{rows}:batch"), bearer, Some(batch));
    let wrong = field.secret("cell that was refused", "canary-wrong-cell");
    for data in [
        json!({name.clone(): 1, "amount": wrong}),
        json!({"amount": {"a": wrong}}),
        json!({name.clone(): [wrong]}),
    ] {
        field.ask("POST", &rows, bearer, Some(json!({"data": data})));
        let batch = json!({"rows": [{"data": data}]});
        field.ask("POST", &format!("{rows}:batch"), bearer, Some(batch));
    }

    let filter = field.secret("value of a filter", "canary-filter");
    // Words of the language of filters are shown to who wrote them.
    let operator = field.note("operator of a filter", "canaryoperator", false, true);
    let unknown = field.secret("column of a query", "canary_unknown");
    let sort = field.secret("sort", "canary_sort");
    for query in [
        format!("filter={name}:eq:{filter}&filter={name}:ilike:*{filter}*"),
        format!("filter={name}:gtn:{filter}"),
        format!("filter={name}:{operator}:1"),
        format!("filter=created_at:gt:{filter}"),
        format!("filter=id:eq:{filter}"),
        format!("filter={filter}"),
        format!("filter={unknown}:eq:1&fields={unknown}&sort=-{sort}"),
        format!("sort={sort}&sort={sort}"),
        format!("match={filter}"),
    ] {
        field.ask("GET", &format!("{rows}?{query}"), bearer, None);
        field.ask(
            "GET",
            &format!("{rows}:aggregate?op=count&{query}"),
            bearer,
            None,
        );
    }
    // Two pages, and the cursor between them where it does not belong.
    let page = field.ask("GET", &format!("{rows}?limit=1&sort={name}"), bearer, None);
    let cursor = field.secret("cursor", &text(&page, "next_cursor"));
    for query in [
        format!("sort={name}&cursor={cursor}"),
        format!("cursor={cursor}"),
    ] {
        field.ask("GET", &format!("{rows}?{query}"), bearer, None);
    }
    let again = field.value("key of a repeated request", "canary-idempotency");
    let headers = format!("{bearer}idempotency-key: {again}\r\n");
    for _ in 0..2 {
        let row = json!({"data": {}});
        field.ask("POST", &rows, &headers, Some(row));
    }
}

/// In connections, and in the steps that use them.
fn plant_connections(field: &mut Field, organization: &str, bearer: &str) {
    let secret = field.secret("secret of a connection", "canary-connection-secret");
    let password = field.secret("password in an address", "canary-url-password");
    let host = field.value("address of a connection", "canary-host.example");
    let refused = field.secret("address that was refused", "canary-refused-url");
    let new = |name: &str, url: String, secret: Option<&str>| {
        let mut body =
            json!({"organization_id": organization, "name": name, "kind": "http", "url": url});
        body["secret"] = json!(secret.unwrap_or_default());
        Some(body)
    };
    let url = format!("https://{host}/");
    let made = field.ask(
        "POST",
        "/v1/connections",
        bearer,
        new("a", url.clone(), Some(&secret)),
    );
    let with_password = format!("https://u:{password}@{host}/");
    field.ask(
        "POST",
        "/v1/connections",
        bearer,
        new("b", with_password, None),
    );
    // The name is taken, the address is none, and the secret belongs to another server.
    field.ask(
        "POST",
        "/v1/connections",
        bearer,
        new("a", url, Some(&secret)),
    );
    field.ask(
        "POST",
        "/v1/connections",
        bearer,
        new("c", refused.clone(), Some(&secret)),
    );
    let one = format!("/v1/connections/{}", made["id"].as_str().expect("an id"));
    for change in [
        json!({"url": refused}),
        json!({"url": format!("https://{refused}.example/")}),
        json!({"secret": secret, "name": "b"}),
        json!({"secret": [secret]}),
    ] {
        field.ask("PATCH", &one, bearer, Some(change));
    }
    let renamed = json!({"name": "d", "secret": secret});
    field.ask("PATCH", &one, bearer, Some(renamed));

    let token = field.secret("secret of a step", "canary-step-secret");
    let workspace = json!({"organization_id": organization, "label": "automations"});
    let workspace = field.ask("POST", "/v1/workspaces", bearer, Some(workspace));
    let step =
        json!({"key": "http.request", "config": {"connectionName": "d", "bearerToken": token}});
    let body = json!({"workspace_id": workspace["id"], "name": "a", "trigger_config": {"type": "manual"},
        "graph_config": {"steps": [step]}});
    let made = field.ask("POST", "/v1/workflows-v2", bearer, Some(body));
    assert!(made["id"].is_string(), "{made}");
}

/// In files, in their names, and in the links to them.
fn plant_files(field: &mut Field, organization: &str, bearer: &str) {
    let text = |document: &Value, name: &str| document[name].as_str().expect(name).to_owned();
    let workspace = json!({"organization_id": organization, "label": "files"});
    let workspace = field.ask("POST", "/v1/workspaces", bearer, Some(workspace));
    let upload = format!("/v1/files?workspace_id={}", text(&workspace, "id"));
    // What a name holds is written into the header of a response, and must not end it.
    let name = field.value("name of a file", "canary-file-name");
    let bytes = field.secret("bytes of a file", "canary-bytes");
    let named = format!("{upload}&name={name}%22%3B%20a%3Db%C3%A9");
    let file = field.ask("POST", &named, bearer, Some(json!(bytes)));
    let path = format!("/v1/files/{}", text(&file, "id"));
    let content = field.serving.ask(&format!(
        "GET {path}/content HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{bearer}\r\n"
    ));
    let (head, body) = content.split_once("\r\n\r\n").expect("a response");
    assert!(
        head.is_ascii() && body.contains("canary-bytes"),
        "{content}"
    );
    assert_eq!(head.matches("content-disposition: ").count(), 1, "{head}");
    // Those that are refused, in the query and in a form.
    let refused = field.secret("refused name of a file", "canary-refused-name");
    let injected = field.secret("line of a refused name", "canary-injected-line");
    for hostile in [
        format!("{refused}%0A{injected}"),
        format!("{refused}%0D%0Aset-cookie:%20{injected}"),
        format!("%E2%80%AE{refused}"),
        format!("..%2F{refused}"),
    ] {
        let path = format!("{upload}&name={hostile}");
        field.ask("POST", &path, bearer, Some(json!("x")));
    }
    for hostile in [
        format!("\u{202e}{refused}"),
        format!("{refused}%0A{injected}"),
    ] {
        let part = format!(
            "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{hostile}\"\r\n\r\nx\r\n--XX--\r\n"
        );
        let length = part.len();
        let response = field.serving.ask(&format!(
            "POST {upload} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{bearer}\
             content-type: multipart/form-data; boundary=XX\r\ncontent-length: {length}\r\n\r\n{part}"
        ));
        assert!(response.starts_with("HTTP/1.1 422 "), "{response}");
        field.refusals.push(response);
    }
    // A link is a credential, and so are those that are almost one.
    let link = json!({"expires_in": 60});
    let link = field.ask("POST", &format!("{path}/links"), bearer, Some(link));
    let url = text(&link, "url");
    let signature = url.find("signature=").expect("a signature") + "signature=".len();
    let end = url[signature..]
        .find('&')
        .map_or(url.len(), |at| signature + at);
    field.secret("signature of a link", &url[signature..end]);
    let opened = field.serving.get(&url);
    assert!(opened.starts_with("HTTP/1.1 200 "), "{opened}");
    let wrong = field.secret("wrong signature", "canary-signature");
    for wrong in [
        format!("{}{wrong}{}", &url[..signature], &url[end..]),
        format!("{url}&{wrong}=1"),
        format!("{url}{wrong}"),
    ] {
        field.ask("GET", &wrong, "", None);
    }
}

/// Plants and looks. `dump` gives everything that the database holds, once the server has ended.
fn search(database: &str, dump: impl FnOnce() -> Vec<u8>) {
    let files = tempfile::tempdir().expect("a folder");
    let place = format!("file:{}", files.path().display());
    // As fine as it gets, whatever the environment asks of the libraries.
    let arguments = [
        "--log-level",
        "trace",
        "--log",
        "sql",
        "--rate-limit",
        "off",
        "--files",
        &place,
    ];
    let key = "0a".repeat(32);
    let environment = [("RUST_LOG", "trace"), ("TPLKIT_SECRET_KEY", &*key)];
    let mut field = Field {
        serving: Serving::start_with(database, &arguments, &environment),
        canaries: Vec::new(),
        refusals: Vec::new(),
    };
    plant(&mut field, database);
    field.serving.signal("-TERM");
    let (_, log) = field.serving.end();
    let held = dump();
    assert!(log.lines().count() > 10, "{log}");
    assert!(!log.contains('\u{202e}'), "a bidirectional control:\n{log}");
    assert!(field.refusals.len() > 30, "{:#?}", field.refusals);
    for canary in &field.canaries {
        let Canary { name, text, .. } = canary;
        assert!(!log.contains(text), "the {name} is in the log:\n{log}");
        for refusal in &field.refusals {
            assert!(
                canary.reported || !refusal.contains(text),
                "the {name}: {refusal}"
            );
        }
        let found = held.windows(text.len()).any(|held| held == text.as_bytes());
        // What is kept is found: the search sees the whole database.
        assert_eq!(found, canary.kept, "the {name} in the database");
    }
}

#[test]
fn nothing_leaks_with_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    search(&database(folder.path()), || everything_in(folder.path()));
}

/// What all files of a folder hold, those of its folders too.
fn everything_in(folder: &Path) -> Vec<u8> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let read = |entry: fs::DirEntry| {
        if entry.path().is_dir() {
            everything_in(&entry.path())
        } else {
            fs::read(entry.path()).expect("a file")
        }
    };
    entries.flat_map(read).collect()
}

#[test]
fn nothing_leaks_with_postgres() {
    let (Some(place), Some(cluster)) = (Place::postgres(), cluster::shared()) else {
        return;
    };
    let name = place.url.split(['/', '?']).nth(3).expect("a database");
    search(&place.url, || {
        let all = "SELECT string_agg(query_to_xml(format('SELECT * FROM main.%I', tablename), \
             true, true, '')::text, '') FROM pg_tables WHERE schemaname = 'main'";
        cluster.psql_in(name, all).expect("a result").into_bytes()
    });
}
