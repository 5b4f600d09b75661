//! The command as a person meets it.

use std::io::Write as _;

use crate::process::{Serving, admin, answer, database, run, stderr, stdout};

#[test]
fn version_is_the_version_of_the_health_document() {
    let output = run(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    let version = tplkit_server::health().version;
    assert_eq!(stdout(&output), format!("tplkit-server {version}\n"));
}

#[test]
fn the_openapi_document_is_printed() {
    let output = run(&["openapi"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["paths"]["/v1/features/{feature_id}/rows:batch"]["post"].is_object());
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    for arguments in [
        &[][..],
        &["nonsense"],
        &["--listen", "127.0.0.1:0"],
        &["serve", "--rate-limit", "0"],
        &["serve", "--rate-limit", "many"],
        &["serve", "--schema-cap", "5"],
        &["serve", "--schema-cap", "0,5"],
        &["serve", "--lease-seconds", "0"],
        &["serve", "--max-body", "0"],
        &["serve", "--statement-timeout", "-1"],
        &["serve", "--log-level", "loud"],
        &["migrate", "--database", "mysql://x"],
        &[
            "admin",
            "add-member",
            "--organization",
            "x",
            "--email",
            "a",
            "--role",
            "owner",
        ],
        &["admin", "create-user", "--email", "a@b.test"],
        &[
            "admin",
            "create-organization",
            "--label",
            "x",
            "--seats",
            "-1",
        ],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_store_is_migrated_once_and_a_newer_one_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    for _ in 0..2 {
        let output = run(&["migrate", "--database", &database]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let file = database.strip_prefix("sqlite:").expect("a file");
    let store = rusqlite::Connection::open(file).expect("opens");
    let newer = "INSERT INTO schema_migrations VALUES (4711, '4711_later')";
    store.execute(newer, []).expect("writes");
    let output = run(&["migrate", "--database", &database]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("4711"), "{}", stderr(&output));
}

#[test]
fn an_administrator_creates_what_a_person_signs_in_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = &database(folder.path());
    let create = ["create-organization", "--label", "Acme", "--seats", "1"];
    let organization = admin(database, &create, "").expect("a record");
    assert_eq!(organization["label"], "Acme");
    assert_eq!(organization["seats"], 1);
    let organization = organization["id"].as_str().expect("an id").to_owned();
    let create = [
        "create-user",
        "--email",
        " Ann@Acme.test",
        "--password-stdin",
    ];
    let refused = admin(database, &create, "\n").expect_err("no password");
    assert_eq!(refused.status.code(), Some(2));
    let user = admin(database, &create, "secret word\n").expect("a record");
    assert_eq!(user["email"], "ann@acme.test");
    assert_eq!(user["platform_admin"], false);
    assert!(user.get("password_hash").is_none());
    let refused = admin(database, &create, "again\n").expect_err("it exists");
    assert_eq!(refused.status.code(), Some(1));

    // Beside a server that runs.
    let serving = Serving::start(database);
    let add = |email: &str| {
        let add = [
            "add-member",
            "--organization",
            &organization,
            "--email",
            email,
            "--role",
            "owner",
        ];
        admin(database, &add, "")
    };
    let member = add("ANN@acme.test").expect("a record");
    assert_eq!(member["role"], "owner");
    assert_eq!(member["organization_id"], organization.as_str());
    assert_eq!(member["user_id"], user["id"]);
    assert!(add("ann@acme.test").is_err(), "a member already");
    assert!(add("bob@acme.test").is_err(), "nobody");
    let body = r#"{"email":"ann@acme.test","password":"secret word"}"#;
    let mut request = serving.open("/v1/auth/token", body);
    request.write_all(body.as_bytes()).expect("sends");
    let answer = answer(request);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    // A second server for the file is refused, and says why.
    let second = run(&["serve", "--listen", "127.0.0.1:0", "--database", database]);
    assert_eq!(second.status.code(), Some(1));
    assert!(
        stderr(&second).contains("another process"),
        "{}",
        stderr(&second)
    );
}
