//! Flags, their variables, and what an operator sees of a running server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::process::{Serving, command, database, stderr, stdout};

#[test]
fn every_flag_has_a_variable_and_help() {
    let output = command(&["serve", "--help"]).output().expect("starts");
    let help = stdout(&output);
    for flag in [
        "listen",
        "no-worker",
        "max-body",
        "files",
        "files-adopt",
        "file-grace",
        "max-file",
        "playground",
        "trust-proxy",
        "rate-limit",
        "max-connections",
        "lease-seconds",
        "schema-cap",
        "drain-seconds",
        "statement-timeout",
        "metrics-listen",
        "log-level",
        "log-format",
    ] {
        let variable = format!("TPLKIT_{}", flag.to_uppercase().replace('-', "_"));
        assert!(help.contains(&format!("--{flag}")), "{flag}");
        assert!(help.contains(&variable), "{variable}");
    }
    assert!(help.contains("--cors-origin") && help.contains("TPLKIT_CORS_ORIGINS"));
    // What the limits of files are where nobody says it.
    for (flag, default) in [
        ("--max-file <BYTES>", "104857600"),
        ("--file-grace <DURATION>", "24h"),
    ] {
        let (_, about) = help.split_once(flag).expect("a flag");
        let about = about.split("\n      --").next().unwrap_or_default();
        assert!(about.contains(&format!("[default: {default}]")), "{about}");
    }
    assert!(help.contains("TPLKIT_SECRET_KEY") && !help.contains("--secret-key"));
}

#[test]
fn variables_configure_what_flags_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = "fb".repeat(32);
    let environment = [
        ("TPLKIT_MAX_BODY", "10"),
        ("TPLKIT_TRUST_PROXY", "1"),
        ("TPLKIT_NO_WORKER", "false"),
        ("TPLKIT_LOG_FORMAT", "text"),
        ("TPLKIT_LOG_LEVEL", "debug"),
        ("TPLKIT_SECRET_KEY", &key),
    ];
    let serving = Serving::start_with(&database(folder.path()), &[], &environment);
    let refused = serving.ask(
        "POST /v1/auth/token HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 1.2.3.4, 5.6.7.8:9\r\n\
         connection: close\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n",
    );
    assert!(refused.contains("A body may have 10 bytes."), "{refused}");
    serving.wait_for("responded");
    let log = serving.log();
    assert!(log.contains("5.6.7.8") && !log.contains("1.2.3.4"), "{log}");
    assert!(log.contains("worker=true"), "{log}");
    assert!(!log.contains(&key), "{log}");
}

/// What was meant is not guessed: some of them open something.
#[test]
fn a_switch_takes_nothing_but_yes_and_no() {
    for variable in [
        "TPLKIT_TRUST_PROXY",
        "TPLKIT_NO_WORKER",
        "TPLKIT_FILES_ADOPT",
        "TPLKIT_ALLOW_PRIVATE_ADDRESSES",
    ] {
        for value in ["flase", "disabled", "never", "2", " "] {
            let output = command(&["serve", "--database", "sqlite::memory:"])
                .env(variable, value)
                .output()
                .expect("starts");
            assert_eq!(output.status.code(), Some(2), "{variable}={value}");
            let flag = variable.replace("TPLKIT_", "--").replace('_', "-");
            let message = stderr(&output);
            assert!(message.contains(&flag.to_lowercase()), "{message}");
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let environment = [
        ("TPLKIT_TRUST_PROXY", "No"),
        ("TPLKIT_NO_WORKER", "YES"),
        ("TPLKIT_LOG_FORMAT", "text"),
    ];
    let serving = Serving::start_with(&database(folder.path()), &[], &environment);
    serving.get("/v1/health");
    serving.wait_for("worker=false");
}

#[test]
fn a_variable_that_is_set_to_nothing_is_not_set() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = command(&["serve", "--help"]).output().expect("starts");
    let help = stdout(&output);
    let words = help.split(|next: char| !next.is_ascii_uppercase() && next != '_');
    let mut variables: Vec<(&str, &str)> = words
        .filter(|word| word.starts_with("TPLKIT_"))
        .map(|name| (name, ""))
        .collect();
    variables.push(("TPLKIT_SMTP_URL", ""));
    assert!(variables.len() > 20, "{variables:?}");
    let serving = Serving::start_with(&database(folder.path()), &[], &variables);
    let health = serving.get("/v1/health");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    drop(serving);
    let output = command(&["migrate"])
        .current_dir(folder.path())
        .env("TPLKIT_DATABASE_URL", "")
        .output()
        .expect("starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(folder.path().join("tplkit.db").exists());
    // Nothing but an address is one.
    let output = command(&["serve"])
        .env("TPLKIT_LISTEN", "nonsense")
        .output()
        .expect("starts");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn origins_are_read_from_flags_and_from_the_variable() {
    let folder = tempfile::tempdir().expect("a folder");
    let asks = |serving: &Serving, origin: &str| {
        let response = serving.ask(&format!(
            "GET /v1/health HTTP/1.1\r\nhost: a\r\norigin: {origin}\r\nconnection: close\r\n\r\n"
        ));
        response.contains(&format!("access-control-allow-origin: {origin}\r\n"))
    };
    let [a, b, c] = ["https://a.test", "http://b.test:81", "https://c.test"];
    let flags = ["--cors-origin", a, "--cors-origin", b];
    let serving = Serving::start_with(&database(folder.path()), &flags, &[]);
    assert!(asks(&serving, a) && asks(&serving, b) && !asks(&serving, c));
    drop(serving);
    let folder = tempfile::tempdir().expect("a folder");
    let both = format!("{a}, {c}");
    let environment = [("TPLKIT_CORS_ORIGINS", both.as_str())];
    let serving = Serving::start_with(&database(folder.path()), &[], &environment);
    assert!(asks(&serving, a) && asks(&serving, c) && !asks(&serving, b));
    drop(serving);
    for bad in ["a.test", "https://a.test/", "https://", "null"] {
        let output = command(&[
            "serve",
            "--database",
            "sqlite::memory:",
            "--cors-origin",
            bad,
        ])
        .output()
        .expect("starts");
        assert_eq!(output.status.code(), Some(2), "{bad}");
        let message = stderr(&output);
        assert!(
            message.contains("--cors-origin") && message.contains("scheme://host"),
            "{message}"
        );
    }
}

#[test]
fn a_playground_is_shown_where_there_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let get = |serving: &Serving, method: &str, path: &str| {
        serving.ask(&format!(
            "{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        ))
    };
    let without = Serving::start_with(&database(folder.path()), &[], &[]);
    let missing = get(&without, "GET", "/playground");
    assert!(missing.starts_with("HTTP/1.1 404"), "{missing}");
    assert!(missing.contains("scripts/playground"), "{missing}");
    drop(without);
    let page = folder.path().join("page");
    std::fs::create_dir(&page).expect("a folder");
    let started = |page: &std::path::Path| {
        let path = page.to_str().expect("a path").to_owned();
        Serving::start_with("sqlite::memory:", &[], &[("TPLKIT_PLAYGROUND", &path)])
    };
    std::fs::write(page.join("index.html"), "<script src=\"./app.js\">").expect("written");
    std::fs::write(page.join("app.js"), "run()").expect("written");
    let serving = started(&page);
    let policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
    let index = get(&serving, "GET", "/playground");
    assert!(index.starts_with("HTTP/1.1 200"), "{index}");
    assert!(
        index.contains(policy) && index.contains("text/html"),
        "{index}"
    );
    assert!(index.ends_with("src=\"playground/app.js\">"), "{index}");
    let script = get(&serving, "GET", "/playground/app.js");
    assert!(
        script.contains("text/javascript") && script.ends_with("run()"),
        "{script}"
    );
    let head = get(&serving, "HEAD", "/playground/app.js");
    assert!(
        head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    let post = get(&serving, "POST", "/playground");
    assert!(post.starts_with("HTTP/1.1 405"), "{post}");
    let outside = get(&serving, "GET", "/playground/../page/app.js");
    assert!(outside.starts_with("HTTP/1.1 404"), "{outside}");
    std::fs::remove_file(page.join("index.html")).expect("removed");
    let output = command(&["serve", "--database", "sqlite::memory:", "--playground"])
        .arg(&page)
        .output()
        .expect("starts");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn a_bad_key_is_refused_and_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    for bad in ["short-and-secret", &"fb".repeat(31), &"zz".repeat(32)] {
        let name = if bad.contains("short") {
            "serve"
        } else {
            "worker"
        };
        let output = command(&[name, "--database", &database(folder.path())])
            .env("TPLKIT_SECRET_KEY", bad)
            .output()
            .expect("starts");
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(
            message.contains("TPLKIT_SECRET_KEY") && !message.contains(bad),
            "{message}"
        );
    }
}

#[test]
fn numbers_are_shown_on_an_address_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    // Without the workers, which look into the store now and then.
    let arguments = [
        "--metrics-listen",
        "127.0.0.1:0",
        "--rate-limit",
        "1",
        "--no-worker",
    ];
    let serving = Serving::start_with(&database(folder.path()), &arguments, &[]);
    serving.wait_for("numbers are shown");
    let log = serving.log();
    let line = log.lines().find(|line| line.contains("numbers are shown"));
    let line: Value = serde_json::from_str(line.expect("a line")).expect("JSON");
    let address = line["address"].as_str().expect("an address");
    serving.get("/v1/health");
    serving.get("/v1/ready");
    serving.get("/v1/secret-path");
    serving.ask("SECRETMETHOD /nothing HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    serving.ask("secret nonsense\r\n\r\n");
    let exchange = "POST /v1/auth/refresh HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: 21\r\n\r\n{\"refresh_token\":\"x\"}";
    let mut exchanged = 0;
    while !serving.ask(exchange).starts_with("HTTP/1.1 429") {
        exchanged += 1;
    }
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(address).expect("connects");
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sends");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("a response");
        text
    };
    let page = ask("/metrics");
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        &format!("tplkit_build_info{{version=\"{version}\",store=\"sqlite\"}} 1"),
        r#"tplkit_http_requests_total{method="GET",route="/v1/health",status="200"} 1"#,
        r#"tplkit_http_requests_total{method="GET",route="none",status="404"} 1"#,
        r#"tplkit_http_requests_total{method="other",route="none",status="404"} 1"#,
        r#"tplkit_http_requests_total{method="none",route="none",status="422"} 1"#,
        r#"tplkit_http_requests_total{method="POST",route="/v1/auth/refresh",status="429"} 1"#,
        r#"tplkit_http_rate_limited_total{route="/v1/auth/refresh"} 1"#,
        r#"tplkit_http_duration_seconds_count{method="GET",route="/v1/health"} 1"#,
        "tplkit_http_requests_in_flight 0",
        r#"tplkit_store_operations_total{kind="read",outcome="ok"}"#,
        &format!("tplkit_store_operations_total{{kind=\"write\",outcome=\"ok\"}} {exchanged}"),
        &format!("tplkit_store_operation_duration_seconds_count{{kind=\"write\"}} {exchanged}"),
        "tplkit_store_connections ",
        "tplkit_store_waiting 0",
        "tplkit_password_verifications_total 0",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    assert!(!page.to_lowercase().contains("secret"), "{page}");
    assert!(ask("/").starts_with("HTTP/1.1 404"));
    // Not where users are.
    assert!(serving.get("/metrics").starts_with("HTTP/1.1 404"));
}
