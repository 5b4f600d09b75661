//! `tplkit plan` and `tplkit apply` as an operator sees them on a terminal; and that nobody is asked
//! anything where only a part of one is there.

use serde_json::{Value, json};

use super::TestEnv;
use super::applying::bodies;
use super::routes::{JOB, TEMPLATE, WORKSPACE, apply_route, catalog, job, plan, plan_route};
use crate::scripted::{Received, Response, Scripted};
use crate::terminal::Terminal;

const SHOWN: [&str; 3] = ["Create: ", "table \"Clients\" (clients)", "f_clients  "];
const CURSOR: &str = "\u{1b}[?25h";
const NO_CURSOR: &str = "\u{1b}[?25l";

/// The program on a terminal, with a credential for that server.
fn terminal(server: &Scripted, command: &str, more: &str) -> Option<(TestEnv, Terminal)> {
    let env = TestEnv::with_key(&server.url);
    let words = format!("{command} {TEMPLATE} --workspace {WORKSPACE} {more}");
    let terminal = Terminal::around(&env.command(&[]), &words)?;
    Some((env, terminal))
}

/// What was sent to begin a job.
fn begun(server: &Scripted) -> Vec<Value> {
    bodies(server, &apply_route(TEMPLATE))
}

#[test]
fn a_plan_is_shown_and_asks_nothing() {
    let server = catalog([]).serve();
    let Some((_env, terminal)) = terminal(&server, "plan", "") else {
        return;
    };
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    for part in SHOWN {
        assert!(shown.contains(part), "{part} {shown}");
    }
    assert!(!shown.contains('?'), "{shown:?}");
    assert_eq!(begun(&server), Vec::<Value>::new());
}

#[test]
fn the_plan_is_agreed_to_and_the_job_is_watched() {
    let jobs = [job("structure"), job("rows"), job("rows"), job("completed")];
    let server = catalog(jobs).serve();
    let Some((_env, mut terminal)) = terminal(&server, "apply", "") else {
        return;
    };
    for part in SHOWN {
        terminal.shows(part);
    }
    terminal.shows("Apply it?");
    assert_eq!(begun(&server), Vec::<Value>::new(), "nobody has agreed yet");
    terminal.press("y\r");
    terminal.shows(JOB);
    // The line that is drawn over again: the phase, and how far it is.
    terminal.shows("structure");
    terminal.shows("1/3");
    terminal.shows("rows");
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    // The line is gone before the report is shown.
    let report = shown.rsplit("\u{1b}[2K").next().unwrap_or_default();
    assert!(report.contains("completed\r\n"), "{shown:?}");
    assert!(report.contains("f_clients  3 inserted"), "{shown:?}");
    assert!(!report.contains("1/3"), "{shown:?}");
    assert_eq!(
        begun(&server),
        [json!({"workspaceId": WORKSPACE, "plan": "d1"})]
    );
}

#[test]
fn who_does_not_agree_has_begun_nothing() {
    for (key, code) in [("n\r", 130), ("\r", 130), ("\u{3}", 130)] {
        let server = catalog([job("completed")]).serve();
        let Some((_env, mut terminal)) = terminal(&server, "apply", "") else {
            return;
        };
        terminal.shows("Apply it?");
        terminal.press(key);
        let (ended, shown) = terminal.ends();
        assert_eq!(ended, Some(code), "{key:?} {shown}");
        assert!(!shown.contains(NO_CURSOR), "{key:?} {shown:?}");
        assert!(!shown.contains(JOB), "{key:?} {shown}");
        assert_eq!(begun(&server), Vec::<Value>::new(), "{key:?}");
    }
}

#[test]
fn who_stops_waiting_is_reported_the_way_back_and_the_job_goes_on() {
    let server = catalog([job("rows")]).serve();
    let Some((_env, mut terminal)) = terminal(&server, "apply", "--yes") else {
        return;
    };
    terminal.shows(JOB);
    terminal.shows("1/3");
    terminal.press("\u{3}");
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(130), "{shown}");
    let hint = format!("the job goes on: `tplkit job watch {JOB}` waits for its end");
    assert!(shown.contains(&hint), "{shown:?}");
    assert!(shown.contains(CURSOR), "{shown:?}");
    let received = server.received();
    let written = received.iter().filter(|one| one.method != "GET");
    let written: Vec<String> = written.map(Received::line).collect();
    assert_eq!(written, [apply_route(TEMPLATE)], "nothing stops the job");
}

#[test]
fn what_cannot_be_applied_is_shown_and_not_asked_about() {
    let refusals = json!({"refusals": [{"code": "mapping_required", "ref": "f_far",
        "detail": "nothing decides."}]});
    let refused = [Response::json(&plan(&refusals))];
    let server = catalog([]).on(&plan_route(TEMPLATE), refused).serve();
    let Some((_env, terminal)) = terminal(&server, "apply", "") else {
        return;
    };
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("mapping_required f_far"), "{shown}");
    assert!(!shown.contains("Apply it?"), "{shown}");
    assert_eq!(begun(&server), Vec::<Value>::new());
}

#[test]
fn prompts_need_stdin_and_stderr_to_be_a_terminal() {
    for more in ["2>messages", "</dev/null", "--format json"] {
        let server = catalog([job("completed")]).serve();
        let Some((env, terminal)) = terminal(&server, "apply", more) else {
            return;
        };
        let (code, shown) = terminal.ends();
        assert_eq!(code, Some(2), "{more} {shown}");
        assert!(!shown.contains("Apply it?"), "{more} {shown}");
        let messages = match more {
            "2>messages" => env.place.read("messages"),
            _ => shown,
        };
        assert!(messages.contains("--yes"), "{more} {messages}");
        let why = match more {
            "--format json" => "`--format json` does not prompt",
            _ => "not a terminal",
        };
        assert!(messages.contains(why), "{more} {messages}");
        assert_eq!(server.lines(), Vec::<String>::new(), "{more}");
    }
}

#[test]
fn a_result_that_is_piped_on_holds_no_line_that_is_drawn() {
    let server = catalog([job("rows"), job("completed")]).serve();
    let Some((env, terminal)) = terminal(&server, "apply", "--yes >result") else {
        return;
    };
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("1/3"), "{shown:?}");
    let result = env.place.read("result");
    assert!(
        result.starts_with(&format!("{JOB}\ncompleted\n")),
        "{result:?}"
    );
    assert!(!result.contains('\u{1b}'), "{result:?}");
}
