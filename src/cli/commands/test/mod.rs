//! `tplkit test`: the tests that the author of a package declares.

mod find;
mod read;
mod render;
mod server;
mod snapshot;

use std::path::PathBuf;

use clap::ValueEnum;
use tplkit::apply::{Refusal, check_base};
use tplkit::check::{CheckOptions, Checked, NotChecked};
use tplkit::context::Clock as _;
use tplkit::definitions::Definitions;
use tplkit::package_tests::{
    self, SCHEMA_VERSION, SuiteTest, TestFailure, TestOutcome, TestSetup, TestSuite,
};
use tplkit::printable;
use tplkit::workspace::memory::State;

use crate::cli::args::Form;
use crate::cli::destination;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::package_file::{self, PackageFile};
use crate::cli::session::{Session, SystemClock};
use read::TestFile;

/// Run the tests that a package declares: what an apply makes, and what its automations do.
///
/// Tests are TOML files in the folder `tests` next to the package, or in an unpacked one. For each the package is
/// applied in memory, applied again, and undone; automations run as on a server, and send nothing. With `--server` the
/// same happens on a store: `tplkit-server` makes one for each test, and removes it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Run the tests of a package", "tplkit test inventory.json --tests tests/inventory"),
    ("Run them in CI, and fail when there are none", "tplkit test inventory.json --tests tests/inventory --require-tests --format junit"),
    ("Run them on a store that is thrown away", "tplkit test inventory.json --tests tests/inventory --server"),
]))]
pub(crate) struct Args {
    /// The package: a file or an unpacked folder.
    #[arg(value_name = "PKG|DIR")]
    package: PathBuf,
    /// Folder with the tests, instead of `tests` next to the package or in an unpacked one.
    #[arg(long, value_name = "DIR")]
    tests: Option<PathBuf>,
    /// Run them on a throw-away SQLite store, by `tplkit-server` next to this program or in PATH.
    #[arg(long)]
    server: bool,
    /// Write what each test reports to `NAME.snap` next to it; later runs compare it.
    #[arg(long)]
    update: bool,
    /// Exit with 1 when there is no test.
    #[arg(long)]
    require_tests: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Format,
}

/// Forms of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text to read.
    Text,
    /// One JSON document.
    Json,
    /// JUnit XML.
    Junit,
}

/// What came of a test.
#[derive(Debug)]
struct FinishedTest {
    file: PathBuf,
    name: String,
    failures: Vec<TestFailure>,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let definitions = Definitions::embedded();
    let options = CheckOptions {
        definitions,
        ..CheckOptions::default()
    };
    let source = package_file::read(&args.package)?;
    let (text, package) = match package_file::checked(&source, &options) {
        Ok(checked) => checked,
        Err(report) => {
            session.note("error: only a package that checks without errors can be tested");
            let form = match args.format {
                Format::Json => Form::Json,
                Format::Text | Format::Junit => Form::Text,
            };
            return package_file::refuse(&report, form, session);
        }
    };
    let folder = find::folder(args.tests.as_deref(), &source);
    let files = find::tests(&folder, args.tests.is_some())?;
    let now = SystemClock.now();
    // Everything is read before anything runs.
    let tests = files.iter().map(|file| TestFile::read(file, &package, now));
    let tests: Vec<TestFile> = tests.collect::<Result<_, _>>()?;
    let server = args.server.then(server::find).transpose()?;
    let tests = tests
        .into_iter()
        .map(|test| ReadTest::read(test, &package, &options));
    let tests: Vec<ReadTest> = tests.collect::<Result<_, _>>()?;
    let outcomes = match server {
        Some(server) => server::run(&server, &suite(text, &tests))?,
        None => tests
            .iter()
            .map(|test| test.in_memory(&package, text, &options))
            .collect::<Result<_, _>>()?,
    };
    let mut tested = Vec::new();
    for (ReadTest { test, .. }, mut outcome) in tests.into_iter().zip(outcomes) {
        if let Some(report) = &outcome.report {
            let kept = snapshot::compare(&test.file, report, args.update)?;
            outcome.failures.extend(kept);
        }
        tested.push(FinishedTest {
            name: test.name,
            file: test.file,
            failures: outcome.failures,
        });
    }
    if tested.is_empty() {
        session.note(format!(
            "note: there are no tests in `{}`",
            printable::path(&folder)
        ));
    }
    let failed = tested.iter().any(|test| !test.failures.is_empty());
    let exit = if failed || (tested.is_empty() && args.require_tests) {
        Exit::Findings
    } else {
        Exit::Done
    };
    let text = match args.format {
        Format::Text => render::text(&tested),
        Format::Json => render::json(&tested, exit),
        Format::Junit => render::junit(&args.package, &tested, now),
    };
    write_result(&text, None)?;
    Ok(exit)
}

/// A test with what its file names.
struct ReadTest {
    test: TestFile,
    destination: State,
    base: Option<PackageFile>,
}

impl ReadTest {
    fn read(
        test: TestFile,
        package: &Checked<'_>,
        options: &CheckOptions<'_>,
    ) -> Result<ReadTest, CliError> {
        let destination = destination::read(test.destination.as_deref(), options.definitions)?;
        let base = test.base.as_deref().map(package_file::read).transpose()?;
        let read = ReadTest {
            test,
            destination,
            base,
        };
        if let Some(base) = read.checked_base(options)? {
            check_base(package, &base).map_err(|refusal| unrelated_base(&read.test, &refusal))?;
        }
        Ok(read)
    }

    fn checked_base(&self, options: &CheckOptions<'_>) -> Result<Option<Checked<'_>>, CliError> {
        let checked = self.base.as_ref().map(|base| base.checked(options));
        let checked = checked.transpose();
        checked.map_err(|error| no_base(&self.test, &error))
    }

    fn in_memory(
        &self,
        package: &Checked<'_>,
        text: &str,
        options: &CheckOptions<'_>,
    ) -> Result<TestOutcome, CliError> {
        let base = self.checked_base(options)?;
        let setup = TestSetup {
            package,
            text,
            base: base.as_ref(),
            destination: &self.destination,
            definitions: options.definitions,
        };
        Ok(package_tests::check(&self.test.declared, setup))
    }
}

/// The tests for another program.
fn suite(package: &str, tests: &[ReadTest]) -> TestSuite {
    let test = |read: &ReadTest| SuiteTest {
        destination: read.destination.clone(),
        base: read
            .base
            .as_ref()
            .and_then(|base| base.text().ok())
            .map(str::to_owned),
        test: read.test.declared.clone(),
    };
    TestSuite {
        schema_version: SCHEMA_VERSION,
        package: package.to_owned(),
        tests: tests.iter().map(test).collect(),
    }
}

fn unrelated_base(test: &TestFile, refusal: &Refusal) -> CliError {
    let base = test.base.as_deref().map(printable::path);
    CliError::Usage {
        message: format!(
            "`{}`: the base `{}` is another package (`{}`)",
            printable::path(&test.file),
            base.unwrap_or_default(),
            refusal.code
        ),
        help: "name an earlier version of the package: one of the same `manifest.id`, or without an id of the same name".to_owned(),
    }
}

fn no_base(test: &TestFile, error: &NotChecked) -> CliError {
    let base = test.base.as_deref().map(printable::path);
    CliError::Usage {
        message: format!(
            "`{}`: the base `{}` cannot be applied: {error}",
            printable::path(&test.file),
            base.unwrap_or_default()
        ),
        help: "name a package that checks without errors".to_owned(),
    }
}
