//! Texts and file names of strangers, in every format and command: nothing in them steers a terminal, reads
//! as what it is not, or is markup.

use serde_json::Value;

use crate::support::{Place, Ran, tiny};

/// A title for the terminal, a cleared screen, C1, marks of direction, and markup.
pub(crate) const HOSTILE: &str = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{200f}\u{61c}\u{7f}\
     </script><img src=x onerror=alert(1)> `</b><img src=y>` ``` <img src=z>";
/// What a file name can hold of it.
const NAME: &str = "\u{1b}]0;p\u{7}\u{1b}[2J\u{9b}\u{202e}\u{2066}<img src=f>.json";

/// Where the small package has texts.
fn fields(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                fields(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                fields(member, &format!("{at}/{key}"), found);
            }
        }
        _ => {}
    }
}

/// The small package once for each text in it, which is hostile there.
fn packages() -> Vec<String> {
    let tiny: Value = serde_json::from_str(&tiny()).expect("JSON");
    let mut all = Vec::new();
    fields(&tiny, "", &mut all);
    assert!(all.len() > 20, "{all:?}");
    let hostile = |field: &String| {
        let mut package = tiny.clone();
        let text = package.pointer_mut(field).expect("is there");
        *text = format!("{}{HOSTILE}", text.as_str().unwrap_or_default()).into();
        serde_json::to_string_pretty(&package).expect("JSON")
    };
    all.iter().map(hostile).collect()
}

/// The small package with all its labels hostile, which stays one that every command takes.
fn labelled() -> String {
    let mut package: Value = serde_json::from_str(&tiny()).expect("JSON");
    let mut all = Vec::new();
    fields(&package, "", &mut all);
    for field in all.iter().filter(|field| field.ends_with("/label")) {
        let text = package.pointer_mut(field).expect("is there");
        *text = format!("L{HOSTILE}\nerror: forged").into();
    }
    serde_json::to_string_pretty(&package).expect("JSON")
}

#[track_caller]
pub(crate) fn harmless(text: &str, of: &str) {
    let steers = |character: &char| {
        matches!(character, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let found = text.chars().position(|character| steers(&character));
    if let Some(at) = found {
        let from = at.saturating_sub(60);
        let around: String = text.chars().skip(from).take(120).collect();
        panic!("{of}: {around:?}");
    }
}

#[track_caller]
pub(crate) fn both_harmless(ran: &Ran, of: &str) {
    harmless(&ran.out, of);
    harmless(&ran.err, of);
}

/// Markdown without what stands in code.
fn prose(text: &str) -> String {
    let mut prose = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '\\']) {
        prose.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('\\') {
            rest = rest.get(2..).unwrap_or_default();
            continue;
        }
        let run = rest.len() - rest.trim_start_matches('`').len();
        let (fence, after) = rest.split_at(run);
        let closes = after
            .match_indices(fence)
            .map(|(at, _)| at)
            .find(|at| !after[..*at].ends_with('`') && !after[at + run..].starts_with('`'));
        rest = match closes {
            Some(at) => &after[at + run..],
            None => after,
        };
    }
    prose + rest
}

#[test]
fn no_report_format_prints_control_characters() {
    let place = Place::new();
    for (number, package) in packages().iter().enumerate() {
        place.write(&format!("d/{number}-{NAME}"), package);
    }
    place.write(&format!("d/broken-{NAME}"), &format!("{{{HOSTILE}"));
    for format in ["text", "json", "sarif", "github", "gitlab", "junit", "md"] {
        for more in [&[][..], &["--promotion", "system"], &["--output", "report"]] {
            let words = [&["check", "d", "--format", format], more].concat();
            let ran = place.run(&words);
            both_harmless(&ran, format);
            let text = if more.contains(&"report") {
                place.read("report")
            } else {
                ran.out
            };
            assert!(!text.is_empty(), "{words:?}");
            harmless(&text, format);
            if format == "md" {
                assert!(!prose(&text).contains("<img"), "{}", prose(&text));
            }
            if ["json", "sarif", "gitlab"].contains(&format) {
                serde_json::from_str::<Value>(&text).expect("JSON");
            }
        }
    }
    both_harmless(&place.run(&["check", "d", "--diff"]), "--diff");
    both_harmless(&place.run(&["check", &format!("no-{NAME}")]), "missing");
}

#[test]
fn no_diff_prints_control_characters() {
    let place = Place::with(&[("p.json", &tiny())]);
    for package in packages() {
        place.write(NAME, &package);
        for format in ["text", "md", "json"] {
            for [one, other] in [["p.json", NAME], [NAME, "p.json"]] {
                let ran = place.run(&["diff", one, other, "--format", format]);
                both_harmless(&ran, format);
                if format == "md" {
                    assert!(!prose(&ran.out).contains("<img"), "{}", ran.out);
                }
            }
        }
    }
}

#[test]
fn no_command_prints_control_characters() {
    let place = Place::with(&[(NAME, &labelled())]);
    let uid = "\u{1b}]0;x\u{7}";
    for words in [
        &["show", NAME][..],
        &["show", NAME, "--format", "json"],
        &["why", NAME, "f_vendas"],
        &["why", NAME, uid],
        &["graph", NAME, "--format", "dot"],
        &["graph", NAME, "--format", "mermaid"],
        &["graph", NAME, "--format", "svg"],
        &["graph", NAME, "--format", "json"],
        &["report", NAME, "-o", "page.html"],
        &["report", NAME, "-o", "page.html", "--format", "json"],
        &["promote", NAME],
        &["fmt", "--check", NAME],
        &["fmt", NAME, "--format", "json"],
        &["simulate", NAME],
        &["simulate", NAME, "--format", "json"],
        &["resolve", "check", NAME],
        &["migrate", NAME, "--to", "2", "-o", "m.json"],
        &["unpack", NAME, "folder"],
        &["pack", "nowhere-\u{1b}[2J"],
        &["explain", uid],
        &["automation", "validate", NAME],
        &["\u{1b}[2J"],
        &["show", "nowhere-\u{1b}[2J\u{9b}\u{202e}"],
        &["check", "no\nerror: forged"],
        &["why", NAME, "no\nerror: forged"],
        &["fmt", "no\nerror: forged"],
        &["simulate", NAME, "--resolutions", "no\nerror: forged"],
        &["simulate", NAME, "--into", "no\nerror: forged"],
        &["check", NAME, "--baseline", "no\nerror: forged"],
        &["check", NAME, "--definitions", "no\nerror: forged"],
        &["pack", "no\nerror: forged"],
        &["unpack", NAME, "no\nerror: forged/x"],
    ] {
        let ran = place.run(words);
        both_harmless(&ran, &format!("{words:?}"));
        // Neither a label nor the name of a file makes a line of its own; a picture has no lines.
        if words.contains(&"svg") {
            continue;
        }
        for line in ran.out.lines().chain(ran.err.lines()) {
            let line = line.trim_start();
            assert!(!line.starts_with("error: forged"), "{words:?}: {line}");
        }
    }
    harmless(&place.read("page.html"), "the page");
}

/// Data is what it was for the programs that read it.
#[test]
fn data_keeps_its_bytes() {
    let place = Place::with(&[(NAME, &labelled())]);
    let canonical = place.run(&["fmt", NAME, "-o", "-"]).exits(0);
    let read: Value = serde_json::from_str(&canonical.out).expect("JSON");
    let written: Value = serde_json::from_str(&labelled()).expect("JSON");
    assert_eq!(read["manifest"]["items"], written["manifest"]["items"]);
    assert!(
        canonical.out.contains('\u{202e}'),
        "as the canonical form has it"
    );
}
