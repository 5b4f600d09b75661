//! Many callers at once, as in use: eight API keys, each with a connection of its own, mixed reads and
//! writes. With a second build of the server, both take turns, and the ratio is the median of the rounds.

use serde_json::{Value, json};

use super::support::load::{self, Request, SUCCESS, Seen};
use super::support::server::{Indexed, Server};
use super::{CONNECTIONS, Options, median, rows};

/// A running server and the keys of its callers.
struct Callers {
    server: Server,
    keys: Vec<String>,
}

impl Callers {
    fn new(server: Server) -> Callers {
        let keys = (0..CONNECTIONS).map(|n| server.key(&format!("caller {n}")));
        let keys = keys.collect();
        Callers { server, keys }
    }

    /// Six of ten requests read one row or a page, one counts, three write.
    fn request(&self, caller: usize, n: usize) -> Request {
        let picked = rows::mixed(caller * 7919 + n);
        let id = &self.server.ids[picked % self.server.ids.len()];
        let get = |tail: &str| self.send(caller, "GET", tail, None);
        match n % 10 {
            0 | 3 | 6 => get(&format!("rows/{id}")),
            1 => get("rows?limit=50"),
            4 => {
                let name = rows::name(picked % self.server.ids.len()).replace(' ', "%20");
                get(&format!("rows?filter=name:eq:{name}&sort=-amount"))
            }
            7 => get("rows?sort=-amount&limit=50"),
            8 => get("rows:aggregate?op=count"),
            2 => self.send(
                caller,
                "POST",
                "rows",
                Some(&json!({"data": rows::data(picked)})),
            ),
            _ => {
                let note = json!({"data": {"note": format!("Seen {n} times.")}});
                self.send(caller, "PATCH", &format!("rows/{id}"), Some(&note))
            }
        }
    }

    fn send(&self, caller: usize, method: &str, tail: &str, body: Option<&Value>) -> Request {
        self.server.with_key(&self.keys[caller], method, tail, body)
    }

    fn load(&self, options: &Options) -> Seen {
        let next = |caller, n| self.request(caller, n);
        load::run(
            self.server.address,
            CONNECTIONS,
            options.time,
            SUCCESS,
            next,
        )
    }
}

/// Measures both stores.
pub(crate) fn report(options: &Options) {
    println!(
        "{CONNECTIONS} callers with keys of their own, mixed reads and writes, {} rows",
        options.rows
    );
    #[cfg(unix)]
    on_postgres(options);
    on_sqlite(options);
}

#[cfg(unix)]
fn on_postgres(options: &Options) {
    let Some(programs) = super::cluster::programs() else {
        return;
    };
    let cluster = super::cluster::Cluster::start(programs).expect("PostgreSQL starts");
    let start = |program: &str, name: &str| {
        let create = format!("CREATE DATABASE {name}");
        cluster.psql(&create).expect("creates");
        let url = cluster.url(name);
        let server = Server::of_program(program, &url, options.rows, Indexed::Views);
        cluster.psql_in(name, "ANALYZE").expect("analyzes");
        Callers::new(server)
    };
    let own = start(env!("CARGO_BIN_EXE_tplkit-server"), "own");
    let other = options
        .server
        .as_deref()
        .map(|program| start(program, "other"));
    in_turns("PostgreSQL", &own, other.as_ref(), options);
}

fn on_sqlite(options: &Options) {
    let folder = tempfile::tempdir().expect("a folder");
    let start = |program: &str, name: &str| {
        let url = format!("sqlite:{}", folder.path().join(name).display());
        Callers::new(Server::of_program(
            program,
            &url,
            options.rows,
            Indexed::Views,
        ))
    };
    let own = start(env!("CARGO_BIN_EXE_tplkit-server"), "own.db");
    let other = options
        .server
        .as_deref()
        .map(|program| start(program, "other.db"));
    in_turns("SQLite", &own, other.as_ref(), options);
}

fn in_turns(store: &str, own: &Callers, other: Option<&Callers>, options: &Options) {
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..options.rounds {
        ours.push(own.load(options));
        theirs.extend(other.map(|other| other.load(options)));
    }
    print(store, &ours);
    if !theirs.is_empty() {
        print("  the other build", &theirs);
        let ratios = ours.iter().zip(&theirs);
        let ratios = ratios.map(|(ours, theirs)| ours.per_second / theirs.per_second);
        let (least, ratio, most) = median(ratios);
        println!("    this build            {ratio:.2} x ({least:.2} to {most:.2})");
    }
}

fn print(name: &str, seen: &[Seen]) {
    let of = |figure: fn(&Seen) -> f64| median(seen.iter().map(figure)).1;
    println!(
        "  {name:<22} {:>9.0} /s {:>8.0} µs, 95 of 100 within {:>8.0} µs",
        of(|seen| seen.per_second),
        of(|seen| seen.median),
        of(|seen| seen.p95.unwrap_or_default()),
    );
}
