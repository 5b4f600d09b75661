//! What cannot be taken back is asked about on a terminal, once it was shown: a yes does it, and nothing else.

use serde_json::json;

use super::TestEnv;
use super::routes::{JOB, TEMPLATE, catalog, job, job_document, record};
use crate::scripted::{Response, Scripted};
use crate::terminal::Terminal;

/// A command that takes something away.
struct Command {
    words: String,
    /// What it shows before it asks.
    shows: &'static str,
    asks: &'static str,
    /// The request that does it.
    does: String,
    server: fn(&str) -> Scripted,
}

fn commands() -> [Command; 3] {
    [
        Command {
            words: format!("job undo {JOB}"),
            shows: "3 rows of table f_clients",
            asks: "Remove it?",
            does: format!("POST /v1/template-jobs/{JOB}/undo"),
            server: |does| {
                catalog([job("completed")])
                    .on(does, [job("undone")])
                    .serve()
            },
        },
        Command {
            words: format!("job cancel {JOB}"),
            shows: "1 of 3 done",
            asks: "Cancel it?",
            does: format!("POST /v1/template-jobs/{JOB}/cancel"),
            server: |does| catalog([job("rows")]).on(does, [job("failed")]).serve(),
        },
        Command {
            words: format!("template delete {TEMPLATE}"),
            shows: "goes out of the catalog",
            asks: "Delete it from the catalog?",
            does: format!("DELETE /v1/templates/{TEMPLATE}"),
            server: |does| {
                let read = format!("GET /v1/templates/{TEMPLATE}");
                let routes = catalog([]).on(&read, [Response::json(&record(TEMPLATE, "sales"))]);
                routes.on(does, [Response::text(204, "")]).serve()
            },
        },
    ]
}

#[test]
fn nothing_goes_without_a_yes() {
    for command in commands() {
        for (key, code, goes) in [
            ("y\r", 0, true),
            ("YES\n", 0, true),
            ("n\r", 130, false),
            ("\r", 130, false),
            ("\u{3}", 130, false),
            // What is meant for the shell, with letters of a yes in it.
            ("tplkit apply crm.json\r", 130, false),
            ("maybe\r", 130, false),
        ] {
            let server = (command.server)(&command.does);
            let env = TestEnv::with_key(&server.url);
            let Some(mut terminal) = Terminal::around(&env.command(&[]), &command.words) else {
                return;
            };
            terminal.shows(command.shows);
            terminal.shows(command.asks);
            assert!(!server.lines().contains(&command.does), "{}", command.words);
            terminal.press(key);
            let (ended, shown) = terminal.ends();
            assert_eq!(ended, Some(code), "{} {key:?} {shown}", command.words);
            assert_eq!(
                server.lines().contains(&command.does),
                goes,
                "{}",
                command.words
            );
        }
    }
}

/// Scripts that drive a terminal may respond before they are asked.
#[test]
fn what_is_typed_ahead_is_the_response() {
    for command in commands() {
        for (line, code) in [("y\n", 0), ("tplkit apply crm.json\n", 130)] {
            let server = (command.server)(&command.does);
            let env = TestEnv::with_key(&server.url);
            let Some(mut terminal) = Terminal::around(&env.command(&[]), &command.words) else {
                return;
            };
            terminal.press(line);
            let (ended, shown) = terminal.ends();
            assert_eq!(ended, Some(code), "{} {line:?} {shown}", command.words);
            let done = server.lines().contains(&command.does);
            assert_eq!(done, code == 0, "{} {line:?}", command.words);
        }
    }
}

#[test]
fn a_yes_on_the_command_line_is_not_asked_again() {
    for command in commands() {
        let server = (command.server)(&command.does);
        let env = TestEnv::with_key(&server.url);
        let words = format!("{} --yes", command.words);
        let Some(terminal) = Terminal::around(&env.command(&[]), &words) else {
            return;
        };
        let (code, shown) = terminal.ends();
        assert_eq!(code, Some(0), "{words} {shown}");
        assert!(!shown.contains(command.asks), "{words} {shown}");
    }
}

/// Documents are read by programs, which nobody can ask.
#[test]
fn a_document_is_no_question() {
    for command in commands() {
        let server = (command.server)(&command.does);
        let env = TestEnv::with_key(&server.url);
        let words = format!("{} --format json", command.words);
        let Some(terminal) = Terminal::around(&env.command(&[]), &words) else {
            return;
        };
        let (code, shown) = terminal.ends();
        assert_eq!(code, Some(2), "{words} {shown}");
        assert!(
            shown.contains("`--format json` does not prompt"),
            "{words} {shown}"
        );
        assert!(!shown.contains(command.asks), "{words} {shown}");
        assert!(!server.lines().contains(&command.does), "{words}");
    }
}

/// How far a job is, drawn over again: its words are those of a server.
#[test]
fn progress_from_a_server_prints_no_control_characters() {
    let phase = "ro\u{9b}31m\u{202e}\u{1b}]0;pwned\u{7}ws";
    let running = json!({"progress": {"phase": phase, "done": 1, "total": 3}});
    let running = Response::json(&job_document("rows", &running));
    let server = catalog([running.clone(), running, job("completed")]).serve();
    let env = TestEnv::with_key(&server.url);
    let words = format!("job watch {JOB}");
    let Some(mut terminal) = Terminal::around(&env.command(&[]), &words) else {
        return;
    };
    terminal.shows("ro\u{fffd}31m\u{fffd}\u{241b}]0;pwned\u{2407}ws");
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    for steers in ['\u{9b}', '\u{202e}', '\u{7}'] {
        assert!(!shown.contains(steers), "{shown:?}");
    }
    assert!(!shown.contains("\u{1b}]"), "{shown:?}");
}
