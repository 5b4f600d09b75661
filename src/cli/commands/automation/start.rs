//! `tplkit automation start`: begins a run on a server and waits for its end.

use std::fmt::Write as _;

use jiff::SignedDuration;
use serde_json::json;
use tplkit::client::{AutomationRun, Client, Error, RunFailure, WithDocument};
use tplkit::printable;
use tplkit::problem::Code;

use super::find::SearchArgs;
use super::show::operator_line;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::interrupt_message;
use crate::cli::job_progress::{Poll, Polled, duration};
use crate::cli::output::{print_note, write_result};
use crate::cli::resume_hint::{self, ResumeHint};
use crate::cli::session::Session;
use crate::cli::shell_word::shell_word;

/// Start an automation of a server, and wait for the end of the run.
///
/// Prints the id of the run first. Only an active automation starts; `--dry-run` works with any, and keeps
/// nothing. The run continues on the server when this command ends early.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Try an automation, without side effects", "tplkit automation start \"Thank the customer\" --workspace $WORKSPACE --dry-run"),
    ("Try it, and get the run as JSON", "tplkit automation start \"Thank the customer\" --workspace $WORKSPACE --dry-run --format json"),
]))]
pub(super) struct Args {
    /// The automation: its id, or its name in the workspace.
    #[arg(value_name = "NAME|ID")]
    automation: String,
    /// Run it for this row.
    #[arg(long, value_name = "ID")]
    row: Option<String>,
    /// The table of the row, by id; needed where the trigger names none.
    #[arg(long, value_name = "ID", requires = "row")]
    table: Option<String>,
    /// Keep nothing: writes are rolled back, calls to the outside are stubbed.
    #[arg(long)]
    dry_run: bool,
    /// Wait at most this long, for example `90s`, `10m` or `1h`. After that the run continues, and the exit
    /// code is 69.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    wait: Option<SignedDuration>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    search: SearchArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let opened = args.search.open(session)?;
    let client = opened.client();
    let automation = opened.automation(&args.automation, session)?;
    let mut body = json!({"dry_run": args.dry_run});
    for (name, value) in [("row_id", &args.row), ("feature_id", &args.table)] {
        if let Some(value) = value {
            body[name] = json!(value);
        }
    }
    let started = client.start_run(&automation, &body);
    let started = started.map_err(|error| refused(client, &automation, error))?;
    let id = printable::line(&started.record.id);
    let hint = ResumeHint::Run(automation);
    resume_hint::leave(&hint, args.format);
    if args.format == Form::Text {
        let written = write_result(&format!("{id}\n"), None);
        written.map_err(|error| hint.of(error))?;
    }
    let mut shown = String::new();
    let polled = Poll::new(session, args.wait).until(
        "the run",
        || client.run(&id),
        |run| {
            let status = printable::line(&run.record.status);
            if run.record.ended().is_none() && status != shown {
                session.note(format!("{status}…"));
                shown = status;
            }
            run.record.ended().is_some()
        },
    );
    let polled = polled.map_err(|error| hint.of(error))?;
    interrupt_message::leave(None);
    conclude(args, &id, &polled)
}

/// Only what is active starts, and nobody becomes active over the API.
fn refused(client: &Client, automation: &str, error: Error) -> CliError {
    let inactive = match &error {
        Error::Refused(problem) => problem.is(Code::NoActiveVersion),
        _ => false,
    };
    if !inactive {
        return error.into();
    }
    let line = client.automation(automation);
    let line = line.map(|found| operator_line(&found.record));
    let line = line.unwrap_or_else(|_| "tplkit-server admin automation activate ID".to_owned());
    CliError::Explained {
        source: Box::new(error),
        help: format!(
            "an operator of the server activates it: `{line}`; `--dry-run` tries it without that"
        ),
    }
}

fn conclude(
    args: &Args,
    id: &str,
    polled: &Polled<WithDocument<AutomationRun>>,
) -> Result<Exit, CliError> {
    let (Polled::Ended(run) | Polled::Elapsed(run)) = polled;
    let exit = match run.record.ended() {
        Some(true) => Exit::Done,
        Some(false) => Exit::Findings,
        None => Exit::Running,
    };
    let text = match args.format {
        Form::Text => report(&run.record),
        Form::Json => {
            let outcome = match exit {
                Exit::Done => "clean",
                Exit::Findings => "findings",
                _ => "failed",
            };
            let (id, status) = (json!(id), json!(run.record.status));
            let (id, status) = (document::raw(&id), document::raw(&status));
            let members = [
                ("run_id", &*id),
                ("status", &*status),
                ("run", &*run.document),
            ];
            document::write_raw(outcome, &members)
        }
    };
    write_result(&text, None)?;
    match exit {
        Exit::Findings => {
            let why = run.record.error.as_ref().map(failure).unwrap_or_default();
            print_note(&printable::line(&format!("error: the run failed{why}")));
        }
        Exit::Running => print_note(&format!(
            "error: run {id} still runs ({})\n  help: it goes on; `tplkit automation runs {}` shows how it ends",
            printable::line(&run.record.status),
            shell_word(&printable::line(&args.automation))
        )),
        _ => {}
    }
    Ok(exit)
}

/// A run with its steps.
fn report(run: &AutomationRun) -> String {
    let mut out = format!("{}\n", printable::line(&run.status));
    for step in &run.steps {
        let why = step.error.as_ref().map(failure).unwrap_or_default();
        let line = format!("{}  {}  {}{why}", step.path, step.key, step.status);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {}", printable::line(&line));
    }
    out
}

fn failure(failure: &RunFailure) -> String {
    match &failure.detail {
        Some(detail) => format!(": {detail} ({})", failure.code),
        None => format!(": {}", failure.code),
    }
}
