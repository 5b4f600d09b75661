//! The command as a process, for the tests that start, watch and stop it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
#[cfg(unix)]
use std::process::ChildStderr;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tplkit-server"));
    command.args(arguments).stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command starts")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

pub(crate) fn database(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("test.db").display())
}

/// A variable that says how a test is to run.
pub(crate) fn variable(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever starts the tests says how long they may take"
    )]
    std::env::var(name).ok()
}

/// Runs an `admin` command and gives the record that it prints.
pub(crate) fn admin(database: &str, arguments: &[&str], input: &str) -> Result<Value, Output> {
    let mut child = command(&["admin"])
        .args(arguments)
        .args(["--database", database])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // A command that refuses its arguments does not read.
    let _ = pipe.write_all(input.as_bytes());
    drop(pipe);
    let output = child.wait_with_output().expect("ends");
    if !output.status.success() {
        return Err(output);
    }
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    Ok(serde_json::from_str(&text).expect("JSON"))
}

/// Who [`owner`] makes.
pub(crate) const EMAIL: &str = "owner@acme.test";
pub(crate) const SECRET: &str = "correct horse";

/// An owner who can sign in; gives the organization.
pub(crate) fn owner(database: &str) -> String {
    let made = admin(database, &["create-organization", "--label", "Acme"], "");
    let made = made.expect("a record");
    let organization = made["id"].as_str().expect("an id").to_owned();
    let create = ["create-user", "--email", EMAIL, "--password-stdin"];
    admin(database, &create, SECRET).expect("a record");
    let add = [
        "add-member",
        "--organization",
        &organization,
        "--email",
        EMAIL,
        "--role",
        "owner",
    ];
    admin(database, &add, "").expect("a record");
    organization
}

fn spawn(mut command: Command) -> Child {
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().expect("starts")
}

/// The first line that a program prints.
fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let mut printed = BufReader::new(child.stdout.take().expect("a pipe"));
    printed.read_line(&mut line).expect("a line");
    line
}

/// A running server, killed when the test ends before it does.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// What it has logged so far.
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Serving {
    pub(crate) fn start(database: &str) -> Serving {
        Serving::start_with(database, &[], &[])
    }

    /// With further arguments and environment variables.
    pub(crate) fn start_with(
        database: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Serving {
        let mut command = command(&["serve", "--listen", "127.0.0.1:0", "--database", database]);
        command.args(arguments).envs(environment.iter().copied());
        Serving::of(command)
    }

    /// With so many KiB of memory of its own, and not more.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_within(database: &str, memory: u64, arguments: &[&str]) -> Serving {
        let server = env!("CARGO_BIN_EXE_tplkit-server");
        let limited = format!("ulimit -d {memory} && exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command
            .args(["-c", &limited, server, "serve"])
            .args(["--listen", "127.0.0.1:0", "--database", database])
            .args(arguments)
            .stdin(Stdio::null());
        Serving::of(command)
    }

    /// Of a command that serves.
    pub(crate) fn of(command: Command) -> Serving {
        let mut child = spawn(command);
        let log = Arc::new(Mutex::new(String::new()));
        // Lines that nobody reads are lost, sooner or later.
        let (mut pipe, written) = (child.stderr.take().expect("a pipe"), log.clone());
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..length]);
                written.lock().expect("whole").push_str(&text);
            }
        });
        let line = first_line(&mut child);
        let address = line.trim_end().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("{line:?} {}", log.lock().expect("whole")));
        Serving {
            address: address.to_owned(),
            child,
            log,
            reader: Some(reader),
        }
    }

    /// Of a command that serves, with the pipe that it logs to: nobody reads that yet.
    #[cfg(unix)]
    pub(crate) fn unread(command: Command) -> (Serving, ChildStderr) {
        let mut child = spawn(command);
        let line = first_line(&mut child);
        let address = line.trim_end().strip_prefix("listening on http://");
        let pipe = child.stderr.take().expect("a pipe");
        let serving = Serving {
            address: address.expect("an address").to_owned(),
            child,
            log: Arc::default(),
            reader: None,
        };
        (serving, pipe)
    }

    /// Sends a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.expect("kill exists").success());
    }

    /// Waits for its end, and gives exit code and log.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("ends").code();
        self.reader.take().map(JoinHandle::join);
        (code, self.log())
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().expect("whole").clone()
    }

    /// Waits until it has logged that.
    pub(crate) fn wait_for(&self, words: &str) {
        while !self.log().contains(words) {
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// A whole request on a connection of its own, and its response.
    pub(crate) fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        stream.write_all(request.as_bytes()).expect("sends");
        read_response(stream)
    }

    /// Asks as somebody, and gives status and document, whatever they are.
    #[cfg(unix)]
    pub(crate) fn request(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> (u16, Value) {
        let length = body.len();
        let response = self.ask(&format!(
            "{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
             authorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
        let status = response.get(9..12).and_then(|status| status.parse().ok());
        let (_, document) = response.split_once("\r\n\r\n").expect("a response");
        (
            status.expect("a status"),
            serde_json::from_str(document).unwrap_or_default(),
        )
    }

    pub(crate) fn get(&self, path: &str) -> String {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"
        ))
    }

    /// Opens a request and leaves its body out.
    pub(crate) fn open(&self, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sends");
        stream
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn read_response(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("a response");
    text
}
