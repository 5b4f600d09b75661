//! Every exit code, and what happens around the edges of a process.

use std::io::Read as _;
use std::process::Stdio;

use crate::support::{Place, faulty, tiny, unread};

#[test]
fn usage_errors_exit_2() {
    let place = Place::with(&[("p.json", &tiny())]);
    for words in [
        &["check"][..],
        &["check", "p.json", "--nope"],
        &["chek", "p.json"],
        &[],
        &["check", "p.json", "--format", "yaml"],
        &["check", "p.json", "-j", "0"],
        &["check", "p.json", "--write-baseline"],
        &["check", "p.json", "-q", "-v"],
        &["check", "-", "--watch"],
        &["explain", "R999"],
        &["explain"],
        &["man", "nope"],
    ] {
        let ran = place.run(words).exits(2);
        assert_eq!(ran.out, "", "{words:?}");
        assert_ne!(ran.err, "", "{words:?}");
    }
}

#[test]
fn help_and_version_are_results() {
    let place = Place::new();
    for words in [
        &["--help"][..],
        &["-h"],
        &["--version"],
        &["help"],
        &["check", "--help"],
        &["help", "check"],
    ] {
        let ran = place.run(words).exits(0);
        assert_ne!(ran.out, "", "{words:?}");
        assert_eq!(ran.err, "", "{words:?}");
    }
}

/// The second time standard input is empty, which is no decision, no row and no accepted finding.
#[test]
fn standard_input_is_read_for_one_thing() {
    let place = Place::new();
    let automation = |trigger: &str| {
        format!(
            r#"{{"trigger_config": {{"type": "{trigger}"}}, "graph_config": {{"steps": [{{"key": "email.send", "config": {{"to": "a@example.org", "subject": "S", "body": "Hello"}}}}]}}}}"#
        )
    };
    let row = &["automation", "run", "-", "--stub", "--row", "-"][..];
    for (words, text) in [
        (&["resolve", "check", "-", "-"][..], tiny()),
        (&["simulate", "-", "--resolutions", "-"][..], tiny()),
        (&["simulate", "-", "--into", "-"][..], tiny()),
        (&["simulate", "-", "--upgrade", "--base", "-"][..], tiny()),
        (&["check", "-", "--baseline", "-"][..], tiny()),
        (row, automation("manual")),
    ] {
        let ran = place.feed(words, text.as_bytes()).exits(2);
        let one = "standard input can be read for one thing only";
        assert!(ran.err.contains(one), "{words:?}\n{}", ran.err);
        let help = "name a file for the other";
        assert!(ran.err.contains(help), "{words:?}\n{}", ran.err);
    }
    // Named twice for one thing, it is one file; what is wrong with it is said of the one text.
    let twice = ["check", "-", "-"];
    place.feed(&twice, tiny().as_bytes()).exits(0);
    let words = ["automation", "run", "-", "--stub"];
    let ran = place.feed(&words, automation("manaul").as_bytes()).exits(1);
    assert!(ran.out.contains("manaul"), "{}", ran.out);
}

/// A pipe gets colours from `--color always` alone.
#[test]
fn an_environment_that_forces_colours_colours_no_pipe() {
    let place = Place::with(&[("p.json", &faulty())]);
    for words in [&["check", "p.json"][..], &["--help"], &["chek"], &["fmt"]] {
        let mut command = place.command(words);
        let output = command.env("CLICOLOR_FORCE", "1").output().expect("runs");
        let coloured = [output.stdout, output.stderr].concat().contains(&0x1b);
        assert!(!coloured, "{words:?}");
    }
    let coloured = place.run(&["check", "p.json", "--color", "always"]);
    assert!(coloured.out.contains('\u{1b}'), "{}", coloured.out);
}

#[test]
fn a_missing_file_does_not_hide_the_others() {
    let place = Place::with(&[("p.json", &faulty())]);
    let ran = place.run(&["check", "gone.json", "p.json"]).exits(2);
    assert!(ran.out.contains("M001"), "{}", ran.out);
    assert!(ran.err.contains("cannot read `gone.json`"), "{}", ran.err);
    let document = place
        .run(&["check", "gone.json", "p.json", "--format", "json"])
        .exits(2)
        .json();
    assert_eq!(document["outcome"], "failed");
    assert_eq!(document["files"][0]["path"], "p.json");
    assert_eq!(document["errors"][0]["path"], "gone.json");
}

#[test]
fn nothing_is_said_of_packages_when_nothing_could_be_read() {
    let place = Place::with(&[("p.json", &tiny()), ("d/plain.json", "[]")]);
    for words in [
        &["check", "gone.json"][..],
        &["check", "gone.json", "d"],
        &["promote", "gone.json"],
    ] {
        let ran = place.run(words).exits(2);
        assert_eq!(ran.out, "", "{words:?}");
        assert!(ran.err.starts_with("error: cannot read `gone.json`"));
    }
    let ran = place.run(&["check", "gone.json", "p.json"]).exits(2);
    assert_eq!(ran.out, "No findings in 1 package.\n");
}

#[test]
fn what_a_repeated_key_hides_is_promoted_by_nobody() {
    let members = r#""x": "organization_id", "x": "ok""#;
    let text = format!(r#"{{"templateVersion": 2, "plan": {{}}, {members}, "items": []}}"#);
    let place = Place::with(&[("p.json", &text)]);
    let ran = place.run(&["promote", "p.json"]).exits(1);
    assert!(ran.out.contains("P002"), "{}", ran.out);
    let twice = r#""name": "vendas", "description": "organization_id", "description": "ok","#;
    place.write("q.json", &tiny().replacen(r#""name": "vendas","#, twice, 1));
    let words = ["check", "q.json", "--promotion", "system"];
    place
        .run(&[&words[..], &["--ignore", "J002"]].concat())
        .exits(1);
}

#[test]
fn configuration_errors_exit_2() {
    let place = Place::with(&[("p.json", &tiny()), ("bad.json", "{}")]);
    place
        .run(&["check", "p.json", "--definitions", "gone.json"])
        .exits(2);
    place
        .run(&["check", "p.json", "--definitions", "bad.json"])
        .exits(2);
    place
        .run(&["check", "p.json", "--baseline", "gone.json"])
        .exits(2);
    place
        .run(&["check", "p.json", "--baseline", "bad.json"])
        .exits(2);
    place
        .run(&["check", "p.json", "-o", "gone/report.txt"])
        .exits(2);
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_does_not_hide_the_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::with(&[("a.json", &tiny()), ("b.json", &faulty())]);
    let locked = place.path("a.json");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).expect("permissions");
    if std::fs::read(&locked).is_ok() {
        return; // Root reads everything.
    }
    let ran = place.run(&["check", "."]).exits(2);
    assert!(
        ran.out.contains("M001") && ran.err.contains("Permission denied"),
        "{ran:?}"
    );
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let place = Place::with(&[("p.json", &faulty())]);
    let mut child = place
        .command(&["rules", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    // Closed before a byte was read.
    drop(child.stdout.take());
    let mut err = String::new();
    child
        .stderr
        .take()
        .expect("stderr")
        .read_to_string(&mut err)
        .expect("text");
    assert_eq!(
        (child.wait().expect("end").code(), err.as_str()),
        (Some(0), "")
    );
}

/// `tplkit check … | head` in a script that looks at each part of a pipe: what was found is no less true.
#[test]
fn a_reader_that_leaves_hides_no_outcome() {
    let place = Place::with(&[
        ("p.json", &faulty()),
        ("q.json", &tiny()),
        ("r.json", &tiny().replace("Vendas", "Outras")),
        ("broken.json", "{"),
    ]);
    for (words, code) in [
        (&["check", "q.json"][..], 0),
        (&["check", "p.json"], 1),
        (&["check", "p.json", "--format", "json"], 1),
        (&["check", "p.json", "--watch"], 1),
        (&["promote", "broken.json"], 1),
        (&["fmt", "--check", "p.json", "q.json"], 1),
        (&["diff", "q.json", "r.json"], 0),
        (&["diff", "q.json", "r.json", "--exit-code"], 1),
        (&["why", "q.json", "f_nothing"], 1),
    ] {
        let ran = unread(place.command(words)).exits(code);
        let failed = ran.err.contains("standard output");
        assert!(!failed, "{words:?}: {}", ran.err);
    }
}

#[test]
fn nothing_asks_and_nothing_waits_without_a_terminal() {
    let place = Place::with(&[("p.json", &tiny())]);
    for words in [
        &["check", "p.json"][..],
        &["show", "p.json"],
        &["rules"],
        &["new", "x"],
    ] {
        place.run(words).exits(0);
    }
}

#[cfg(unix)]
#[test]
fn the_disk_being_full_is_reported() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        return;
    };
    let place = Place::with(&[("p.json", &tiny())]);
    for words in [
        &["check", "p.json"][..],
        &["--help"],
        &["-h"],
        &["help"],
        &["--version"],
        &["--help", "--format", "json"],
        &["check", "--help"],
    ] {
        let full = full.try_clone().expect("another handle");
        let output = place.command(words).stdout(full).output().expect("run");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("cannot write to standard output"),
            "{words:?}: {said}"
        );
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_exits_130() {
    let place = Place::with(&[("p.json", &tiny())]);
    let mut child = place
        .command(&["check", "--watch", "p.json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    let mut first = [0u8; 1];
    child
        .stdout
        .as_mut()
        .expect("stdout")
        .read_exact(&mut first)
        .expect("output");
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill").success());
    assert_eq!(child.wait().expect("end").code(), Some(130));
}
