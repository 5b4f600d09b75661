//! The command as a person meets it.

use std::io::Write as _;

use crate::process::{Serving, admin, database, read_response, run, stderr, stdout};

#[test]
fn version_is_the_version_of_the_health_document() {
    let output = run(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    let version = tplkit_server::health().version;
    assert_eq!(stdout(&output), format!("tplkit-server {version}\n"));
}

#[test]
fn completions_and_manual_pages_are_made_from_the_declarations() {
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let script = stdout(&output);
        for word in ["reset-password", "cors-origin", "activate"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
    let page = |words: &[&str]| {
        let output = run(&[&["man"][..], words].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    assert!(page(&[]).contains(".SH SYNOPSIS"));
    let page = page(&["admin", "list-users"]);
    assert!(page.contains(".SH EXAMPLES"), "{page}");
    assert!(page.contains("organization"), "{page}");
    let output = run(&["man", "nonsense"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there are serve, worker"));
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
        &["serve", "--listen", "127.0.0.1"],
        &["serve", "--listen", ":8080"],
        &["serve", "--listen", "127.0.0.1:65536"],
        &["serve", "--metrics-listen", "nonsense"],
        &["worker", "--metrics-listen", "[::1]"],
        &["serve", "--rate-limit", "0"],
        &["serve", "--rate-limit", "many"],
        &["serve", "--schema-cap", "5"],
        &["serve", "--schema-cap", "0,5"],
        &["serve", "--lease-seconds", "0"],
        &["serve", "--max-body", "0"],
        &["serve", "--statement-timeout", "-1"],
        &["serve", "--statement-timeout", "0.0001"],
        &["serve", "--statement-timeout", "1e-12"],
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
    let newer = "INSERT INTO schema_migrations VALUES (4711, '4711_later', '')";
    store.execute(newer, []).expect("writes");
    let output = run(&["migrate", "--database", &database]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("4711"), "{}", stderr(&output));
}

#[test]
fn an_administrator_creates_what_a_person_signs_in_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = &database(folder.path());
    let bounds = ["--seats", "1", "--file-quota", "4000"];
    let create = [&["create-organization", "--label", "Acme"], &bounds[..]].concat();
    let organization = admin(database, &create, "").expect("a record");
    assert_eq!(organization["label"], "Acme");
    assert_eq!(organization["seats"], 1);
    assert_eq!(organization["file_quota"], 4000);
    assert_eq!(organization["file_bytes"], 0);
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
    let refused = admin(database, &create, "another one\n").expect_err("it exists");
    assert_eq!(refused.status.code(), Some(1));

    // Next to a server that runs.
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
    let response = read_response(request);
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");

    // A second server for the file is refused, and says why.
    let second = run(&["serve", "--listen", "127.0.0.1:0", "--database", database]);
    assert_eq!(second.status.code(), Some(1));
    assert!(
        stderr(&second).contains("another process"),
        "{}",
        stderr(&second)
    );
}

#[test]
fn an_administrator_sets_what_an_organization_may_have() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = &database(folder.path());
    let create = ["create-organization", "--label", "Acme", "--seats", "1"];
    let organization = admin(database, &create, "").expect("a record");
    let organization = organization["id"].as_str().expect("an id").to_owned();
    // Next to a server that runs.
    let _serving = Serving::start(database);
    let set = |more: &[&str]| {
        let words = ["set-quota", "--organization", &organization];
        admin(database, &[&words[..], more].concat(), "")
    };
    let limits = |record: serde_json::Value| {
        ["seats", "row_quota", "file_quota"].map(|name| record[name].as_i64())
    };
    let all = ["--seats", "5", "--row-quota", "0", "--file-quota", "4000"];
    let record = set(&all).expect("a record");
    assert_eq!(record["id"], organization.as_str());
    assert_eq!(record["label"], "Acme");
    assert_eq!(limits(record), [Some(5), Some(0), Some(4000)]);
    // What is not named stays.
    let record = set(&["--row-quota", "none"]).expect("a record");
    assert_eq!(limits(record), [Some(5), None, Some(4000)]);
    let record = set(&["--file-quota", "9007199254740993", "--seats", "none"]);
    let most = Some(9_007_199_254_740_993);
    assert_eq!(limits(record.expect("a record")), [None, None, most]);
    for wrong in [
        &[][..],
        &["--row-quota", "many"],
        &["--row-quota=-1"],
        &["--seats", ""],
        &["--file-quota", "1.5"],
    ] {
        let refused = set(wrong).expect_err("makes no sense");
        assert_eq!(refused.status.code(), Some(2), "{wrong:?}");
    }
    let nobody = "0198a5ba-0000-7000-8000-0000000000ff";
    let words = ["set-quota", "--organization", nobody, "--row-quota", "1"];
    let refused = admin(database, &words, "").expect_err("there is none");
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains(nobody), "{}", stderr(&refused));
}

#[test]
fn an_administrator_helps_who_is_in_and_who_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = &database(folder.path());
    let create = ["create-organization", "--label", "Acme"];
    let organization = admin(database, &create, "").expect("a record");
    let organization = organization["id"].as_str().expect("an id").to_owned();
    let long = "x".repeat(256);
    for label in ["", &long] {
        let refused = admin(database, &["create-organization", "--label", label], "");
        assert_eq!(
            refused.expect_err("a label").status.code(),
            Some(2),
            "{label}"
        );
    }
    let user = |verb: &str, email: &str, password: &str| {
        let arguments = [verb, "--email", email, "--password-stdin"];
        admin(database, &arguments, password)
    };
    let long = "x".repeat(1025);
    for (password, why) in [
        ("a", "less than 10 characters"),
        (&*long, "longer than 1024 bytes"),
    ] {
        for verb in ["create-user", "reset-password"] {
            let refused = user(verb, "ann@acme.test", password).expect_err("no password");
            assert_eq!(refused.status.code(), Some(2), "{verb} {password}");
            assert!(stderr(&refused).contains(why), "{}", stderr(&refused));
        }
    }
    for email in ["bob@acme.test", "ann@acme.test"] {
        user("create-user", email, "secret word\n").expect("a record");
    }
    let member = |verb: &str, email: &str| {
        let mut arguments = vec![verb, "--organization", &organization, "--email", email];
        if verb == "add-member" {
            arguments.extend(["--role", "owner"]);
        }
        admin(database, &arguments, "")
    };
    member("add-member", "ann@acme.test").expect("a record");

    let owns = serde_json::json!([{"id": organization, "label": "Acme", "role": "owner"}]);
    let all = admin(database, &["list-users"], "").expect("a list");
    let items = all["items"].as_array().expect("a list");
    let emails: Vec<_> = items.iter().map(|user| &user["email"]).collect();
    assert_eq!(emails, ["ann@acme.test", "bob@acme.test"]);
    assert_eq!(items[0]["organizations"], owns);
    assert_eq!(items[1]["organizations"], serde_json::json!([]));
    assert_eq!(items[0]["platform_admin"], false);
    let keys: Vec<_> = items[0].as_object().expect("a record").keys().collect();
    assert_eq!(keys, ["id", "email", "platform_admin", "organizations"]);
    let within = ["list-users", "--organization", &organization];
    let members = admin(database, &within, "").expect("a list");
    assert_eq!(members["items"], serde_json::json!([items[0]]));
    let nobody = "00000000-0000-7000-8000-000000000000";
    let refused = admin(database, &["list-users", "--organization", nobody], "");
    assert_eq!(refused.expect_err("nothing").status.code(), Some(1));

    // Next to a server that runs: the sessions of before are over.
    let serving = Serving::start(database);
    let sign_in = |password: &str| {
        let body = format!(r#"{{"email":"ann@acme.test","password":"{password}"}}"#);
        let mut request = serving.open("/v1/auth/token", &body);
        request.write_all(body.as_bytes()).expect("sends");
        read_response(request)
    };
    let signed_in = sign_in("secret word");
    let (_, body) = signed_in.split_once("\r\n\r\n").expect("a body");
    let tokens: serde_json::Value = serde_json::from_str(body).expect("JSON");
    let me = || {
        let token = tokens["access_token"].as_str().expect("a token");
        serving.ask(&format!(
            "GET /v1/me HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\n\
             connection: close\r\n\r\n"
        ))
    };
    assert!(me().starts_with("HTTP/1.1 200"));
    let reset = user("reset-password", " Ann@acme.TEST", "another word\n").expect("a record");
    assert_eq!(reset, items[0]);
    assert!(me().starts_with("HTTP/1.1 401"));
    assert!(sign_in("secret word").starts_with("HTTP/1.1 401"));
    assert!(sign_in("another word").starts_with("HTTP/1.1 200"));
    let refused = user("reset-password", "eve@acme.test", "another word\n");
    assert_eq!(refused.expect_err("nobody").status.code(), Some(1));

    // The last owner stays.
    let refused = member("remove-member", "ann@acme.test").expect_err("the last owner");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("last owner"),
        "{}",
        stderr(&refused)
    );
    member("add-member", "bob@acme.test").expect("a record");
    let gone = member("remove-member", "ann@acme.test").expect("a record");
    assert_eq!(gone["email"], "ann@acme.test");
    assert_eq!(gone["organizations"], serde_json::json!([]));
    for email in ["ann@acme.test", "eve@acme.test"] {
        let refused = member("remove-member", email).expect_err("no member");
        assert_eq!(refused.status.code(), Some(1));
    }
}

/// A connection that is set, and its secret.
fn set(database: &str, arguments: &[&str], secret: &str) -> Result<serde_json::Value, i32> {
    let mut command = crate::process::command(&["admin", "set-connection"]);
    let mut child = command
        .args(arguments)
        .args(["--database", database])
        .env("TPLKIT_SECRET_KEY", "0a".repeat(32))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let _ = pipe.write_all(secret.as_bytes());
    drop(pipe);
    let output = child.wait_with_output().expect("ends");
    match output.status.code() {
        Some(0) => Ok(serde_json::from_slice(&output.stdout).expect("JSON")),
        code => Err(code.unwrap_or(-1)),
    }
}

#[test]
fn an_administrator_says_whom_automations_speak_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = &database(folder.path());
    let organization = &crate::process::owner(database);
    let create = |name: &str| {
        let create = [
            "create-channel",
            "--organization",
            organization,
            "--name",
            name,
        ];
        admin(database, &create, "")
    };
    let channel = create("desk").expect("a record");
    assert_eq!(
        (&channel["name"], &channel["organization_id"]),
        (&"desk".into(), &organization.as_str().into())
    );
    let second = create("desk").expect("channels may share a name");
    assert_ne!(second["id"], channel["id"]);
    assert!(create("").is_err(), "no name");
    assert!(create(&"x".repeat(256)).is_err(), "too long");

    let to = |name: &'static str, kind: &'static str, url: &'static str| {
        vec![
            "--organization",
            organization.as_str(),
            "--name",
            name,
            "--kind",
            kind,
            "--url",
            url,
        ]
    };
    let mut api = to("api", "http", "https://api.example.org/v1");
    api.push("--secret-stdin");
    let made = set(database, &api, "s3cret\n").expect("a record");
    assert_eq!(made["has_secret"], true);
    assert!(!made.to_string().contains("s3cret"));
    // Without a secret it has none any more.
    let again = set(
        database,
        &to("api", "http", "https://api.example.org/v2"),
        "",
    )
    .expect("a record");
    assert_eq!(
        (&again["id"], &again["has_secret"]),
        (&made["id"], &false.into())
    );
    let mail = set(
        database,
        &to(
            "mail",
            "smtp",
            "smtp://ann:pa55@mail.example.org?from=a@b.c",
        ),
        "",
    )
    .expect("a record");
    assert_eq!(
        (&mail["has_secret"], &mail["url"]),
        (
            &true.into(),
            &"smtp://ann@mail.example.org?from=a@b.c".into()
        )
    );
    set(database, &to("nightly", "timer", "cron:0 3 * * *"), "").expect("a record");
    let file = std::fs::read(database.strip_prefix("sqlite:").expect("a file")).expect("reads");
    for secret in ["s3cret", "pa55"] {
        assert!(
            !file
                .windows(secret.len())
                .any(|part| part == secret.as_bytes()),
            "{secret}"
        );
    }
    assert_eq!(set(database, &api, ""), Err(2), "no secret");
    assert_eq!(set(database, &to("x", "ftp", "ftp://x"), ""), Err(2));
    for (kind, url) in [
        ("http", "ftp://x"),
        ("smtp", "http://x"),
        ("timer", "daily"),
        ("timer", "cron:0 0 30 2 *"),
        ("llm", "x"),
    ] {
        assert_eq!(
            set(database, &to("x", kind, url), ""),
            Err(1),
            "{kind} {url}"
        );
    }
    // Nothing encrypts it.
    let plain = [
        "set-connection",
        "--organization",
        organization,
        "--name",
        "y",
        "--kind",
        "http",
        "--url",
        "https://x.example",
        "--secret-stdin",
    ];
    let refused = admin(database, &plain, "s3cret\n").expect_err("no key");
    assert!(
        stderr(&refused).contains("TPLKIT_SECRET_KEY"),
        "{}",
        stderr(&refused)
    );

    let nothing = "00000000-0000-7000-8000-000000000000";
    for switch in ["activate", "pause"] {
        let refused = admin(database, &["automation", switch, nothing], "").expect_err("nothing");
        assert_eq!(refused.status.code(), Some(1));
        assert!(stderr(&refused).contains(nothing), "{}", stderr(&refused));
    }
}
