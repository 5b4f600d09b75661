//! What is asked on a terminal, by the system's `script`, which has one to give. Where there is none, this is
//! said, and nothing is tested.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::support::{Place, case, warned};

/// Nobody types so slowly.
const PATIENCE: Duration = Duration::from_secs(60);
const DOWN: &str = "\u{1b}[B";

/// The program on a terminal.
pub(crate) struct Terminal {
    child: Child,
    keys: ChildStdin,
    shown: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    /// Starts `tplkit` with these words, as a shell reads them; nothing where no terminal can be had.
    pub(crate) fn start(place: &Place, words: &str) -> Option<Terminal> {
        Terminal::around(&place.command(&[]), words)
    }

    /// Starts it in the folder and the environment of that command.
    pub(crate) fn around(command: &Command, words: &str) -> Option<Terminal> {
        let line = format!("'{}' {words}", env!("CARGO_BIN_EXE_tplkit"));
        let mut script = Command::new("script");
        script.env("TERM", "xterm");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        script
            .args(["-qec", &line, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(folder) = command.get_current_dir() {
            script.current_dir(folder);
        }
        let Ok(mut child) = script.spawn() else {
            // Not eprintln!, which the test runner keeps to itself when the test passes.
            let note = "\nSKIPPED: no `script` (util-linux); nothing was asked on a terminal\n";
            let _ = std::io::stderr().write_all(note.as_bytes());
            return None;
        };
        let keys = child.stdin.take().expect("a pipe");
        let mut out = child.stdout.take().expect("a pipe");
        let (send, shown) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Some(Terminal {
            child,
            keys,
            shown,
            seen: String::new(),
        })
    }

    /// Waits until the text is shown, and forgets what was shown up to it.
    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str) {
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let more = self.shown.recv_timeout(PATIENCE);
            let more = more.unwrap_or_else(|_| panic!("{text:?} is not in {:?}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("is typed");
        self.keys.flush().expect("is typed");
    }

    /// Its exit code, and what else it showed.
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        while let Ok(more) = self.shown.recv_timeout(PATIENCE) {
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
        let status = self.child.wait().expect("ends");
        (status.code(), self.seen)
    }
}

fn links() -> Place {
    let text = std::fs::read_to_string(case("valid/base-links.json")).expect("fixture");
    Place::with(&[("p.json", &text)])
}

#[test]
fn each_dependency_is_asked_about() {
    let place = links();
    let Some(mut terminal) = Terminal::start(&place, "resolve init p.json -o r.toml") else {
        return;
    };
    terminal.shows("f_countries");
    terminal.shows("> import");
    terminal.press("\r");
    terminal.shows("> decide later");
    terminal.press(DOWN);
    terminal.shows("> skip");
    terminal.press("\r");
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("`r.toml` is written"), "{shown}");
    let written = place.read("r.toml");
    for (reference, action) in [("f_countries", "import"), ("f_carriers", "skip")] {
        let decided = format!("[resolutions.{reference}]\naction = \"{action}\"\n");
        assert!(written.contains(&decided), "{written}");
    }
    let ran = place
        .run(&["resolve", "check", "p.json", "r.toml"])
        .exits(0);
    assert_eq!(ran.out, "Everything is decided: 2 dependencies.\n");
}

/// Enter, Enter comes to what is written where nobody is asked, however alike the destination is.
#[test]
fn return_takes_what_is_proposed_elsewhere() {
    let place = links();
    let words = ["resolve", "init", "p.json", "--into", "p.json"];
    let expected = place.run(&words).exits(0).out;
    assert!(expected.contains("# candidate "), "{expected}");
    let line = "resolve init p.json --into p.json -o r.toml";
    let Some(mut terminal) = Terminal::start(&place, line) else {
        return;
    };
    terminal.shows("> import");
    terminal.press("\r");
    terminal.shows("> decide later");
    terminal.press("\r");
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    // Comments name candidates by ids that are drawn anew each time.
    let decided = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(decided(&place.read("r.toml")), decided(&expected));
}

#[test]
fn who_stops_in_the_middle_writes_nothing_and_sees_the_cursor() {
    let place = links();
    let Some(mut terminal) = Terminal::start(&place, "resolve init p.json -o r.toml") else {
        return;
    };
    terminal.shows("> import");
    terminal.press("\u{3}");
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.contains("\u{1b}[?25h"), "{shown:?}");
    assert!(!place.path("r.toml").exists());
}

#[test]
fn nothing_is_asked_of_who_does_not_want_it() {
    let place = links();
    let line = "resolve init p.json -o r.toml --no-input";
    let Some(terminal) = Terminal::start(&place, line) else {
        return;
    };
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("> import"), "{shown}");
    assert!(place.read("r.toml").contains("# To be decided:"));
}

/// What a terminal of so many columns shows of a command, without what steers it.
#[cfg(target_os = "linux")]
fn shown_at(place: &Place, columns: usize, words: &str) -> Option<String> {
    let line = format!(
        "stty cols {columns} rows 50; '{}' {words}",
        env!("CARGO_BIN_EXE_tplkit")
    );
    let mut script = place.command(&[]);
    let envs: Vec<_> = script
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    script = Command::new("script");
    for (name, value) in envs {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    let output = script
        .args(["-qec", &line, "/dev/null"])
        .env("TERM", "xterm")
        .current_dir(place.dir.path())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let end = rest[at..].find(|last: char| last.is_ascii_alphabetic());
        rest = end.map_or("", |end| &rest[at + end + 1..]);
    }
    plain.push_str(rest);
    Some(plain)
}

#[test]
#[cfg(target_os = "linux")]
fn no_line_is_wider_than_the_terminal() {
    let place = Place::with(&[(
        "a/rather/long/folder/name/for/a/package/p.json",
        &crate::support::faulty(),
    )]);
    // One line of everything, with the value far to the right.
    let value: serde_json::Value = serde_json::from_str(&crate::support::faulty()).expect("JSON");
    place.write("line.json", &value.to_string());
    for (name, text) in [
        ("crm.json", include_str!("../../examples/crm.json")),
        (
            "event.json",
            include_str!("../../examples/event-planning.json"),
        ),
    ] {
        place.write(name, text);
    }
    for columns in [45, 60, 80, 200] {
        for words in [
            "check .",
            "check line.json",
            "promote .",
            "rules",
            "explain R017",
            "explain S020",
            "--help",
            "check --help",
            "template promote --help",
            "help --help",
            "template help -h",
            "check --select NO-SUCH-RULE,ANOTHER-ONE a/rather/long/folder/name/for/a/package/p.json",
            "graph crm.json --kind none-of-those-that-are-known",
            "template promote",
            "check no/such/folder/that/has/a/name/which/is/longer/than/most/terminals/are/wide.json",
            "explain R09",
            "show event.json",
            "simulate crm.json",
            // It needs decisions, which are explained in long sentences.
            "simulate event.json",
            "doctor",
        ] {
            let Some(shown) = shown_at(&place, columns, words) else {
                return;
            };
            assert!(shown.lines().count() > 1, "{words}: {shown}");
            for line in shown.lines() {
                assert!(
                    line.chars().count() <= columns,
                    "{words} at {columns}: {line:?}"
                );
            }
        }
        let shown = shown_at(&place, columns, "check line.json").expect("a terminal");
        let lines: Vec<&str> = shown.lines().collect();
        let carets: Vec<usize> = (0..lines.len())
            .filter(|at| lines[*at].contains('^'))
            .collect();
        assert!(!carets.is_empty(), "{shown}");
        for at in carets {
            let from = lines[at].find('^').expect("carets");
            let under: String = lines[at - 1].chars().skip(from).collect();
            assert!(under.starts_with('"'), "{shown}");
        }
    }
}

/// Codes lead to the pages of their rules where the terminal has links, each closed on its line.
#[cfg(target_os = "linux")]
#[test]
fn codes_are_links_on_terminals_that_have_them() {
    let place = Place::with(&[("p.json", &warned())]);
    let words = "check p.json";
    let shown = |environment: &[(&str, &str)]| {
        let mut command = place.command(&[]);
        command.envs(environment.iter().copied());
        let (_, shown) = Terminal::around(&command, words)?.ends();
        Some(shown)
    };
    let Some(linked) = shown(&[("FORCE_HYPERLINK", "1")]) else {
        return;
    };
    let links: Vec<&str> = linked
        .lines()
        .filter(|line| line.contains("\u{1b}]8;;http"))
        .collect();
    assert!(links.len() >= 2, "{linked:?}");
    for line in linked.lines() {
        assert_eq!(
            line.matches("\u{1b}]8;;http").count(),
            line.matches("\u{1b}]8;;\u{1b}").count(),
            "{line:?}"
        );
    }
    assert!(
        links.last().expect("the hint").contains("tplkit explain"),
        "{linked:?}"
    );
    for environment in [("FORCE_HYPERLINK", "0"), ("TERM", "dumb")] {
        let plain = shown(&[environment]).expect("a terminal");
        assert!(!plain.contains("\u{1b}]8"), "{plain:?}");
    }
    let mut piped = place.command(&["check", "p.json"]);
    let out = piped.env("FORCE_HYPERLINK", "1").output().expect("runs");
    assert!(!out.stdout.contains(&0x1b) && !out.stderr.contains(&0x1b));
}

#[test]
#[cfg(target_os = "linux")]
fn counts_of_rules_fit_a_narrow_terminal() {
    let place = Place::with(&[("p.json", &crate::support::fixable())]);
    let words = "check . --statistics";
    let Some(wide) = shown_at(&place, 80, words) else {
        return;
    };
    assert!(wide.contains("with a fix)"), "{wide}");
    let narrow = shown_at(&place, 24, words).expect("a terminal");
    for line in narrow.lines() {
        assert!(line.chars().count() <= 24, "{line:?}");
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&narrow), words(&wide));
}

/// The line above each line of carets, from where the carets begin.
#[cfg(target_os = "linux")]
fn under_carets(shown: &str) -> Vec<String> {
    let lines: Vec<&str> = shown.lines().collect();
    let carets = (1..lines.len()).filter_map(|at| Some((at, lines[at].find('^')?)));
    carets
        .map(|(at, from)| lines[at - 1].chars().skip(from).collect())
        .collect()
}

/// Every command shows a finding as `check` does: colours take no room, carets stand under the value.
#[test]
#[cfg(target_os = "linux")]
fn every_command_colours_findings_and_keeps_their_carets() {
    let half_fixed = warned().replacen(
        "\"label\": \"Notes\"",
        "\"label\": \"Notes\",\n        \"count\": 1",
        1,
    );
    let automation = r#"{"trigger_config": {"type": "manaul"}, "graph_config": {"steps": [{"key": "email.send", "config": {"to": "a@example.org", "subject": "S", "body": "Hello"}}]}}"#;
    let place = Place::with(&[
        ("bad.json", "{bad"),
        ("automation.json", automation),
        ("half.json", &half_fixed),
    ]);
    for columns in [60, 80] {
        for (words, value) in [
            ("check bad.json", "bad"),
            ("automation validate bad.json", "bad"),
            ("automation run bad.json --stub", "bad"),
            ("fmt bad.json", "bad"),
            ("automation validate automation.json", "\"manaul\""),
            ("automation run automation.json --stub", "\"manaul\""),
            ("check --fix - < half.json", "\"one\""),
        ] {
            let Some(shown) = shown_at(&place, columns, words) else {
                return;
            };
            assert!(!shown.contains('\u{241b}'), "{words}: {shown}");
            let under = under_carets(&shown);
            assert_eq!(under.len(), 1, "{words}: {shown}");
            assert!(under[0].starts_with(value), "{words}: {shown}");
            // The fixed text is data, whatever its width.
            let as_wide = words.starts_with("check --fix");
            for line in shown.lines().filter(|_| !as_wide) {
                assert!(
                    line.chars().count() <= columns,
                    "{words} at {columns}: {line:?}"
                );
            }
        }
    }
    let (_, shown) = Terminal::start(&place, "fmt bad.json")
        .expect("a terminal")
        .ends();
    assert!(shown.contains("\u{1b}[1m\u{1b}[31merror"), "{shown:?}");
    let piped = place.command(&["fmt", "bad.json"]).output().expect("runs");
    assert!(!piped.stderr.contains(&0x1b));
}

/// On a terminal a difference is read, elsewhere it is a patch.
#[test]
#[cfg(target_os = "linux")]
fn lines_of_a_difference_are_cut_on_a_terminal_alone() {
    let value: serde_json::Value = serde_json::from_str(&crate::support::fixable()).expect("JSON");
    let place = Place::with(&[(
        "a/folder/with/a/rather/long/name/than/fits/in/here/line.json",
        &value.to_string(),
    )]);
    let words = ["check", "--diff", "--unsafe-fixes", "."];
    for columns in [60, 80] {
        let Some(shown) = shown_at(&place, columns, &words.join(" ")) else {
            return;
        };
        assert!(shown.contains("\n-{") && shown.contains("\n+{"), "{shown}");
        for line in shown.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line:?}");
        }
        let mut changed = shown
            .lines()
            .filter(|line| line.starts_with("-{") || line.starts_with("+{"));
        assert!(changed.all(|line| line.ends_with('…')), "{shown}");
    }
    let patch = place.run(&words).out;
    assert!(
        !patch.contains('…') && patch.contains(&value.to_string()),
        "{patch}"
    );
}
