//! `HAProxy`, with the configuration of `deploy/`, in front of two servers on one PostgreSQL. One is taken away under
//! load: asked to stop, nobody notices; killed, those alone whose requests it had. What is sent to another server then is
//! seen by one that never responds.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

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

/// Takes requests, and closes their connections without a response, but those that ask whether it is ready.
struct SilentServer {
    address: String,
    /// Method and target of each.
    taken: Arc<Mutex<Vec<String>>>,
}

impl SilentServer {
    fn start() -> SilentServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let address = listener.local_addr().expect("an address").to_string();
        let taken: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = taken.clone();
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                let line = head.first().and_then(|line| line.strip_suffix(" HTTP/1.1"));
                match line {
                    Some("GET /v1/ready") => {
                        let ready =
                            b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                        let _ = stream.write_all(ready);
                    }
                    Some(line) => noted.lock().expect("notes").push(line.to_owned()),
                    None => {}
                }
            }
        });
        SilentServer { address, taken }
    }
}

#[test]
fn what_may_be_done_twice_alone_is_sent_again() {
    let Some(program) = program() else { return };
    let server = SilentServer::start();
    let proxy = start(program, &server.address, &server.address);
    for (request, has_key, is_repeated) in [
        ("GET /v1/me", false, true),
        ("POST /v1/features/x/rows", true, true),
        ("POST /apply/templates/x", true, true),
        ("POST /v1/features/x/rows", false, false),
        // The server keeps no response of these.
        ("POST /v1/auth/refresh", true, false),
        ("POST /v1/%61uth/refresh", true, false),
        ("POST /v1/api-keys", true, false),
        ("DELETE /v1/features/x/rows/y", true, false),
        ("PATCH /v1/features/x/rows/y", true, false),
        ("PUT /v1/templates/x/package", true, false),
    ] {
        let key = if has_key {
            "idempotency-key: k\r\n"
        } else {
            ""
        };
        let head = format!(
            "{request} HTTP/1.1\r\nhost: test\r\n{key}content-length: 0\r\nconnection: close\r\n\r\n"
        );
        let mut stream = TcpStream::connect(&proxy.address).expect("connects");
        stream.write_all(head.as_bytes()).expect("sends");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        assert!(
            response.starts_with("HTTP/1.1 502 "),
            "{request}: {response}"
        );
        let taken = std::mem::take(&mut *server.taken.lock().expect("notes"));
        assert_eq!(taken.len() > 1, is_repeated, "{request}: {taken:?}");
        assert!(taken.iter().all(|one| one == request), "{taken:?}");
    }
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
