//! A folder of its own per test, and the binary run inside it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A fixture of the sample packages.
pub(crate) fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/cases")
        .join(name)
}

/// A small package without findings, indented.
pub(crate) fn tiny() -> String {
    let text = fs::read_to_string(case("valid/base-tiny.json")).expect("fixture");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    serde_json::to_string_pretty(&value).expect("JSON")
}

/// The small package with one warning (M003) and one error (M001).
pub(crate) fn faulty() -> String {
    tiny().replacen(
        "\"name\": \"vendas\",",
        "\"name\": \"vendas\",\n    \"scope\": \"everywhere\",\n    \"semver\": \"one\",",
        1,
    )
}

/// The small package with one warning (M003) only.
pub(crate) fn warned() -> String {
    tiny().replacen(
        "\"name\": \"vendas\",",
        "\"name\": \"vendas\",\n    \"semver\": \"one\",",
        1,
    )
}

/// A package with one finding that has a safe fix: an item of another kind than rows has a count.
pub(crate) fn fixable() -> String {
    tiny().replacen(
        "\"label\": \"Notes\"",
        "\"label\": \"Notes\",\n        \"count\": 1",
        1,
    )
}

/// A folder of its own.
pub(crate) struct Place {
    pub(crate) dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place {
            dir: TempDir::new().expect("folder"),
        }
    }

    /// With files; folders are made as needed.
    pub(crate) fn with(files: &[(&str, &str)]) -> Place {
        let place = Place::new();
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("write");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("read")
    }

    /// The binary, not yet started, in this folder.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tplkit"));
        command.current_dir(self.dir.path()).args(words);
        for variable in [
            "NO_COLOR",
            "CLICOLOR",
            "CLICOLOR_FORCE",
            "RUST_BACKTRACE",
            "TPLKIT_URL",
            "TPLKIT_TOKEN",
            "TPLKIT_PROFILE",
            "TPLKIT_WORKSPACE",
            "HTTP_PROXY",
            "http_proxy",
            "ALL_PROXY",
            "all_proxy",
        ] {
            command.env_remove(variable);
        }
        command.env("HOME", self.dir.path());
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        Ran::from(
            self.command(words)
                .stdin(Stdio::null())
                .output()
                .expect("run"),
        )
    }

    /// With a text on standard input.
    pub(crate) fn feed(&self, words: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(words);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("start");
        let mut stdin = child.stdin.take().expect("stdin");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("run");
        // The child may end without reading all of it.
        writer.join().expect("thread").ok();
        Ran::from(output)
    }
}

/// Runs a command whose standard output nobody reads from its first byte on.
pub(crate) fn unread(mut command: Command) -> Ran {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    command.stdin(Stdio::null()).stdout(writer);
    Ran::from(command.output().expect("run"))
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let parsed = serde_json::from_str(&self.out);
        parsed
            .unwrap_or_else(|error| panic!("{error}\nstdout:\n{}\nstderr:\n{}", self.out, self.err))
    }
}
