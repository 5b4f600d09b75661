//! `tplkit job undo`: removes what a job created.

use jiff::SignedDuration;
use tplkit::client::{Job, JobOutcome, WithDocument};
use tplkit::printable;

use crate::cli::apply_summary;
use crate::cli::args::Form;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::interrupt_message;
use crate::cli::job_progress::{FollowResult, WaitOptions, document, duration, follow};
use crate::cli::job_titles::Names;
use crate::cli::losses::Losses;
use crate::cli::output::{folded, print_note, write_result};
use crate::cli::remote::{self, Connection, ServerArgs};
use crate::cli::resume_hint::{self, ResumeHint};
use crate::cli::session::Session;

/// Remove what a job created: tables, columns, views, automations, navigation and rows.
///
/// The command first shows what it would remove: tables with their numbers of rows, and columns of
/// other tables that link to them. On a terminal it prompts; elsewhere it needs `--yes`. Without
/// `--force`, nothing that others changed or added since is removed. A large undo runs on the
/// server; the command waits for it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Undo a job", "tplkit job undo $JOB --yes"),
    ("Undo a job even when rows have changed since", "tplkit job undo $JOB --yes --force"),
]))]
pub(super) struct Args {
    /// Id of the job.
    #[arg(value_name = "ID")]
    job: String,
    /// Also remove what others added to its tables or changed in its rows since.
    #[arg(long)]
    force: bool,
    /// Do not prompt.
    #[arg(short, long)]
    yes: bool,
    /// Wait at most this long, for example `90s`, `10m` or `1h`. After that the undo continues, and
    /// the exit code is 69.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    wait: Option<SignedDuration>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    if !args.yes {
        let job = super::of_id(&args.job, client.job(&args.job))?.record;
        // One that is undone has nothing to lose: the server says so.
        if job.ended() != Some(JobOutcome::Undone) {
            let losses = Losses::of(client, &args.job, &job);
            let names = Names::of_job(client, &job, session);
            let workspace = names.title(job.workspace_id.as_deref());
            let template = names.title(job.template_id.as_deref());
            let about = format!("of template {template} in workspace {workspace}");
            let shown = losses.text(&args.job, &about, args.force);
            let question = format!("Workspace {workspace}: Remove it?");
            remote::agree(args.format, &shown, losses.document(), &question)?;
        }
    }
    let job = super::of_id(&args.job, client.undo(&args.job, args.force))?;
    if job.record.ended().is_some() {
        return conclude(args, &job, false);
    }
    let way = ResumeHint::Undo(args.job.clone());
    resume_hint::leave(&way, args.format);
    let waiting = WaitOptions::at_most(args.wait);
    let followed = follow(client, &args.job, &waiting, session);
    let followed = followed.map_err(|error| way.of(error))?;
    interrupt_message::leave(None);
    match followed {
        FollowResult::Ended { job, .. } => conclude(args, &job, false),
        FollowResult::Elapsed(job) => conclude(args, &job, true),
    }
}

fn conclude(args: &Args, job: &WithDocument<Job>, elapsed: bool) -> Result<Exit, CliError> {
    let id = &args.job;
    let exit = match job.record.ended() {
        _ if elapsed => Exit::Running,
        Some(JobOutcome::Undone) => Exit::Done,
        _ => Exit::Findings,
    };
    let status = printable::line(&job.record.status);
    let text = match (args.format, exit) {
        (Form::Json, _) => document(id, job, exit, &[]),
        (Form::Text, Exit::Done) => {
            let report = job.record.report.as_ref();
            let undone = report.map(apply_summary::undone).unwrap_or_default();
            folded(&format!("Job {id} is undone.\n{undone}"))
        }
        (Form::Text, _) => format!("{id}\n{status}\n"),
    };
    let hint = match exit {
        Exit::Running => ResumeHint::Undo(id.clone()),
        _ => ResumeHint::Ended(id.clone()),
    };
    write_result(&text, None).map_err(|error| hint.of(error))?;
    match exit {
        Exit::Running => print_note(&format!(
            "error: the undo of job {id} still runs\n  help: it goes on; `tplkit job watch {id}` waits for its end"
        )),
        Exit::Findings => print_note(&format!(
            "error: job {id} is not undone: it is {status}\n  help: somebody changed what it made before the undo began; review it, then undo again; `--force` discards those changes"
        )),
        _ => {}
    }
    Ok(exit)
}
