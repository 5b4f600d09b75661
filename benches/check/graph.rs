//! An automation of a thousand steps, forty deep where branches nest: how long checking it takes. The
//! yardstick is `serde_json` over the same text, keeping nothing.

use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use tplkit::automation::{Automation, EmptyEnvironment, validate, validate_file};
use tplkit::definitions::Definitions;
use tplkit::json::Doc;

/// How deep branches nest: nearly as deep as a file can be.
const DEPTH: usize = 40;
/// How many such nests there are: with the steps in front, a thousand.
const NESTS: usize = 24;

fn id(number: usize) -> String {
    format!("stp_{number:012}")
}

/// A mail, and below it a decision that holds the rest; each reads outputs, a variable and a record.
fn nest(nest: usize) -> String {
    let first = nest * (DEPTH + 1);
    let mail = |number: usize| {
        format!(
            r#"{{"key":"email.send","id":"{}","config":{{"to":"a@example.org","subject":"{{{{vars.v}}}}","body":"Dear {{{{record.name}}}}, {{{{vars.steps.stp_read00000000.count}}}} rows"}}}}"#,
            id(number)
        )
    };
    let mut steps = format!("[{}]", mail(first));
    for level in 1..=DEPTH {
        let branch = if level % 2 == 0 { "then" } else { "else" };
        let other = if level % 2 == 0 { "" } else { r#""then":[],"# };
        steps = format!(
            r#"[{{"key":"ifElse","id":"{}","config":{{"condition":{{"subject":"var","var":"v","op":"eq","value":"{{{{record.city}}}}"}},{other}"{branch}":{steps}}}}}]"#,
            id(first + level)
        );
    }
    steps[1..steps.len() - 1].to_owned()
}

/// The text of the definition, and how many steps it has.
fn definition() -> (String, usize) {
    let table = "10000000-0000-4000-8000-00000000000a";
    let mut steps = vec![
        r#"{"key":"var.set","id":"stp_set000000000","config":{"name":"v","value":1}}"#.to_owned(),
        format!(
            r#"{{"key":"feature.read","id":"stp_read00000000","config":{{"featureId":"{table}"}}}}"#
        ),
    ];
    steps.extend((0..NESTS).map(nest));
    let count = 2 + NESTS * (DEPTH + 1);
    let extra = 1000_usize.saturating_sub(count);
    steps.extend((0..extra).map(|at| {
        let id = id(1_000_000 + at);
        format!(r#"{{"key":"delay","id":"{id}","config":{{"seconds":1}}}}"#)
    }));
    let text = format!(
        r#"{{"trigger_config":{{"type":"cron","config":{{"mode":"hourly"}}}},"graph_config":{{"steps":[{}]}}}}"#,
        steps.join(",")
    );
    (text, count + extra)
}

/// Prints medians of so many rounds.
pub(crate) fn report(rounds: usize) {
    let (text, steps) = definition();
    let found = validate_file(&text, Definitions::embedded()).expect("JSON");
    assert!(found.is_empty(), "{:?}", found.first());
    let doc = Doc::parse(&text).expect("JSON");
    let automation = Automation::of_definition(doc.root());
    let own = EmptyEnvironment::default();
    let yardstick = median(rounds, || {
        serde_json::from_str::<IgnoredAny>(&text).expect("JSON");
    });
    let checked = median(rounds, || {
        assert!(validate(Definitions::embedded(), &automation, &own).is_empty());
    });
    let whole = median(rounds, || {
        assert!(validate_file(&text, Definitions::embedded()).is_ok());
    });
    println!(
        "an automation of {steps} steps, {} KB\n  \
         serde_json, IgnoredAny {yardstick:>28.1?}\n  \
         validated              {checked:>28.1?}  ratio {:.2}\n  \
         read and validated     {whole:>28.1?}  ratio {:.2}",
        text.len() / 1000,
        checked.as_secs_f64() / yardstick.as_secs_f64(),
        whole.as_secs_f64() / yardstick.as_secs_f64(),
    );
}

fn median(rounds: usize, case: impl Fn()) -> Duration {
    case();
    let times = (0..rounds.max(1)).map(|_| {
        let began = Instant::now();
        case();
        began.elapsed()
    });
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}
