//! The same tests on a store: `tplkit-server test` carries them out, in a process of its own.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use tplkit::package_tests::{SuiteOutcome, TestOutcome, TestSuite};
use tplkit::printable;

use crate::cli::error::CliError;

const PROGRAM: &str = "tplkit-server";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const HELP: &str =
    "install both programs of one release, as README.md says, or leave `--server` out";

/// The server that carries tests out: next to this program, else in PATH, and of the same version.
pub(super) fn find() -> Result<PathBuf, CliError> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let own = env::current_exe().ok();
    let own = own.as_deref().and_then(Path::parent);
    #[expect(
        clippy::disallowed_methods,
        reason = "where programs are is said by the environment"
    )]
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = own.map(Path::to_owned).into_iter();
    let found = folders
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file());
    let found = found.ok_or_else(|| {
        let own_folder = own.map_or_else(String::new, |own| {
            format!(" in `{}` next to this program, nor", printable::path(own))
        });
        failed(format!("there is no `{PROGRAM}`:{own_folder} in PATH"))
    })?;
    check_version(&found)?;
    Ok(found)
}

/// Two versions may mean different things by one test.
fn check_version(program: &Path) -> Result<(), CliError> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| cannot(program, &error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().next_back().unwrap_or_default();
    if output.status.success() && version == VERSION {
        return Ok(());
    }
    let message = format!(
        "`{}` is version {}, and this program is version {VERSION}",
        printable::path(program),
        printable::line(if version.is_empty() {
            "unknown"
        } else {
            version
        })
    );
    Err(failed(message))
}

/// Carries tests out; gives an outcome for each.
pub(super) fn run(program: &Path, suite: &TestSuite) -> Result<Vec<TestOutcome>, CliError> {
    let text = serde_json::to_vec(suite).map_err(|error| cannot(program, &error.to_string()))?;
    let output = fed(program, text).map_err(|error| cannot(program, &error.to_string()))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        let why = why.trim().trim_start_matches("error: ");
        let why = if why.is_empty() {
            output.status.to_string()
        } else {
            why.to_owned()
        };
        return Err(cannot(program, &why));
    }
    let outcome: SuiteOutcome = serde_json::from_slice(&output.stdout)
        .map_err(|error| cannot(program, &error.to_string()))?;
    if outcome.tests.len() != suite.tests.len() {
        return Err(cannot(program, "not every test has an outcome"));
    }
    Ok(outcome.tests)
}

fn fed(program: &Path, input: Vec<u8>) -> std::io::Result<Output> {
    let mut child = Command::new(program)
        .arg("test")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdin = child.stdin.take();
    let writer = thread::spawn(move || {
        // A program that ends early says why.
        stdin.map(|mut stdin| stdin.write_all(&input))
    });
    let output = child.wait_with_output();
    let _ = writer.join();
    output
}

fn cannot(program: &Path, why: &str) -> CliError {
    let program = printable::path(program);
    CliError::Usage {
        message: format!(
            "`{program}` did not carry the tests out: {}",
            printable::line(why)
        ),
        help: "run the tests without `--server` to see whether it is the reason".to_owned(),
    }
}

fn failed(message: String) -> CliError {
    CliError::Usage {
        message,
        help: HELP.to_owned(),
    }
}
