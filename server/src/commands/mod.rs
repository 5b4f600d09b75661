//! What the command can do. Results go to standard output, everything else to standard error.

mod admin;
mod admin_run;
mod completions;
mod examples;
mod files;
mod health;
mod log_queue;
mod logs;
mod man;
mod migrate;
mod process;
mod serve;
mod signals;
mod test;
mod worker;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use serde::Serialize;
use tplkit::definitions::Definitions;
use tplkit::printable;
use tplkit_server::api;
use tplkit_server::context::{Context, SystemClock};
use tplkit_server::files::claim_storage::MarkError;
use tplkit_server::package_tests::DeclaredError;
use tplkit_server::refusal::Refusal;
use tplkit_server::store::StoreError;

use examples::examples;
use log_queue::{DRAIN_TIMEOUT, LogQueue};

/// The store that ends with its process.
const IN_MEMORY: &str = "sqlite::memory:";

/// The multi-tenant /v1 API over template packages.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
#[command(after_long_help = examples("", &[
        ("Try it: a store in memory with a workspace in it",
         "tplkit-server serve --demo"),
        ("Bring the store in tplkit.db up to date",
         "tplkit-server migrate"),
    ]))]
pub(crate) struct Arguments {
    #[arg(
        help = "The store: sqlite:FILE, sqlite::memory: or postgres://… [default: sqlite:tplkit.db; of serve --demo: sqlite::memory:]"
    )]
    #[arg(long, global = true, value_name = "URL", env = "TPLKIT_DATABASE_URL")]
    #[arg(hide_env_values = true)]
    database: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Migrates the store and serves the API until it is stopped.
    Serve(serve::Arguments),
    /// Does the background tasks alone, next to servers of the same PostgreSQL store.
    Worker(worker::Arguments),
    /// Brings the store up to date and ends.
    #[command(after_long_help = examples("", &[
            ("Bring the store in tplkit.db up to date",
             "tplkit-server migrate"),
            ("Make another store",
             "tplkit-server migrate --database sqlite:other.db"),
        ]))]
    Migrate(migrate::Arguments),
    /// Asks a running server whether it can serve requests: exit code 0 when it can, else 1.
    Health(health::Arguments),
    /// Prints the OpenAPI document of the API that this program serves.
    #[command(after_long_help = examples("", &[
            ("Write it to a file",
             "tplkit-server openapi > openapi.json"),
            ("List the paths of templates",
             "tplkit-server openapi | grep /v1/templates"),
        ]))]
    Openapi,
    /// Carries out the tests of a package that standard input has, on a throw-away store: what `tplkit test --server`
    /// starts.
    ///
    /// Goes in: one JSON document with the package and its tests. Comes out: one with what came of each. The store
    /// is a SQLite file in a temporary folder, which is gone at the end. Nothing is sent anywhere.
    #[command(after_long_help = examples("", &[
            ("Let the command line write the document",
             "tplkit test inventory.json --server"),
            ("Carry out tests that were written down",
             "tplkit-server test < tests.json"),
        ]))]
    Test,
    /// Creates organizations, people and connections, and says which automations fire, next to a running
    /// server too.
    #[command(subcommand)]
    #[command(after_long_help = examples("", &[
            ("Create the first organization",
             "tplkit-server admin create-organization --label Acme"),
            ("List who can sign in",
             "tplkit-server admin list-users"),
        ]))]
    Admin(admin::AdminCommand),
    /// Prints the completion script of a shell.
    Completions(completions::Arguments),
    /// Prints the manual page of the program or of one command.
    Man(man::Arguments),
}

/// Why a command ended without doing its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("cannot listen on {address}: {error}")]
    Listen { address: String, error: io::Error },
    /// The arguments make no sense; exit code 2.
    #[error("{0}")]
    Usage(String),
    #[error("{}", .0.cause())]
    Refused(Refusal),
    #[error(transparent)]
    Declared(#[from] DeclaredError),
    #[error(transparent)]
    Files(#[from] MarkError),
    /// A command did its work, and nobody knows what came of it.
    #[error(
        "this was done, but standard output does not take the record ({error}); do not do it again: {record}"
    )]
    Unprinted { error: io::Error, record: String },
    /// What a command was to find out.
    #[error("{0}")]
    Found(String),
    #[error("{address} is not ready: {why}")]
    NotReady { address: String, why: String },
    /// Stopped twice.
    #[error("stopped before everything had ended")]
    Interrupted,
}

impl Arguments {
    /// Of the command line and the environment, where a variable that is set to nothing is not set.
    pub(crate) fn read() -> Arguments {
        let matches = without_empty_variables(Arguments::command()).try_get_matches();
        let read = matches.and_then(|matches| {
            let read = Arguments::from_arg_matches(&matches);
            read.map_err(|error| error.format(&mut Arguments::command()))
        });
        read.unwrap_or_else(|error| show_and_exit(&error))
    }
}

/// Shows help, the version, or what is wrong with the arguments, and ends the process. Help that cannot be written is a
/// failure; a reader who has left has read enough.
fn show_and_exit(shown: &clap::Error) -> ! {
    let written = shown.print().and_then(|()| io::stdout().flush());
    if let Err(error) = written
        && !shown.use_stderr()
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        // Where this cannot be written either, the exit code says it.
        let _ = writeln!(
            io::stderr(),
            "error: cannot write to standard output: {error}"
        );
        std::process::exit(1);
    }
    std::process::exit(shown.exit_code())
}

fn without_empty_variables(command: clap::Command) -> clap::Command {
    let keep = |arg: clap::Arg| {
        let value = arg.get_env().and_then(variable);
        if value.is_some_and(|value| value.is_empty()) {
            arg.env(None::<&'static str>)
        } else {
            arg
        }
    };
    command
        .mut_args(keep)
        .mut_subcommands(without_empty_variables)
}

impl Command {
    /// The store where none is named. A demonstration leaves nothing behind and can be started again.
    fn default_database(&self) -> &'static str {
        match self {
            Command::Serve(options) if options.demo => IN_MEMORY,
            _ => "sqlite:tplkit.db",
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

/// Bytes of the stack of a thread, of which only those are taken that are used. A plan runs the executor behind a request:
/// many futures in one another, which took 2 MiB without optimization.
const STACK: usize = 8 << 20;

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let log = LogQueue::default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .build();
    let done = runtime.map_err(Failure::from).and_then(|runtime| {
        let done = runtime.block_on(dispatch(arguments, &log));
        // Whatever is left was cut off knowingly.
        runtime.shutdown_background();
        done
    });
    match done {
        Ok(()) => {
            log.drain(DRAIN_TIMEOUT);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let message = format!("error: {failure}{}\n", help(&failure));
            log.end_with(&printable::lines(&message));
            match failure {
                Failure::Interrupted => ExitCode::from(130),
                Failure::Usage(_)
                | Failure::Store(StoreError::Url(_) | StoreError::Address(..)) => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

async fn dispatch(arguments: Arguments, log: &LogQueue) -> Result<(), Failure> {
    let Arguments { database, command } = arguments;
    let database = database.unwrap_or_else(|| command.default_database().to_owned());
    let context = Context::new(Arc::new(SystemClock));
    match command {
        Command::Serve(options) => Box::pin(serve::run(&database, context, options, log)).await,
        Command::Worker(options) => worker::run(&database, context, options, log).await,
        Command::Openapi => {
            let document = api::document(Definitions::embedded());
            let text = serde_json::to_string_pretty(&document).map_err(io::Error::from)?;
            Ok(writeln!(io::stdout(), "{text}")?)
        }
        Command::Health(options) => health::run(options).await,
        Command::Test => test::run().await,
        Command::Migrate(options) => migrate::run(&database, &options).await,
        Command::Admin(command) => admin_run::run(&database, &context, command).await,
        Command::Completions(options) => completions::run(&options),
        Command::Man(options) => man::run(&options),
    }
}

/// An environment variable.
fn variable(name: impl AsRef<OsStr>) -> Option<OsString> {
    #[expect(
        clippy::disallowed_methods,
        reason = "commands are where the environment is read"
    )]
    std::env::var_os(name)
}

/// Prints a record.
fn print(record: &impl Serialize) -> Result<(), Failure> {
    Ok(writeln!(io::stdout(), "{}", line(record)?)?)
}

/// Prints the record of something that was done: it has to be known, or somebody does it twice.
fn print_done(record: &impl Serialize) -> Result<(), Failure> {
    let record = line(record)?;
    let printed = writeln!(io::stdout(), "{record}");
    printed.map_err(|error| Failure::Unprinted { error, record })
}

/// A record as one line. Names in it are texts of tenants, and whoever reads them may sit at a terminal.
fn line(record: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(record).map_err(io::Error::from)?;
    Ok(printable::json(&text))
}

/// What to do about a failure whose message does not say it.
fn help(failure: &Failure) -> &'static str {
    match failure {
        Failure::Store(StoreError::Unavailable(_) | StoreError::TurnedAway(_)) => {
            "\n  help: check `--database` (or TPLKIT_DATABASE_URL), and that the database runs and may be reached"
        }
        _ => "",
    }
}
