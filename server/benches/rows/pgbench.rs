//! The same transactions without a server: what pgbench makes of the very SQL that a request sends.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use super::cluster::Cluster;
use super::load::Seen;
use super::rows;
use super::server::Server;

/// As many scripts as pgbench takes: each asks for another row.
const SCRIPTS: usize = 64;

/// The rows that may be seen, as the server asks for them.
const ROWS: &str = "organization_id = '{o}' AND feature_id = '{f}' \
    AND organization_id = ANY ('{{o}}') AND workspace_id <> ALL ('{}'::uuid[]) \
    AND (feature_id <> ALL ('{}'::uuid[]) OR created_by = '{o}')";

pub(crate) fn ask(cluster: &Cluster, server: &Server, time: Duration) -> Vec<(&'static str, Seen)> {
    let columns = "id, created_at, updated_at, data::text";
    let amount = slot(cluster, "amount");
    let name = slot(cluster, "name");
    let by_id = |n: usize| {
        format!(
            "AND id = '{}'",
            server.ids[rows::mixed(n) % server.ids.len()]
        )
    };
    let named = |n: usize| {
        format!(
            "AND {name} = '{}'",
            rows::name(rows::mixed(n) % server.ids.len())
        )
    };
    let middle = cluster
        .psql_in(
            "bench",
            &format!("SELECT {amount} FROM main.rows ORDER BY {amount} DESC OFFSET 600 LIMIT 1"),
        )
        .expect("an answer");
    let run = |tail: &dyn Fn(usize) -> String| {
        let select = |n: usize| format!("SELECT {columns} FROM rows WHERE {ROWS} {}", tail(n));
        pgbench(cluster, server, time, &select)
    };
    vec![
        ("by id", run(&|n| by_id(n))),
        ("first page", run(&|_| "ORDER BY id LIMIT 26".to_owned())),
        (
            "keyset page",
            run(&|_| format!("AND {amount} < '{middle}' ORDER BY {amount} DESC, id LIMIT 26")),
        ),
        (
            "filter page",
            run(&|n| format!("{} ORDER BY id LIMIT 26", named(n))),
        ),
        (
            "filter and sort page",
            run(&|n| format!("{} ORDER BY {amount} DESC, id LIMIT 26", named(n))),
        ),
        (
            "sort page",
            run(&|_| format!("AND {amount} IS NOT NULL ORDER BY {amount} DESC, id LIMIT 26")),
        ),
    ]
}

/// The slot of a column.
fn slot(cluster: &Cluster, column: &str) -> String {
    let sql = format!("SELECT 's' || slot FROM main.columns WHERE name = '{column}'");
    cluster.psql_in("bench", &sql).expect("a slot")
}

fn pgbench(
    cluster: &Cluster,
    server: &Server,
    time: Duration,
    select: &dyn Fn(usize) -> String,
) -> Seen {
    let folder = tempfile::tempdir().expect("a folder");
    let (organization, feature) = (&server.organization, server.feature());
    let filled = |text: &str| text.replace("{o}", organization).replace("{f}", feature);
    let mut command = Command::new("pgbench");
    let seconds = time.as_secs().max(1).to_string();
    command.args([
        "--no-vacuum",
        "--protocol=prepared",
        "--client=8",
        "--jobs=2",
        "--time",
        &seconds,
    ]);
    for n in 0..SCRIPTS {
        let mut script = String::from("\\startpipeline\nBEGIN READ ONLY;\n");
        let settings = "SELECT set_config('role', 'tplkit_request', true), \
             set_config('tplkit.caller', '{o}', true), set_config('tplkit.organizations', '{{o}}', true), \
             set_config('tplkit.administered', '{{o}}', true), set_config('tplkit.workspaces', '{}', true), \
             set_config('tplkit.hidden', '{}', true), set_config('tplkit.guarded', '{}', true);";
        let _ = writeln!(
            script,
            "{}\n{};\nCOMMIT;\n\\endpipeline",
            filled(settings),
            filled(&select(n))
        );
        let file = folder.path().join(format!("{n}.sql"));
        std::fs::write(&file, script).expect("writes");
        command.arg("--file").arg(file);
    }
    let output = command
        .arg(cluster.url("bench"))
        .env("PGOPTIONS", "-c search_path=main")
        .output()
        .expect("pgbench starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
        number.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
    };
    Seen {
        per_second: figure("tps = "),
        median: figure("latency average = ") * 1000.0,
    }
}
