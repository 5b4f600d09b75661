//! The command as a person meets it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tplkit-server"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn database(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("test.db").display())
}

/// Runs an `admin` command and gives the record that it prints.
fn admin(database: &str, arguments: &[&str], input: &str) -> Result<Value, Output> {
    let mut child = command(&["admin"])
        .args(arguments)
        .args(["--database", database])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // A command that refuses its arguments does not read.
    let _ = pipe.write_all(input.as_bytes());
    drop(pipe);
    let output = child.wait_with_output().expect("ends");
    if !output.status.success() {
        return Err(output);
    }
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    Ok(serde_json::from_str(&text).expect("JSON"))
}

/// A running server, killed when the test ends before it does.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(database: &str) -> Serving {
        let mut child = command(&["serve", "--listen", "127.0.0.1:0", "--database", database])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        let mut printed = BufReader::new(child.stdout.take().expect("a pipe"));
        printed.read_line(&mut line).expect("a line");
        let address = line.trim_end().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Serving { child, address }
    }

    /// Opens a request and leaves its body out.
    fn open(&self, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sends");
        stream
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

#[test]
fn version_is_the_version_of_the_health_document() {
    let output = run(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    let version = tplkit_server::health().version;
    assert_eq!(stdout(&output), format!("tplkit-server {version}\n"));
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    for arguments in [
        &[][..],
        &["nonsense"],
        &["--listen", "127.0.0.1:0"],
        &["serve", "--rate-limit", "0"],
        &["serve", "--rate-limit", "many"],
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

#[cfg(unix)]
#[test]
fn a_server_that_is_told_to_stop_lets_open_requests_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut serving = Serving::start(&database(folder.path()));
    let body = r#"{"email":"ann@acme.test","password":"secret word"}"#;
    let mut request = serving.open("/v1/auth/token", body);
    request.write_all(&body.as_bytes()[..10]).expect("sends");
    // Long enough for the server to have begun with it.
    thread::sleep(Duration::from_millis(300));
    let pid = serving.child.id().to_string();
    let killed = Command::new("kill")
        .args(["-TERM", &pid])
        .status()
        .expect("kill exists");
    assert!(killed.success());
    thread::sleep(Duration::from_millis(300));
    assert!(
        TcpStream::connect(&serving.address).is_err(),
        "nothing new is taken"
    );
    request.write_all(&body.as_bytes()[10..]).expect("sends");
    let answer = answer(request);
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert_eq!(serving.child.wait().expect("ends").code(), Some(0));
    let mut log = String::new();
    let mut stderr = serving.child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut log).expect("UTF-8");
    assert!(log.contains("/v1/auth/token"), "{log}");
    assert!(
        !log.contains("secret word") && !log.contains("ann@acme.test"),
        "{log}"
    );
    for line in log.lines() {
        let _: Value = serde_json::from_str(line).expect("a structured line");
    }
}
