//! `tplkit job undo`: takes away what a job made.

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::{self, Connection, Target};
use crate::cli::session::Session;

/// Take away what a job made: tables, columns, views, automations, navigation and rows.
///
/// On a terminal it is asked for once more. Nothing that others changed or added since is lost
/// without `--force`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The job.
    #[arg(value_name = "ID")]
    job: String,
    /// Also take away what was added to its tables or changed in its rows since.
    #[arg(long)]
    force: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Form of the output.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: Target,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    if !args.yes && args.format == Form::Text && remote::terminal() {
        let more = if args.force {
            ", and what was added since"
        } else {
            ""
        };
        let question = format!("Take away what job {} made{more}?", args.job);
        remote::confirm(&question)?;
    }
    let job = connection.client.undo(&args.job, args.force)?;
    let text = match args.format {
        Form::Text => format!("Job {} is undone.\n", args.job),
        Form::Json => document::write_raw("clean", &[("job", &*job.document)]),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}
