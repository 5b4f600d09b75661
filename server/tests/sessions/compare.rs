//! What a session shows next to what its commands printed. Ids, instants, durations, ports, keys and digests
//! differ from run to run and are compared by their shape.

use std::sync::LazyLock;

use regex::Regex;

use super::document::{Session, Step};
use super::shell::Ran;

const LEFT_OUT: char = '…';

static SHAPES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let shapes = [
        (
            r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
            "<id>",
        ),
        (r"platform_[a-z]+_[A-Za-z0-9_-]+", "<key>"),
        (
            r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})",
            "<instant>",
        ),
        (r"\b[0-9a-f]{32,}\b", "<digest>"),
        (r"(127\.0\.0\.1|localhost):\d+", "<address>"),
        (r"\b\d+(\.\d+)? ?(ms|µs|s|seconds?)\b", "<duration>"),
    ];
    let shapes = shapes.into_iter();
    shapes
        .map(|(shape, name)| (Regex::new(shape).expect("a pattern"), name))
        .collect()
});

/// What is not as the session says, one text for each command.
pub(super) fn faults(session: &Session, outputs: &[Ran]) -> Vec<String> {
    let shows = session.shows_output();
    let pairs = session.steps.iter().zip(outputs);
    pairs
        .filter_map(|(step, ran)| fault(shows, step, ran))
        .collect()
}

fn fault(shows: bool, step: &Step, ran: &Ran) -> Option<String> {
    let fits = if shows {
        let silent = step.shown.is_empty();
        let code = ran.code.is_some_and(|code| !silent || code == 0);
        code && fits(&step.shown, &ran.out, &ran.err)
    } else {
        matches!(ran.code, Some(0 | 1))
    };
    let Ran { out, err, code } = ran;
    let (out, err) = (out.join("\n"), err.join("\n"));
    (!fits).then(|| {
        format!(
            "$ {}\n{out}\n-- stderr --\n{err}\n-- exit code {code:?} --",
            step.text
        )
    })
}

/// Whether the lines are all of standard output in its order, with lines of standard error among them.
fn fits(shown: &[String], out: &[String], err: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else {
        return out.is_empty();
    };
    if first.chars().eq([LEFT_OUT]) {
        let skipped = |skipped: usize| fits(rest, &out[skipped..], err);
        return (0..=out.len()).any(skipped);
    }
    if let Some((printed, later)) = out.split_first()
        && alike(first, printed)
        && fits(rest, later, err)
    {
        return true;
    }
    let logged = err.iter().position(|line| alike(first, line));
    logged.is_some_and(|at| fits(rest, out, &err[at + 1..]))
}

/// Whether a line is the shown one, apart from what differs from run to run.
fn alike(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (shape(shown), shape(printed));
    let mut parts = shown.split(LEFT_OUT);
    let Some(mut rest) = parts.next().and_then(|first| printed.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    // What follows the last part belongs to what is left out, or there is none.
    rest.is_empty() || last.is_some_and(|part| part.is_empty() || printed.ends_with(part))
}

fn shape(line: &str) -> String {
    let mut line = line.trim_end().to_owned();
    for (shape, name) in SHAPES.iter() {
        line = shape.replace_all(&line, *name).into_owned();
    }
    line
}

#[test]
fn lines_are_compared_by_shape_and_with_gaps() {
    let yes = [
        ("a … z", "a b c z"),
        (
            "job 01a0b1c2-0000-7000-8000-000000000001",
            "job ffffffff-0000-7000-8000-000000000001",
        ),
        (
            "listening on http://127.0.0.1:8080",
            "listening on http://127.0.0.1:40123",
        ),
        ("done in 3 s", "done in 1.5 s"),
        ("…", "anything"),
    ];
    for (shown, printed) in yes {
        assert!(alike(shown, printed), "{shown} {printed}");
    }
    for (shown, printed) in [("a … z", "a b"), ("a", "a b"), ("3 rows", "4 rows")] {
        assert!(!alike(shown, printed), "{shown} {printed}");
    }
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(fits(&lines("a\n…\nc"), &lines("a\nb\nc"), &[]));
    assert!(!fits(&lines("a"), &lines("a\nb"), &[]));
    assert!(fits(&lines("note\na"), &lines("a"), &lines("note")));
    assert!(!fits(&lines("a\nb"), &lines("a"), &[]));
}
