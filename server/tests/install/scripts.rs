//! The shell of the action, and what GitHub runs, as linters see them.

use std::process::Command;

use serde_json::Value;

use super::{root, text, tool, yaml};

/// Scripts that are run by people and by CI.
fn shell_scripts() -> Vec<String> {
    let folder = root().join("scripts/action");
    let entries = std::fs::read_dir(folder).expect("reads").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.map(|name| format!("scripts/action/{name}")).collect()
}

fn passes(program: &str, arguments: &[&str], files: &[String]) {
    let Some(program) = tool(program) else {
        return;
    };
    let output = Command::new(program)
        .args(arguments)
        .args(files)
        .current_dir(root())
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
fn the_shell_of_the_action_is_clean() {
    let scripts = shell_scripts();
    assert!(scripts.len() >= 4, "{scripts:?}");
    passes("shellcheck", &[], &scripts);
}

#[test]
fn nothing_that_github_runs_can_be_injected_into() {
    let files = ["action.yml", ".github/workflows/release.yml"].map(str::to_owned);
    passes("zizmor", &["--offline", "--quiet", "--no-progress"], &files);
}

/// Every step of an action or a workflow.
fn steps(document: &Value) -> Vec<&Value> {
    let jobs = document["jobs"].as_object().into_iter().flatten();
    let mut lists: Vec<&Value> = jobs.map(|(_, job)| &job["steps"]).collect();
    lists.push(&document["runs"]["steps"]);
    lists
        .into_iter()
        .filter_map(Value::as_array)
        .flatten()
        .collect()
}

#[test]
fn steps_name_their_shell_and_what_they_use_by_commit() {
    for name in ["action.yml", ".github/workflows/release.yml"] {
        let Some(document) = yaml(&text(name)) else {
            return;
        };
        let steps = steps(&document);
        assert!(steps.len() > 5, "{name}");
        for step in steps {
            if let Some(run) = step["run"].as_str() {
                assert!(!run.contains("${{"), "{name}: {run}");
                assert!(
                    name != "action.yml" || step["shell"] == "bash",
                    "{name}: {step}"
                );
            } else {
                let used = step["uses"]
                    .as_str()
                    .expect("a step runs or uses something");
                let (_, commit) = used.split_once('@').expect("a version");
                let is_commit =
                    commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
                assert!(is_commit, "{name}: {used}");
            }
        }
    }
}

#[test]
fn the_scripts_that_the_action_names_can_be_run() {
    use std::os::unix::fs::PermissionsExt as _;

    let action = text("action.yml");
    let named: Vec<&str> = action
        .split("$GITHUB_ACTION_PATH/")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(named.len(), 4, "{named:?}");
    for name in named {
        let mode = std::fs::metadata(root().join(name))
            .expect("is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o111, 0o111, "{name}");
    }
}
