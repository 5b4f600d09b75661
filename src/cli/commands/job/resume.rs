//! `tplkit job resume`: resumes a job that stopped.

use tplkit::client::Job;
use tplkit::json::{Object, Value};

use crate::cli::args::Form;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_progress::WaitOptions;
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::start_job::{self, StartJob};

/// Resume a job that failed or was cancelled, where it stopped.
///
/// The job keeps its decisions. A job that is still running is not resumed; the exit code is then
/// 69.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Resume a job and wait for its end", "tplkit job resume $JOB"),
    ("Resume a job and do not wait", "tplkit job resume $JOB --detach"),
]))]
pub(super) struct Args {
    /// Id of the job.
    #[arg(value_name = "ID")]
    job: String,
    /// Do not wait for the end of the job.
    #[arg(long, conflicts_with_all = ["wait", "fail_on_unresolved"])]
    detach: bool,
    #[command(flatten)]
    waiting: WaitOptions,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let job = super::of_id(&args.job, connection.client.job(&args.job))?.record;
    let (template, workspace) = destination(&job)?;
    let start = StartJob {
        client: &connection.client,
        template: &template,
        workspace: &workspace,
        job: Some(&args.job),
        base: None,
        body: &resumed(&workspace, &args.job),
        waiting: &args.waiting,
        detach: args.detach,
        form: args.format,
        session,
    };
    start_job::run(&start)
}

fn resumed(workspace: &str, job: &str) -> Value {
    let members = [("workspaceId", workspace), ("jobId", job)];
    let members = members.map(|(name, id)| (name.to_owned(), id.into()));
    Value::Object(Object::from_iter(members))
}

fn destination(job: &Job) -> Result<(String, String), CliError> {
    let both = job.template_id.clone().zip(job.workspace_id.clone());
    both.ok_or_else(|| CliError::Degraded {
        message: "this server does not say which template the job applies, and where".to_owned(),
        help: "resume it with `tplkit api POST /v1/templates/ID/apply`, `workspaceId` and `jobId` in the body"
            .to_owned(),
    })
}
