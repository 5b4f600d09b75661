//! `HAProxy`, with the configuration of `deploy/`, in front of two servers on one PostgreSQL. One is taken away under
//! load: asked to stop, nobody notices; killed, those alone whose requests it had.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::cluster::replication::free_port;
use crate::kill::{Wire, signed_in};
use crate::load::{Load, assert_exact, notes, now, table};
use crate::process::{Serving, command, database, owner};
use crate::proxy::{LongTexts, Proxy};
use crate::stores::Place;

const CLIENTS: usize = 8;

/// The program, unless it is not installed.
fn program() -> Option<&'static str> {
    // Debian's programs of administrators are not in everybody's PATH.
    let found = ["haproxy", "/usr/sbin/haproxy"]
        .into_iter()
        .find(|program| Command::new(program).arg("-v").output().is_ok());
    if found.is_none() {
        let _ = writeln!(
            io::stderr(),
            "\nSKIPPED: there is no haproxy; no server was asked, or taken away, behind it\n"
        );
    }
    found
}

fn start(program: &str, one: &str, two: &str) -> Proxy {
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), ".."].iter().collect();
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = Command::new(program);
    // In the foreground, without a process of its own for the work: it ends when it is killed.
    command
        .args(["-db", "-f"])
        .arg(root.join(Path::new("deploy/haproxy.cfg")))
        .env("TPLKIT_BIND", &address)
        .env("TPLKIT_ONE", one)
        .env("TPLKIT_TWO", two);
    Proxy::of(command, address)
}

fn serve(database: &str, address: &str) -> Serving {
    let mut command = command(&["serve", "--listen", address, "--database", database]);
    command.args(["--rate-limit", "off"]);
    command.env("TPLKIT_TRUST_PROXY", "1");
    Serving::of(command)
}

#[test]
fn a_server_that_goes_away_behind_haproxy_is_missed_by_nobody() {
    let (Some(place), Some(program)) = (Place::postgres(), program()) else {
        return;
    };
    let organization = owner(&place.url);
    let [one, two] = [(); 2].map(|()| format!("127.0.0.1:{}", free_port()));
    let mut serving = serve(&place.url, &one);
    let mut second = serve(&place.url, &two);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let feature = table(&mut wire, &workspace, "F");
    let proxy = start(program, &one, &two);
    let load = Load::start(CLIENTS, &proxy.address, &wire.token, &feature);
    let rows = format!("/v1/features/{feature}/rows");
    for serving in [&serving, &second] {
        serving.wait_for(&rows);
    }
    load.wait_for(200);

    // Asked to stop, and back.
    serving.signal("-TERM");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0), "{log}");
    load.wait_for(200);
    serving = serve(&place.url, &one);
    serving.wait_for(&rows);
    load.wait_for(200);

    let kill = now();
    second.signal("-KILL");
    second.child.wait().expect("ends");
    let killed = now();
    load.wait_for(400);
    let written = load.stop();

    for written in &written {
        for (sent, failed) in &written.failed {
            assert!(*sent < killed, "sent {:?} after the kill", *sent - killed);
            assert!(
                *failed > kill,
                "failed {:?} before the kill",
                kill - *failed
            );
        }
        assert!(written.failed.len() <= 1, "one is in flight at a time");
    }
    let mut wire = Wire::to(&proxy.address, &wire.token);
    assert_exact(&written, &notes(&mut wire, &feature));
}

#[test]
fn long_heads_pass() {
    let Some(program) = program() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let serving = Serving::start(&database);
    let texts = LongTexts::write(&serving, &database);
    let proxy = start(program, &serving.address, &serving.address);
    texts.read_through(&serving.address);
    texts.read_through(&proxy.address);
}
