//! Somebody saves a package while a command that rewrites it is at work: nothing of that is lost.
//!
//! The command is stopped once it has read the file, and goes on when another version is saved. No verdict depends on
//! how fast anything is: a run that was stopped too early or too late proves nothing, and another one is begun.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Place, Ran, fixable};

/// Enough rows for a run to be between reading and writing for a while.
const ROWS: usize = 40_000;

/// How many runs may prove nothing.
const ATTEMPTS: usize = 50;

const SAVED: &str = "{\"saved\": \"meanwhile\"}\n";

/// A package with something to fix and something to format, and many rows.
fn large() -> String {
    let mut package: Value = serde_json::from_str(&fixable()).expect("JSON");
    let row = |number: usize| {
        json!({
            "uid": format!("u_{number:08x}-0000-4000-8000-000000000000"),
            "data": {"title": format!("row {number}"), "n": number},
        })
    };
    package["payloads"][0]["rows"] = (0..ROWS).map(row).collect();
    for counted in ["/payloads/0/count", "/manifest/items/4/count"] {
        *package.pointer_mut(counted).expect("a count") = ROWS.into();
    }
    package.to_string()
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([name, &id]).status();
    assert!(sent.expect("kill").success());
}

/// How many bytes a process has read.
fn bytes_read(child: &Child) -> Option<usize> {
    let io = fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: "))?;
    line.parse().ok()
}

/// Whether every thread of a process is stopped.
fn is_stopped(child: &Child) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", child.id())) else {
        return false;
    };
    let mut states = threads.map(|thread| {
        let stat = thread.and_then(|thread| fs::read_to_string(thread.path().join("stat")));
        // The name of the program stands in parentheses before the state.
        stat.is_ok_and(|stat| {
            stat.rsplit(')')
                .next()
                .is_some_and(|rest| rest.starts_with(" T"))
        })
    });
    states.all(|stopped| stopped)
}

/// Whether a process has the package open.
fn is_reading(child: &Child) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", child.id())) else {
        return true;
    };
    let mut open = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    open.any(|path| path.ends_with("p.json"))
}

/// Whether something lies next to the package, to take its place.
fn is_writing(place: &Place) -> bool {
    let mut names = fs::read_dir(place.dir.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name());
    names.any(|name| name.to_string_lossy().starts_with(".tplkit-"))
}

/// Stops a process when it has read so many bytes; false when it ended before.
fn stop_when_read(child: &mut Child, bytes: usize) -> bool {
    let pause = || std::thread::sleep(Duration::from_micros(200));
    while bytes_read(child).is_none_or(|read| read < bytes) {
        if child.try_wait().expect("a status").is_some() {
            return false;
        }
        pause();
    }
    if child.try_wait().expect("a status").is_some() {
        return false;
    }
    signal(child, "-STOP");
    while !is_stopped(child) {
        if child.try_wait().expect("a status").is_some() {
            return false;
        }
        pause();
    }
    true
}

/// Runs a command, and saves another version of the package after the command has read it and before it writes.
fn run_while_saved(place: &Place, words: &[&str], text: &str) -> Ran {
    for _ in 0..ATTEMPTS {
        place.write("p.json", text);
        let mut command = place.command(words);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("start");
        let stopped = stop_when_read(&mut child, text.len());
        let between =
            stopped && !is_reading(&child) && !is_writing(place) && place.read("p.json") == text;
        if between {
            place.write("p.json", SAVED);
        }
        if stopped {
            signal(&child, "-CONT");
        }
        let ran = Ran::from(child.wait_with_output().expect("an end"));
        if between {
            return ran;
        }
    }
    panic!("{words:?} was never stopped between reading and writing");
}

#[test]
fn what_is_saved_while_a_package_is_rewritten_stays() {
    let text = large();
    let place = Place::new();
    for words in [&["check", "--fix", "p.json"][..], &["fmt", "p.json"]] {
        let ran = run_while_saved(&place, words, &text).exits(2);
        assert_eq!(place.read("p.json"), SAVED, "{words:?}");
        assert!(!is_writing(&place), "{words:?}");
        let error = "error: `p.json` was changed after it was read: nothing was written to it";
        assert!(ran.err.contains(error), "{words:?}: {}", ran.err);
        // Without anybody else the same command writes.
        place.write("p.json", &text);
        place.run(words);
        assert_ne!(place.read("p.json"), text, "{words:?}");
    }
}
