//! The command as a person meets it.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tplkit-server"))
        .args(arguments)
        .output()
        .expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn version_is_the_version_of_the_health_document() {
    let output = run(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    let version = tplkit_server::health().version;
    assert_eq!(stdout(&output), format!("tplkit-server {version}\n"));
}

#[test]
fn help_promises_no_command_that_does_not_work() {
    let output = run(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = stdout(&output);
    assert!(help.contains("--version"), "{help}");
    assert!(!help.contains("Commands:"), "{help}");
}

#[test]
fn anything_else_is_a_usage_error() {
    for arguments in [&[][..], &["serve"], &["--listen", "127.0.0.1:0"]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}
