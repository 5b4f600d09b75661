//! Files in a bucket: a real server of that protocol, `moto_server` of `PyPI`'s `moto[server]`, keeps them.
//!
//! It is `TPLKIT_MOTO`, what `scripts/test` installs into `target/moto`, or what the path has. Where there is none the test
//! says SKIPPED; `TPLKIT_REQUIRE_MOTO=1` makes that a failure.

mod away;
mod damaged;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod memory;
mod running;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::kill::Wire;
use crate::process::{EMAIL, SECRET, Serving, command, database, owner, variable};

/// A server of buckets, stopped with the test.
struct Buckets {
    child: Child,
    address: String,
}

impl Drop for Buckets {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program() -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/moto/bin/moto_server");
    let named = variable("TPLKIT_MOTO").map(PathBuf::from);
    let known = named
        .into_iter()
        .chain([installed, PathBuf::from("moto_server")]);
    known.into_iter().find(|program| {
        let help = Command::new(program).arg("--help").output();
        help.is_ok_and(|output| output.status.success())
    })
}

/// Objects are for requests that are signed; whether a signature is right is not looked at.
const SIGNED: &str = "authorization: AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, \
     SignedHeaders=host, Signature=0";

impl Buckets {
    fn start(program: &Path) -> Buckets {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port().to_string();
        drop(free);
        let child = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &port])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let buckets = Buckets {
            child,
            address: format!("127.0.0.1:{port}"),
        };
        let ready = (0..300).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            TcpStream::connect(&buckets.address).is_ok()
        });
        assert!(ready, "the server of buckets does not listen");
        let made = buckets.ask("PUT /files HTTP/1.1");
        assert!(made.starts_with("HTTP/1.1 200"), "{made}");
        buckets
    }

    fn ask(&self, line: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        let head = format!(
            "{line}\r\nhost: s3.amazonaws.com\r\nconnection: close\r\n{SIGNED}\r\ncontent-length: 0\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("sends");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
    }
}

/// A server of buckets, where there is one.
fn started() -> Option<Buckets> {
    let program = program();
    if program.is_none() {
        assert!(
            variable("TPLKIT_REQUIRE_MOTO").is_none(),
            "there is no moto_server"
        );
        // Not eprintln!, which the test runner keeps to itself when the test passes.
        let _ = writeln!(
            std::io::stderr(),
            "\n##  SKIPPED: no moto_server (TPLKIT_MOTO), no bucket was tried\n"
        );
    }
    program.map(|program| Buckets::start(&program))
}

#[test]
fn files_in_a_bucket_are_kept_read_and_verified() {
    let Some(buckets) = started() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let organization = owner(&database);
    let endpoint = format!("http://{}", buckets.address);
    let environment = [
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", &*endpoint),
    ];
    let place = ["--files", "s3://files/of/a-store"];
    // What was there before does not concern the store, and neither is what another one has below.
    let photo = "PUT /files/of/a-store/photos/a.jpg HTTP/1.1";
    buckets.ask(photo);
    let serving = Serving::start_with(&database, &place, &environment);
    let mut wire = Wire::new(&serving, "");
    let body = json!({"email": EMAIL, "password": SECRET});
    let (_, tokens) = wire
        .ask("POST", "/v1/auth/token", Some(&body))
        .expect("a response");
    let mut wire = Wire::new(&serving, tokens["access_token"].as_str().expect("a token"));
    let body = json!({"organization_id": organization, "label": "W"});
    let (_, workspace) = wire
        .ask("POST", "/v1/workspaces", Some(&body))
        .expect("a response");
    let workspace = workspace["id"].as_str().expect("an id").to_owned();
    let upload = format!("/v1/files?workspace_id={workspace}&name=f");
    // The larger one goes in parts.
    for size in [10, 12_000_000] {
        let text = json!("x".repeat(size));
        let (status, file) = wire.ask("POST", &upload, Some(&text)).expect("a response");
        assert_eq!(status, 201, "{file}");
        let content = format!("/v1/files/{}/content", file["id"].as_str().expect("an id"));
        let (status, read) = wire.ask("GET", &content, None).expect("a response");
        assert!(status == 200 && read == text, "{status}");
    }
    let listed = buckets.ask("GET /files?list-type=2 HTTP/1.1");
    assert!(
        listed.contains("of/a-store/tplkit-store") && listed.contains(&organization),
        "{listed}"
    );
    assert!(!listed.contains("of/a-store/uploads"), "{listed}");
    let verify = |more: &[&str]| {
        let mut command = command(&["admin", "verify-files", "--database", &database]);
        command.args(place).args(more).envs(environment);
        let output = command.output().expect("ends");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    for name in ["tplkit-store", "stray"] {
        buckets.ask(&format!("PUT /files/of/a-store/below/{name} HTTP/1.1"));
    }
    let fine = json!({"checked": 2, "missing": [], "damaged": [], "left_over": [], "repaired": 0});
    assert_eq!(verify(&[]), fine);
    // What a killed process leaves in parts is given up; what another store has is none of ours.
    let begin = |name: &str| {
        let begun = buckets.ask(&format!("POST /files/{name}?uploads HTTP/1.1"));
        assert!(begun.contains("<UploadId>"), "{begun}");
    };
    begin("of/a-store/uploads/0198");
    begin("of/another/uploads/0198");
    begin("of/a-store/below/uploads/0198");
    let mut left = fine.clone();
    left["left_over"] = json!([{"key": "uploads/0198", "size": 0}]);
    assert_eq!(verify(&[]), left);
    left["repaired"] = json!(1);
    assert_eq!(verify(&["--repair"]), left);
    assert_eq!(verify(&[]), fine);
    let open = buckets.ask("GET /files?uploads HTTP/1.1");
    assert!(open.contains("of/another/uploads/0198"), "{open}");
    assert!(open.contains("of/a-store/below/uploads/0198"), "{open}");
    let listed = buckets.ask("GET /files?list-type=2 HTTP/1.1");
    for name in ["photos/a.jpg", "below/stray"] {
        assert!(listed.contains(&format!("of/a-store/{name}")), "{listed}");
    }
}
