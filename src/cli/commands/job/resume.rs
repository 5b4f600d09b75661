//! `tplkit job resume`: resumes a job that stopped.

use serde_json::json;
use tplkit::client::Job;

use crate::cli::args::Form;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::job_progress::Waiting;
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::start_job::{self, StartJob};

/// Go on with a job that failed or was left, where it stopped.
///
/// The job keeps its own decisions. While somebody works on it there is nothing to resume, and the
/// exit code is 69.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The job.
    #[arg(value_name = "ID")]
    job: String,
    /// Do not wait for its end.
    #[arg(long, conflicts_with_all = ["wait", "fail_on_unresolved"])]
    detach: bool,
    #[command(flatten)]
    waiting: Waiting,
    /// Form of the output.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let job = connection.client.job(&args.job)?.record;
    let (template, workspace) = destination(&job)?;
    let start = StartJob {
        client: &connection.client,
        template: &template,
        workspace: &workspace,
        job: Some(&args.job),
        body: &json!({"workspaceId": workspace, "jobId": args.job}),
        waiting: &args.waiting,
        detach: args.detach,
        form: args.format,
        session,
    };
    start_job::run(&start)
}

fn destination(job: &Job) -> Result<(String, String), CliError> {
    let both = job.template_id.clone().zip(job.workspace_id.clone());
    both.ok_or_else(|| CliError::Degraded {
        message: "this server does not say which template the job applies, and where".to_owned(),
        help: "resume it with `tplkit api POST /v1/templates/ID/apply`, `workspaceId` and `jobId` in the body"
            .to_owned(),
    })
}
