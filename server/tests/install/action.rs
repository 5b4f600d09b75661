//! The steps of `action.yml`, with the real programs and a stand-in for GitHub's API: the scripts get the
//! environment that the runner gives them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::forge::{Forge, REPOSITORY, TOKEN};
use super::root;
use crate::kill::{Wire, signed_in};
use crate::process::{Serving, database, owner, variable};
use crate::sessions::built_programs;

const HEAD: &str = "1111111111111111111111111111111111111111";
const MERGE: &str = "2222222222222222222222222222222222222222";

/// What a step left behind.
struct Ran {
    code: Option<i32>,
    out: String,
    outputs: String,
    summary: String,
}

/// A checkout and a runner.
struct Runner {
    folder: TempDir,
    forge: Forge,
    event: Value,
    url: String,
    key: String,
}

impl Runner {
    fn new(url: &str, key: &str) -> Runner {
        let runner = Runner {
            folder: tempfile::tempdir().expect("a folder"),
            forge: Forge::start(),
            event: json!({"pull_request": {"number": 7, "head": {"sha": HEAD}}}),
            url: url.to_owned(),
            key: key.to_owned(),
        };
        for name in ["checkout", "temp"] {
            fs::create_dir(runner.folder.path().join(name)).expect("a folder");
        }
        runner
    }

    fn checkout(&self) -> PathBuf {
        self.folder.path().join("checkout")
    }

    fn example(&self, name: &str) {
        let to = self.checkout().join(name);
        fs::copy(root().join("examples").join(name), to).expect("copies");
    }

    /// Runs the script of a step with these inputs.
    fn step(&self, script: &str, inputs: &[(&str, &str)]) -> Ran {
        let file = |name: &str| self.folder.path().join(name);
        for name in ["outputs", "summary"] {
            fs::write(file(name), "").expect("writes");
        }
        fs::write(file("event.json"), self.event.to_string()).expect("writes");
        let programs = built_programs(&root());
        let path = variable("PATH").unwrap_or_default();
        let output = Command::new("bash")
            .arg(root().join("scripts/action").join(script))
            .current_dir(self.checkout())
            .env_clear()
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", self.folder.path())
            .env("TPLKIT_URL", &self.url)
            .env("TPLKIT_TOKEN", &self.key)
            .env("GITHUB_API_URL", &self.forge.url)
            .env("GITHUB_TOKEN", TOKEN)
            .env("GITHUB_REPOSITORY", REPOSITORY)
            .env("GITHUB_SHA", MERGE)
            .env("GITHUB_EVENT_PATH", file("event.json"))
            .env("GITHUB_WORKSPACE", self.checkout())
            .env("GITHUB_OUTPUT", file("outputs"))
            .env("GITHUB_STEP_SUMMARY", file("summary"))
            .env("RUNNER_TEMP", file("temp"))
            .envs(inputs.iter().copied())
            .output()
            .expect("bash");
        let read = |name: &str| fs::read_to_string(file(name)).expect("reads");
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr),
            outputs: read("outputs"),
            summary: read("summary"),
        }
    }

    /// The saved plan, as `actions/upload-artifact` packs it.
    fn packed(&self) -> Vec<u8> {
        let zip = self.folder.path().join("plan.zip");
        let made = Command::new("python3")
            .args(["-m", "zipfile", "-c"])
            .arg(&zip)
            .arg(self.folder.path().join("temp/tplkit-plan/plan.json"))
            .status();
        assert!(made.expect("python3").success());
        fs::read(zip).expect("reads")
    }
}

/// Whether everything that the scripts call is there.
#[expect(clippy::print_stderr, reason = "says what is not tested")]
fn tools_are_there() -> bool {
    let missing = ["bash", "curl", "jq", "python3"]
        .into_iter()
        .find(|tool| Command::new(tool).arg("--version").output().is_err());
    if let Some(tool) = missing {
        eprintln!("SKIPPED: there is no {tool}");
    }
    missing.is_none()
}

/// A server with an empty workspace, and the key of an administrator.
fn server(folder: &Path) -> (Serving, Wire, String, String) {
    let database = database(folder);
    let organization = owner(&database);
    let serving = Serving::start(&database);
    let mut person = signed_in(&serving);
    let workspace = json!({"organization_id": organization, "label": "Production"});
    let workspace = person.made("/v1/workspaces", &workspace);
    let key = json!({"organization_id": organization, "name": "CI", "scopes": ["read", "write", "structure"]});
    let (_, key) = person
        .ask("POST", "/v1/api-keys", Some(&key))
        .expect("a response");
    let key = key["key"]
        .as_str()
        .unwrap_or_else(|| panic!("{key}"))
        .to_owned();
    (serving, person, workspace, key)
}

#[test]
fn a_check_annotates_reports_and_fails() {
    if !tools_are_there() {
        return;
    }
    let runner = Runner::new("http://127.0.0.1:9", "none");
    runner.example("crm.json");
    let clean = runner.step("check.sh", &[("INPUT_PATHS", ""), ("INPUT_SARIF", "true")]);
    assert_eq!(clean.code, Some(0), "{}", clean.out);
    runner.example("broken-invoices.json");
    let paths = ("INPUT_PATHS", "crm.json broken-invoices.json");
    let ran = runner.step("check.sh", &[paths, ("INPUT_ARGS", "--select S006")]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let annotation = "::error file=broken-invoices.json,line=516,";
    assert!(ran.out.contains(annotation), "{}", ran.out);
    assert!(ran.summary.contains("S006"), "{}", ran.summary);
    let sarif = ran
        .outputs
        .trim()
        .strip_prefix("sarif=")
        .expect("an output");
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(sarif).expect("reads")).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "S006");
    let lines = ("INPUT_PATHS", "\n  broken-invoices.json\n  crm.json\n");
    let ran = runner.step("check.sh", &[lines, ("INPUT_SARIF", "false")]);
    assert_eq!(
        (ran.code, ran.outputs.as_str()),
        (Some(1), ""),
        "{}",
        ran.out
    );
    // Words are never run.
    let ran = runner.step(
        "check.sh",
        &[("INPUT_PATHS", "$(touch%20made) `touch made` crm.json")],
    );
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(!runner.checkout().join("made").exists());
}

#[test]
fn a_version_is_needed_where_no_program_is() {
    let runner = Runner::new("http://127.0.0.1:9", "none");
    let here = runner.step("install.sh", &[("INPUT_VERSION", "")]);
    assert_eq!(here.code, Some(0), "{}", here.out);
    let nowhere = runner.step(
        "install.sh",
        &[("INPUT_VERSION", ""), ("PATH", "/usr/bin:/bin")],
    );
    assert_eq!(nowhere.code, Some(2), "{}", nowhere.out);
    assert!(nowhere.out.contains("::error"), "{}", nowhere.out);
}

#[test]
fn the_plan_of_a_pull_request_is_applied_on_its_merge_or_nothing_is() {
    if !tools_are_there() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (serving, mut person, workspace, key) = server(folder.path());
    let url = format!("http://{}", serving.address);
    let mut runner = Runner::new(&url, &key);
    runner.example("reading-list.json");
    let target = format!(
        "[targets.production]\nworkspace = \"{workspace}\"\ntemplate = \"reading-list.json\"\n"
    );
    fs::write(runner.checkout().join("tplkit.toml"), target).expect("writes");
    let inputs = [("INPUT_TARGET", "production"), ("INPUT_COMMENT", "true")];
    let marker = "<!-- tplkit plan production -->";

    // Somebody's comment is not ours, whatever it says.
    let theirs = json!({"id": 1, "body": format!("{marker}\nhello"), "user": {"type": "User"}});
    runner
        .forge
        .state
        .lock()
        .expect("whole")
        .comments
        .push(theirs.clone());
    for _ in 0..2 {
        let planned = runner.step("plan.sh", &inputs);
        assert_eq!(planned.code, Some(0), "{}", planned.out);
        assert!(
            planned
                .outputs
                .contains(&format!("artifact=tplkit-plan-{HEAD}\n")),
            "{}",
            planned.outputs
        );
        assert!(planned.outputs.contains("plan=/"), "{}", planned.outputs);
        assert!(planned.summary.contains("Create"), "{}", planned.summary);
    }
    let comments = runner.forge.comments();
    assert_eq!((comments.len(), &comments[0]), (2, &theirs), "{comments:?}");
    let body = comments[1]["body"].as_str().expect("a text");
    assert!(
        body.starts_with(marker) && body.contains("Create") && body.contains(HEAD),
        "{body}"
    );

    // The merge runs in another checkout, and the event is a push.
    let plan = runner.packed();
    runner.event = json!({"ref": "refs/heads/main"});
    let moved = runner.folder.path().join("elsewhere");
    fs::rename(runner.checkout(), &moved).expect("renames");
    fs::create_dir(runner.checkout()).expect("a folder");
    let ran = runner.step("apply.sh", &inputs);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.contains("::notice"), "{}", ran.out);
    let pull = |number: u32, merge: &str| json!({"number": number, "merged_at": "2026-01-01T00:00:00Z", "merge_commit_sha": merge, "head": {"sha": HEAD}});
    runner.forge.state.lock().expect("whole").pulls = json!([pull(6, HEAD), pull(7, MERGE)]);
    let ran = runner.step("apply.sh", &inputs);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("has no saved plan"), "{}", ran.out);
    let name = format!("tplkit-plan-{HEAD}");
    runner.forge.keep(&name, 2, b"what a fork made".to_vec());
    let ran = runner.step("apply.sh", &inputs);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let features = |person: &mut Wire| {
        let path = format!("/v1/features?workspace_id={workspace}");
        let (_, listed) = person.ask("GET", &path, None).expect("a response");
        listed["items"].as_array().expect("a list").len()
    };
    assert_eq!(features(&mut person), 0);

    runner.forge.keep(&name, 1, plan);
    fs::remove_dir(runner.checkout()).expect("removes");
    fs::rename(&moved, runner.checkout()).expect("renames");
    let ran = runner.step("apply.sh", &inputs);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    let made = features(&mut person);
    assert!(made > 0);
    let left: Vec<_> = fs::read_dir(runner.checkout())
        .expect("reads")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");

    // Once more: the destination is not as it was planned for.
    let ran = runner.step("apply.sh", &inputs);
    assert_eq!(ran.code, Some(6), "{}", ran.out);
    assert_eq!(features(&mut person), made);
    let comments = runner.forge.comments();
    let body = comments[2]["body"].as_str().expect("a text");
    assert!(
        body.starts_with("<!-- tplkit apply production -->"),
        "{body}"
    );
    assert!(body.contains("Not applied"), "{body}");
    assert!(!format!("{comments:?}").contains(&key));
}

#[test]
fn a_plan_that_cannot_be_made_says_why_in_the_comment() {
    if !tools_are_there() {
        return;
    }
    let runner = Runner::new("http://127.0.0.1:9", "none");
    runner.example("reading-list.json");
    let workspace = "--workspace 00000000-0000-4000-8000-000000000001";
    let ran = runner.step(
        "plan.sh",
        &[("INPUT_PATHS", "missing.json"), ("INPUT_ARGS", workspace)],
    );
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    let comments = runner.forge.comments();
    let body = comments[0]["body"].as_str().expect("a text");
    assert!(
        body.contains("There is no plan") && body.contains("missing.json"),
        "{body}"
    );
    assert!(!ran.outputs.contains("plan="), "{}", ran.outputs);
}
