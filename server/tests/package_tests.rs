//! Declared tests on the store: the document of `tplkit test --server` is that of `tplkit test`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::sessions::built_programs;

const SERVER: &str = env!("CARGO_BIN_EXE_tplkit-server");

fn root() -> PathBuf {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.expect("a root").to_owned()
}

/// A folder with the command line in it, the server next to it or not, and room for temporary files.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Place {
        let dir = TempDir::new().expect("a folder");
        for folder in ["bin", "path", "tmp"] {
            fs::create_dir(dir.path().join(folder)).expect("a folder");
        }
        // A copy: links are followed to where the program really is.
        let program = built_programs(&root()).join("tplkit");
        fs::copy(program, dir.path().join("bin/tplkit")).expect("copies");
        Place { dir }
    }

    fn with_server() -> Place {
        let place = Place::new();
        symlink(SERVER, place.path("bin/tplkit-server")).expect("links");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("writes");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/tplkit"));
        command
            .arg("test")
            .args(words)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", self.path("path"))
            .env("HOME", self.dir.path())
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null());
        command
    }

    /// The document of a run that ends so, and the words of its errors.
    fn run(&self, words: &[&str], code: i32) -> Value {
        let words = [words, &["--format", "json"]].concat();
        let output = self.command(&words).output().expect("runs");
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?}\n{out}\n{err}");
        assert!(self.is_clean(), "temporary files are left");
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
    }

    /// The document that memory and the store agree on.
    fn both(&self, words: &[&str], code: i32) -> Value {
        let memory = self.run(words, code);
        let store = self.run(&[words, &["--server"]].concat(), code);
        assert_eq!(store, memory, "{words:?}");
        memory
    }

    fn is_clean(&self) -> bool {
        let mut left = fs::read_dir(self.path("tmp")).expect("a folder");
        left.next().is_none()
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn example(name: &str) -> String {
    root().join("examples").join(name).display().to_string()
}

#[test]
fn examples_pass_on_the_store_as_in_memory() {
    let place = Place::with_server();
    for name in ["inventory", "service-desk"] {
        let package = example(&format!("{name}.json"));
        // Snapshots of memory hold on the store.
        for test in fs::read_dir(example(&format!("tests/{name}"))).expect("tests") {
            let test = test.expect("a test");
            let text = fs::read_to_string(test.path()).expect("a text");
            let text = text.replace("\"../../", &format!("\"{}/", example("")));
            let file = test.file_name().into_string().expect("a name");
            place.write(&format!("{name}/{file}"), &text);
        }
        let words = [&package, "--tests", name, "--require-tests"];
        place.run(&[&words[..], &["--update"]].concat(), 0);
        let document = place.both(&words, 0);
        assert_eq!(document["tests"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn what_is_otherwise_is_otherwise_in_both() {
    let place = Place::with_server();
    let desk = fs::read_to_string(example("tests/service-desk/tickets.toml")).expect("a test");
    let desk = desk
        .replace("Ticket 1 received", "Ticket 7 received")
        .replace("\"switch\"", "\"delay\"")
        .replace("route = \"incident\"", "route = \"question\"")
        .replace("team = \"Network\"", "team = \"Nobody\"");
    place.write("desk/wrong.toml", &desk);
    let refused = desk.replace("w_duty_roster = { action = \"skip\" }\n", "");
    place.write("desk/refused.toml", &refused);
    let row = desk.replace("status = \"New\"", "status = 7");
    place.write("desk/row.toml", &row);
    let report = fs::read_to_string(example("tests/service-desk/reports.toml")).expect("a test");
    let report = report
        .replace("count = 10", "count = 11")
        .replace("created = { feature = 4", "created = { feature = 5")
        .replace(
            "notifications = [{ title = \"Ticket 2041",
            "notifications = [{ title = \"Ticket 2042",
        );
    place.write("desk/report.toml", &report);
    let step = report.replace(
        "body = { number = 2041, subject",
        "rows = { f_agents = [] }\nbody = { subject",
    );
    place.write("desk/step.toml", &step);
    let document = place.both(&[&example("service-desk.json"), "--tests", "desk"], 1);
    let paths: Vec<Vec<&str>> = document["tests"]
        .as_array()
        .expect("tests")
        .iter()
        .map(|test| {
            let failures = test["failures"].as_array().expect("failures").iter();
            failures.filter_map(|one| one["path"].as_str()).collect()
        })
        .collect();
    assert_eq!(
        paths,
        [
            vec!["apply"],
            vec![
                "expect.created.feature",
                "fire[0].outputs.stp_WPKiJG9C2yCH.count",
                "fire[1].notifications[0].title",
            ],
            vec!["fire[0].row"],
            vec![
                "expect.created.feature",
                "fire[0].outputs.stp_WPKiJG9C2yCH.count",
                "fire[1].error",
                "fire[1].notifications[0].title",
                "fire[1].rows.f_agents",
            ],
            vec![
                "fire[0].steps",
                "fire[0].outputs.stp_6lIWGVnUNYx4.route",
                "fire[0].mails[0].subject",
                "fire[0].rows.f_tickets[0].team",
            ],
        ],
        "{document:#}"
    );
}

/// The step of that ref in the plan of a package.
fn plan_step<'p>(package: &'p mut Value, name: &str) -> &'p mut Value {
    let steps = package["manifest"]["plan"]["steps"].as_array_mut();
    let mut steps = steps.expect("steps").iter_mut();
    steps.find(|step| step["ref"] == name).expect("a step")
}

#[test]
fn a_new_row_fires_where_a_watched_cell_is_filled() {
    let place = Place::with_server();
    let text = fs::read_to_string(example("service-desk.json")).expect("a package");
    let mut package: Value = serde_json::from_str(&text).expect("JSON");
    let report = &mut plan_step(&mut package, "w_weekly_report")["args"];
    report["published"] = json!(true);
    report["triggerConfig"] = json!({
        "type": "record.event",
        "config": {"featureId": "$f_ticket_log", "modes": ["created"], "watchedColumns": ["$c_ticket_log_text"]},
    });
    let desk = fs::read_to_string(example("tests/service-desk/reports.toml")).expect("a test");
    let given = desk.split("[expect]").next().expect("a beginning");
    for (bindings, mails) in [(4, "[{ to = \"chefia@desk.usado.example\" }]"), (3, "[]")] {
        let post = plan_step(&mut package, "w_post_to_channel");
        let written = &mut post["args"]["graphConfig"]["steps"][1]["config"]["bindings"];
        // The last one fills the column that is watched.
        written.as_array_mut().expect("a list").truncate(bindings);
        place.write("p.json", &package.to_string());
        let fire = "[[fire]]\nautomation = \"w_post_to_channel\"\nbody = { number = 2041 }\n";
        place.write("desk/log.toml", &format!("{given}{fire}mails = {mails}\n"));
        let document = place.both(&["p.json", "--tests", "desk"], 0);
        assert_eq!(document["tests"][0]["passed"], true, "{document:#}");
    }
}

#[test]
fn an_amount_is_found_as_it_is_stored() {
    let place = Place::with_server();
    let text = fs::read_to_string(example("service-desk.json")).expect("a package");
    let mut package: Value = serde_json::from_str(&text).expect("JSON");
    let column = &mut plan_step(&mut package, "c_ticket_log_text")["args"];
    column["type"] = json!("currency");
    column["defaultComponent"] = json!("currencyfield");
    let entries = package["payloads"].as_array_mut().expect("a list");
    let mut entries = entries.iter_mut();
    let log = entries.find(|entry| entry["featureRef"] == "f_ticket_log");
    let rows = log.expect("an entry")["rows"].as_array_mut();
    for (number, row) in rows.expect("a list").iter_mut().enumerate() {
        row["data"]["text"] = if number == 0 {
            json!(10.01)
        } else {
            Value::Null
        };
    }
    let post = plan_step(&mut package, "w_post_to_channel");
    let config = &mut post["args"]["graphConfig"]["steps"][1]["config"];
    config["mode"] = json!("update");
    config["matchColumn"] = json!("$c_ticket_log_text");
    config["bindings"] = json!([
        {"targetColumn": "$c_ticket_log_kind", "value": "reminder"},
        {"targetColumn": "$c_ticket_log_text", "value": 10.005},
    ]);
    place.write("p.json", &package.to_string());
    let desk = fs::read_to_string(example("tests/service-desk/reports.toml")).expect("a test");
    let given = desk.split("[expect]").next().expect("a beginning");
    let fire = "[[fire]]\nautomation = \"w_post_to_channel\"\nbody = { number = 2041 }\n\
        [fire.outputs.stp_zyHJzcEG25PR]\ncount = 1\n";
    place.write("desk/amount.toml", &format!("{given}{fire}"));
    let document = place.both(&["p.json", "--tests", "desk"], 0);
    assert_eq!(document["tests"][0]["passed"], true, "{document:#}");
}

#[test]
fn an_upgrade_is_tested_on_the_store() {
    let place = Place::with_server();
    let old = fs::read_to_string(root().join("tests/fixtures/cases/valid/base-tiny.json"));
    let old = old.expect("a package");
    place.write("old.json", &old);
    let mut package: Value = serde_json::from_str(&old).expect("JSON");
    let steps = package["manifest"]["plan"]["steps"]
        .as_array_mut()
        .expect("steps");
    let table = steps
        .iter_mut()
        .find(|step| step["tool"] == "create_feature");
    table.expect("a table")["args"]["label"] = "Another".into();
    place.write("p.json", &package.to_string());
    place.write(
        "tests/one.toml",
        "[given]\nbase = \"../old.json\"\n[expect]\ncreated = 0\nstructure_updated = { feature = 1 }\n",
    );
    place.both(&["p.json"], 0);
    place.write(
        "tests/one.toml",
        "[given]\nbase = \"../old.json\"\n[expect]\ncreated = 1\nstructure_updated = 2\n",
    );
    let document = place.both(&["p.json"], 1);
    assert_eq!(
        document["tests"][0]["failures"],
        json!([
            {"path": "expect.created", "expected": 1, "found": 0},
            {"path": "expect.structure_updated", "expected": 2, "found": 1},
        ])
    );
}

#[test]
fn without_the_server_there_is_a_way_out() {
    let place = Place::new();
    let package = example("inventory.json");
    let tests = example("tests/inventory");
    let words = [&*package, "--tests", &tests, "--server"];
    let message = |document: &Value| {
        document["errors"][0]["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let missing = place.run(&words, 2);
    let bin = place.path("bin").canonicalize().expect("a folder");
    assert!(
        message(&missing).contains(&*bin.to_string_lossy()),
        "{missing}"
    );
    assert!(message(&missing).contains("PATH"), "{missing}");
    let help = missing["errors"][0]["help"].as_str().unwrap_or_default();
    assert!(help.contains("install"), "{missing}");
    // In PATH it is found, too.
    symlink(SERVER, place.path("path/tplkit-server")).expect("links");
    place.run(&words, 0);
    // What lies next to it comes first, and another version is refused.
    place.write("bin/tplkit-server", "#!/bin/sh\necho tplkit-server 0.0.9\n");
    executable(&place.path("bin/tplkit-server"));
    let other = place.run(&words, 2);
    assert!(message(&other).contains("0.0.9"), "{other}");
}

fn executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("sets");
}

#[test]
fn a_server_that_is_stopped_leaves_nothing() {
    let place = Place::new();
    // Writes down what the command line gives to the server.
    let program = format!(
        "#!/bin/sh\n[ \"$1\" = test ] && /bin/cat > suite.json && exit 1\nexec {SERVER} \"$@\"\n"
    );
    place.write("bin/tplkit-server", &program);
    executable(&place.path("bin/tplkit-server"));
    let tests = example("tests/service-desk");
    place.run(
        &[&example("service-desk.json"), "--tests", &tests, "--server"],
        2,
    );
    let suite = fs::read_to_string(place.path("suite.json")).expect("a suite");
    for signal in ["-TERM", "-INT"] {
        let mut child = Command::new(SERVER)
            .arg("test")
            .env("TMPDIR", place.path("tmp"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(suite.as_bytes()).expect("writes");
        drop(stdin);
        while place.is_clean() {
            assert!(
                child.try_wait().expect("waits").is_none(),
                "it is over already"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.expect("kills").success());
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(130), "{:?}", texts(&output));
        assert!(place.is_clean(), "{signal}");
    }
}

#[test]
fn what_is_no_suite_is_refused() {
    for (input, code) in [("", 2), ("{}", 2), ("[]", 2), ("{\"schemaVersion\":1", 2)] {
        let mut child = Command::new(SERVER)
            .arg("test")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("writes");
        drop(stdin);
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(code), "{:?}", texts(&output));
        assert!(output.stdout.is_empty());
    }
}
