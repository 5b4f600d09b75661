//! `tplkit files` against a real server, over connections that break.

use std::fs;
use std::io::{self, Read, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::kill::{Wire, signed_in};
use crate::process::{Serving, database, owner, stderr, stdout};
use crate::sessions::built_programs;

/// Bytes of the file: more than a connection has in flight, and worth a word of progress.
const SIZE: usize = 8 << 20;
/// What a broken connection carries.
const CARRIED: u64 = 1 << 20;

/// What comes between client and server.
struct Proxy {
    url: String,
    connections: Arc<AtomicUsize>,
}

/// Which way a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Up,
    Down,
}

impl Proxy {
    /// Cuts that many connections after so many bytes, and then none.
    fn cutting(server: &Serving, cut: Cut, times: usize) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let connections = Arc::new(AtomicUsize::new(0));
        let (count, to) = (Arc::clone(&connections), server.address.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&to).expect("connects");
                let number = count.fetch_add(1, Ordering::SeqCst);
                let carried = |way| {
                    if way == cut && number < times {
                        CARRIED
                    } else {
                        u64::MAX
                    }
                };
                carry(&client, &server, carried(Cut::Up));
                carry(&server, &client, carried(Cut::Down));
            }
        });
        Proxy { url, connections }
    }
}

/// Passes on at most that many bytes; then both ways are closed.
fn carry(from: &TcpStream, to: &TcpStream, most: u64) {
    let (from, mut to) = (
        from.try_clone().expect("a socket"),
        to.try_clone().expect("a socket"),
    );
    thread::spawn(move || {
        let mut limited = from.try_clone().expect("a socket").take(most);
        io::copy(&mut limited, &mut to).ok();
        to.flush().ok();
        if limited.limit() == 0 {
            from.shutdown(Shutdown::Both).ok();
            to.shutdown(Shutdown::Both).ok();
        } else {
            to.shutdown(Shutdown::Write).ok();
        }
    });
}

/// The program, in a folder and as somebody.
struct Cli {
    folder: tempfile::TempDir,
    program: PathBuf,
    token: String,
}

impl Cli {
    fn run(&self, url: &str, words: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        command
            .arg("files")
            .args(words)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("TPLKIT_URL", url)
            .env("TPLKIT_TOKEN", &self.token)
            .stdin(Stdio::null());
        command.output().expect("starts")
    }

    #[track_caller]
    fn exits(&self, url: &str, words: &[&str], code: i32) -> Output {
        let ran = self.run(url, words);
        assert_eq!(ran.status.code(), Some(code), "{words:?} {ran:?}");
        ran
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A server with a table that has a column of files, and a row in it.
struct Fixture {
    serving: Serving,
    wire: Wire,
    cli: Cli,
    workspace: String,
    rows: String,
    row: String,
}

fn root() -> PathBuf {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.expect("a root").to_owned()
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().expect("a folder");
        let database = database(folder.path());
        let organization = owner(&database);
        let serving = Serving::start_with(&database, &["--rate-limit", "off"], &[]);
        let mut wire = signed_in(&serving);
        let body = json!({"organization_id": organization, "label": "Shop"});
        let workspace = wire.made("/v1/workspaces", &body);
        let body = json!({"workspace_id": workspace, "label": "Things"});
        let feature = wire.made("/v1/features", &body);
        let columns = format!("/v1/features/{feature}/columns");
        let column = json!({"name": "photo", "label": "Photo", "type": "file"});
        wire.made(&columns, &column);
        let rows = format!("/v1/features/{feature}/rows");
        let row = wire.made(&rows, &json!({"data": {}}));
        let cli = Cli {
            program: built_programs(&root()).join("tplkit"),
            token: wire.token.clone(),
            folder,
        };
        Fixture {
            serving,
            wire,
            cli,
            workspace,
            rows,
            row,
        }
    }

    fn url(&self) -> String {
        format!("http://{}", self.serving.address)
    }

    /// Names of the files that the server has.
    fn files(&mut self) -> Vec<String> {
        let (_, page) = self.wire.ask("GET", "/v1/files", None).expect("a response");
        let items = page["items"].as_array().expect("a page");
        let names = items
            .iter()
            .map(|one| one["name"].as_str().expect("a name"));
        names.map(str::to_owned).collect()
    }
}

/// Bytes that repeat nowhere.
fn bytes() -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let words = (0..SIZE / 8).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.collect()
}

#[test]
fn files_survive_connections_that_break() {
    let mut fixture = Fixture::new();
    let bytes = bytes();
    fs::write(fixture.cli.path("photo.png"), &bytes).expect("writes");
    let workspace = fixture.workspace.clone();
    // The upload breaks twice, and is one file.
    let proxy = Proxy::cutting(&fixture.serving, Cut::Up, 2);
    let row = fixture.row.clone();
    let put = ["put", "photo.png", "--workspace", &workspace];
    let ran = fixture.cli.exits(&proxy.url, &put, 0);
    assert!(stderr(&ran).contains("uploading 8.00 MiB"), "{ran:?}");
    assert!(proxy.connections.load(Ordering::SeqCst) >= 3);
    assert_eq!(fixture.files(), ["photo.png"]);
    let file = stdout(&ran).trim_end().to_owned();
    // The download breaks once too often, stays, and goes on.
    let get = ["get", &file, "-o", "copy.png"];
    let cutting = Proxy::cutting(&fixture.serving, Cut::Down, usize::MAX);
    let ran = fixture.cli.exits(&cutting.url, &get, 5);
    assert!(stderr(&ran).contains("`copy.png.part` keeps"), "{ran:?}");
    assert!(stderr(&ran).contains("downloading 8.00 MiB"), "{ran:?}");
    let part = fs::read(fixture.cli.path("copy.png.part")).expect("a part");
    assert!(part.len() > 2 << 20 && part.len() < SIZE, "{}", part.len());
    assert_eq!(part, bytes[..part.len()]);
    let ran = fixture.cli.exits(&fixture.url(), &get, 0);
    assert!(stderr(&ran).contains("going on after"), "{ran:?}");
    assert!(fs::read(fixture.cli.path("copy.png")).expect("a file") == bytes);
    assert!(!fixture.cli.path("copy.png.part").exists());
    // Breaking three times is made good at once.
    let cutting = Proxy::cutting(&fixture.serving, Cut::Down, 3);
    let ran = fixture.cli.exits(&cutting.url, &["get", "photo.png"], 0);
    assert!(ran.stdout == bytes);
    // A cell takes it, and it stays.
    let url = fixture.url();
    let cell = [&put[..], &["--row", &row, "--column", "photo"]].concat();
    let ran = fixture
        .cli
        .exits(&url, &[&cell[..], &["--format", "json"]].concat(), 0);
    let document: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(document["row"]["data"]["photo"], document["file"]["id"]);
    let used = document["file"]["id"].as_str().expect("an id").to_owned();
    let ran = fixture.cli.exits(&url, &["list", "--attached"], 0);
    assert!(
        stdout(&ran).contains(&used) && !stdout(&ran).contains(&file),
        "{ran:?}"
    );
    fixture.cli.exits(&url, &["rm", &used, "--yes"], 1);
    fixture
        .cli
        .exits(&url, &["rm", &used, "--yes", "--force"], 0);
    // A row that takes nothing leaves nothing.
    let path = format!("{}/{row}", fixture.rows);
    fixture.wire.ask("DELETE", &path, None).expect("a response");
    let ran = fixture.cli.exits(&url, &cell, 1);
    assert!(stderr(&ran).contains("nothing was uploaded"), "{ran:?}");
    assert_eq!(fixture.files(), ["photo.png"]);
    fixture.cli.exits(&url, &["rm", &file, "--yes"], 0);
    fixture.cli.exits(&url, &["get", &file], 1);
}

#[test]
fn what_the_server_refuses_before_it_has_come_is_heard() {
    let fixture = Fixture::new();
    // A file with a hole in it: its bytes are nowhere.
    let sparse = fs::File::create(fixture.cli.path("huge.bin")).expect("a file");
    sparse.set_len(300 << 20).expect("is long");
    let put = ["put", "huge.bin", "--workspace", &fixture.workspace];
    let ran = fixture.cli.exits(&fixture.url(), &put, 1);
    assert!(stderr(&ran).contains("payload_too_large"), "{ran:?}");
}
