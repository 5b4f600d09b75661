//! What it costs to see little of much: callers from whom half of the workspaces are hidden, or who belong to
//! many organizations, against the owner of one organization, on both stores.
//!
//! `cargo bench -p tplkit-server --bench visibility`, or `… -- --only sqlite|postgres`. `--rows N` (10,000),
//! `--workspaces N` (10,000), `--organizations N` (1,000), `--seconds N` for each turn (1), `--rounds N` (5).
//! `--server FILE` is the server program of another build. All three ask for rows of one table, over one
//! connection each, and take turns: a ratio is the median of those of the rounds.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

mod callers;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;

use std::time::Duration;

use serde_json::json;

use callers::{Callers, Direct};
use support::arguments::Arguments;
use support::load::{self, Question, SUCCESS};
use support::rows;
use support::server::{Indexed, Server};
use support::stores::on_each;

/// What is asked for on the command line.
struct Options {
    rows: usize,
    workspaces: usize,
    organizations: usize,
    /// Of one turn.
    time: Duration,
    rounds: usize,
    /// The server program of another build.
    server: Option<String>,
}

fn main() {
    let arguments = Arguments::read();
    let small = arguments.is_small();
    let options = Options {
        rows: arguments.number("--rows", 10_000, 500),
        workspaces: arguments.number("--workspaces", 10_000, 20),
        organizations: arguments.number("--organizations", 1_000, 5),
        time: Duration::from_millis(
            1000 * arguments.number("--seconds", 1, 1) / if small { 20 } else { 1 },
        ),
        rounds: arguments.number("--rounds", 5, 1).max(1),
        server: arguments.text("--server"),
    };
    on_each(&arguments, |store, database| {
        println!(
            "{store}, {} rows; {} workspaces, of which an editor does not see half; a member of {} organizations",
            options.rows, options.workspaces, options.organizations
        );
        let url = database("visibility");
        let own = env!("CARGO_BIN_EXE_tplkit-server");
        let program = options.server.as_deref().unwrap_or(own);
        let server = Server::of_program(program, &url, options.rows, Indexed::Views);
        let direct = Direct::to(&url, "visibility");
        let callers = Callers::join(&server, &url, &direct, &options);
        for what in questions(&server) {
            in_turns(&server, &callers, &what, &options);
        }
    });
}

/// Makes a request for whoever has the token, by its number.
type Ask<'a> = Box<dyn Fn(&str, usize) -> load::Request + Sync + 'a>;

/// What is timed.
struct TimedRequest<'a> {
    name: &'static str,
    request: Ask<'a>,
}

fn questions(server: &Server) -> Vec<TimedRequest<'_>> {
    let get = |name, tail: &'static str| TimedRequest {
        name,
        request: Box::new(move |token, _| server.with_key(token, "GET", tail, None)),
    };
    let count = server.ids.len();
    vec![
        TimedRequest {
            name: "by id",
            request: Box::new(move |token, n| {
                let id = &server.ids[rows::mixed(n) % count];
                server.with_key(token, "GET", &format!("rows/{id}"), None)
            }),
        },
        get("first page", "rows"),
        get(
            "count, slot filter",
            "rows:aggregate?op=count&filter=city:eq:Porto",
        ),
        get(
            "count, filter on data",
            "rows:aggregate?op=count&filter=note:contains:order",
        ),
        TimedRequest {
            name: "insert",
            request: Box::new(move |token, n| {
                let body = json!({"data": rows::data(n)});
                server.with_key(token, "POST", "rows", Some(&body))
            }),
        },
    ]
}

fn in_turns(server: &Server, callers: &Callers, timed: &TimedRequest<'_>, options: &Options) {
    let mut seen: [Vec<f64>; 3] = Default::default();
    for _ in 0..options.rounds {
        for (token, seen) in callers.tokens().into_iter().zip(&mut seen) {
            let question = Question::new(timed.name, SUCCESS, |_, n| (timed.request)(token, n));
            seen.push(question.ask(server.address, 1, options.time).median);
        }
    }
    let [owner, editor, member] = &seen;
    println!(
        "  {:<22} owner {:>8.0} µs   half hidden {:>8.0} µs {:>6.2} x   many organizations {:>8.0} µs {:>6.2} x",
        timed.name,
        median(owner.clone()),
        median(editor.clone()),
        median(ratios(editor, owner)),
        median(member.clone()),
        median(ratios(member, owner)),
    );
}

fn ratios(times: &[f64], of: &[f64]) -> Vec<f64> {
    times
        .iter()
        .zip(of)
        .map(|(one, other)| one / other)
        .collect()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
