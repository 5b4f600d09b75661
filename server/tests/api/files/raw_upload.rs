//! Uploads that a test sends piece by piece, and servers that wait for them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use tplkit_server::app::Config;
use tplkit_server::files::Files;
use tplkit_server::files::settings::UploadPace;

use crate::api::client::{Client, Response};
use crate::api::world::World;

/// Limits that tests reach.
pub(super) fn small(max_file: u64) -> Config {
    let pace = UploadPace {
        idle: Duration::from_millis(400),
        window: Duration::from_millis(700),
        least: 100,
    };
    Config {
        rate: None,
        files: Files {
            max_file,
            pace,
            ..Files::default()
        },
        ..Config::default()
    }
}

/// Uploads wait for the test, however slow the machine is.
pub(super) fn patient() -> Config {
    let mut config = small(1000);
    (config.files.pace.idle, config.files.pace.window) =
        (Duration::from_secs(3600), Duration::from_secs(3600));
    config
}

/// Sends a body as a form with the boundary `XX`.
pub(super) fn form(client: &Client, path: &str, body: &str) -> Response {
    let headers = [("content-type", "multipart/form-data; boundary=XX")];
    client.send("POST", path, &headers, Some(body.as_bytes()))
}

/// Sends the head of an upload, with more headers, and leaves the body to the test.
pub(super) fn begin(client: &Client, path: &str, more: &str) -> TcpStream {
    let mut stream = TcpStream::connect(client.address()).expect("connects");
    let credential = client.credential().unwrap_or_default();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {credential}\r\n{more}\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sends");
    stream
}

/// The response to a head alone, whose client waits to be asked for the body.
pub(super) fn expecting(client: &Client, path: &str, more: &str) -> String {
    rest(begin(
        client,
        path,
        &format!("expect: 100-continue\r\n{more}"),
    ))
}

/// All that comes.
pub(super) fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

/// Waits until a key is reserved, and was last taken at that time.
pub(super) async fn is_reserved(world: &World, at: i64) {
    let sql = "SELECT created_at FROM idempotency WHERE status = 0";
    for _ in 0..2400 {
        let rows = world.sql(sql, vec![]).await;
        let mut taken = rows.iter().map(|row| row.get::<i64>(0).expect("a time"));
        if taken.any(|taken| taken == at) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("no key is reserved at {at}");
}

/// How many files there are.
pub(super) async fn objects(world: &World) -> usize {
    let sql = "SELECT id FROM files";
    world.sql(sql, vec![]).await.len()
}
