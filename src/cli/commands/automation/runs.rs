//! `tplkit automation runs`: the runs of an automation of a server.

use serde_json::value::RawValue;
use tplkit::client::{AutomationRun, WithDocument};
use tplkit::printable;

use super::find::SearchArgs;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::relative_time::moment;
use crate::cli::sections::columns;
use crate::cli::session::Session;

/// List the runs of an automation of a server, the newest last.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List the last runs", "tplkit automation runs \"Thank the customer\" --workspace $WORKSPACE"),
    ("List the last five as JSON", "tplkit automation runs \"Thank the customer\" --workspace $WORKSPACE --limit 5 --format json"),
]))]
pub(super) struct Args {
    /// The automation: its id, or its name in the workspace.
    #[arg(value_name = "NAME|ID")]
    automation: String,
    /// At most this many, of the newest.
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    search: SearchArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let opened = args.search.open(session)?;
    let id = opened.automation(&args.automation, session)?;
    let mut runs: Vec<WithDocument<AutomationRun>> = Vec::new();
    for page in opened.client().runs(&id, None) {
        runs.extend(page?.items);
    }
    // Ids rise with time.
    runs.sort_by(|one, other| one.record.id.cmp(&other.record.id));
    let runs = runs.split_off(runs.len().saturating_sub(args.limit));
    let text = match args.format {
        Form::Text => {
            if runs.is_empty() {
                session.note("It has not run yet.");
            }
            let lines: Vec<[String; 5]> = runs.iter().map(|run| line(&run.record)).collect();
            columns(&lines)
        }
        Form::Json => {
            let items: Vec<Box<RawValue>> = runs.into_iter().map(|run| run.document).collect();
            let data = document::page(&items, None);
            document::write_raw("clean", &[("data", &*data)])
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

fn line(run: &AutomationRun) -> [String; 5] {
    let or = |text: &Option<String>| printable::line(text.as_deref().unwrap_or("-"));
    let why = run.error.as_ref().map(|error| error.code.as_str());
    let dry = if run.dry_run { ", dry run" } else { "" };
    [
        printable::line(&run.id),
        printable::line(&run.status),
        moment(run.started_at.as_deref()),
        format!("{}, version {}{dry}", or(&run.trigger), run.version),
        printable::line(why.unwrap_or_default()),
    ]
}
