//! What holds for every expression: it is taken apart without a gap, and what its tokens yield stands in the
//! result as it is, also when that looks like tokens. Shared with the fuzz target of the same name.

use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use tplkit::automation::run::{Due, Envelope, Record, RunState};
use tplkit::automation::{Path, lone_token, pieces};
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value};

/// Every value of the envelope: a token that would yield something, and one that never ends.
const DATA: &str = "{{vars.v}} {{record.a}}{{sys.today}} {{";
/// What stands for it in the world that is held against: a character that means nothing to anybody.
const PLAIN: &str = "\u{E000}";

/// A world in which everything holds that text.
fn world(value: &str) -> Envelope {
    let cells: Object = ["a", "b", "first name", "é", "id"]
        .map(|key| (key.to_owned(), value.into()))
        .into_iter()
        .collect();
    let record = Record {
        own: Object::new(),
        data: cells.clone(),
    };
    let mut envelope = Envelope::new(Some(record.clone()));
    envelope.records.push(Arc::new(record));
    envelope.variables = ["v", "x", "trigger", "steps"]
        .map(|key| (key.to_owned(), value.into()))
        .into_iter()
        .collect();
    envelope
        .outputs
        .insert("stp_aaaaaaaaaaaa".to_owned(), cells);
    envelope
}

static LOADED: LazyLock<Envelope> = LazyLock::new(|| world(DATA));
static QUIET: LazyLock<Envelope> = LazyLock::new(|| world(PLAIN));

/// Fails when an expression does something that none may.
///
/// # Panics
/// Then.
pub(crate) fn check(text: &str) {
    let mut end = 0;
    for piece in pieces(text) {
        let span = piece.span();
        assert!(span.start == end && span.end > end, "{span:?} in {text:?}");
        assert!(text.get(span.clone()).is_some(), "{span:?} in {text:?}");
        end = span.end;
    }
    assert_eq!(end, text.len(), "{text:?}");
    let _ = (lone_token(text), Path::parse(text), Path::below_vars(text));
    if text.contains(PLAIN) {
        return;
    }
    let expression = Value::from(text);
    let now = Timestamp::UNIX_EPOCH;
    let Ok(quiet) = QUIET.resolve(&expression, now) else {
        return;
    };
    let expected = match quiet {
        Value::String(quiet) => Value::from(quiet.replace(PLAIN, DATA)),
        other => other,
    };
    let Ok(found) = LOADED.resolve(&expression, now) else {
        return;
    };
    assert_eq!(found, expected, "{text:?}");
    // In a step it yields the same: nobody resolves the config once more.
    let step = Object::from_iter([
        ("key".to_owned(), "var.set".into()),
        (
            "config".to_owned(),
            Value::Object(Object::from_iter([("value".to_owned(), expression)])),
        ),
    ]);
    let steps = Value::List(vec![Value::Object(step)]);
    let graph = Value::Object(Object::from_iter([("steps".to_owned(), steps)]));
    let state = RunState::new(Definitions::embedded(), &graph, LOADED.clone());
    let Due { input, act } = state.due(now, usize::MAX);
    assert_eq!(input.get("value"), Some(&found), "{text:?}");
    assert!(act.is_ok(), "{text:?}");
}
