//! `tplkit apply`: a template, a package file or a saved plan, carried out on a workspace.

mod file;
mod saved;
mod upgrade;

use std::path::{Path, PathBuf};

use tplkit::json::Value;
use tplkit::printable;

use crate::cli::active_job::ActiveJob;
use crate::cli::args::Form;
use crate::cli::catalog::FileTemplate;
use crate::cli::config::Target;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_progress::WaitOptions;
use crate::cli::output::print_note;
use crate::cli::package_file::{self, File};
use crate::cli::plan_view::examine::{self, PlanRequest, PlannedApply};
use crate::cli::plan_view::{Decisions, Saved, is_foreign, screen, with_member};
use crate::cli::remote::subject::{self, Subject};
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs, unnamed};
use crate::cli::remote::{self, Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::start_job::{self, StartJob};
use crate::cli::upgrade_args::ServerUpgradeArgs;

use super::plan::print_plan;

/// Apply a template, a package file or a saved plan to a workspace.
///
/// Prints the id of the job, then its progress, then its report. On a terminal the command shows
/// the plan and prompts; elsewhere it needs `--yes` or a saved plan. A package file that the
/// catalog does not hold is pushed to it first, as `tplkit template push` does, which needs the role
/// `admin`. The job continues on the server when this command ends early; `tplkit job watch` shows it
/// again.
#[derive(Debug, Clone, clap::Args)]
#[command(after_long_help = examples(&[
    ("Apply a saved plan", "tplkit apply inventory.plan"),
    ("Apply a package without a prompt", "tplkit apply crm.json --workspace $WORKSPACE --yes"),
    ("Apply what a target of `tplkit.toml` names, with its decisions", "tplkit apply --target staging --yes"),
    ("Upgrade what was applied before to a new version of the package", "tplkit apply crm.json --upgrade --workspace $WORKSPACE --yes --resolutions decisions.toml"),
    ("Start the job and do not wait for it", "tplkit apply sales-crm --workspace $WORKSPACE --yes --detach"),
]))]
pub(crate) struct Args {
    /// A plan of `tplkit plan --out`, a package (a file, an unpacked folder, `-` for standard input),
    /// or a template by id or name.
    #[arg(value_name = "PLAN|PKG|TEMPLATE", required_unless_present = "target")]
    subject: Option<PathBuf>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    template: FileTemplate,
    #[command(flatten)]
    decisions: Decisions,
    #[command(flatten)]
    upgrade: ServerUpgradeArgs,
    /// Apply without a prompt.
    #[arg(short, long)]
    yes: bool,
    /// Show what would happen, like `tplkit plan`, and write nothing.
    #[arg(long, conflicts_with_all = ["yes", "detach", "wait", "fail_on_unresolved"])]
    dry_run: bool,
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

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let mut args = args.clone();
    let target = args.take_target()?;
    let subject = args.subject.clone().unwrap_or_default();
    let subject = Subject::of(&subject);
    let source = match subject {
        Subject::File(path) => Some((path, package_file::read(path)?)),
        Subject::Template(_) => None,
    };
    if let Some((path, source)) = &source
        && let Ok(text) = source.text()
        && let Some(saved) = Saved::read(path, text)?
    {
        return saved::run(&args, &target, &saved, session);
    }
    args.decisions.complete(&target);
    let args = &args;
    let Some(word) = args.workspace.word(&target, &args.target)? else {
        return Err(unnamed(&taken_for(subject), &args.target, session));
    };
    if !args.yes && !args.dry_run && !args.can_prompt() {
        return Err(usage(
            &format!(
                "{}: pass `--yes` to confirm{}",
                remote::unprompted(args.format),
                taken_for(subject)
            ),
            "give `--yes`, or save a plan with `tplkit plan … --out FILE`, look at it, and apply that",
        ));
    }
    let mut request = args.decisions.request()?;
    args.upgrade.complete(&mut request);
    let base = match args.upgrade.base()? {
        Ok(base) => base,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let file = match &source {
        None => None,
        Some((_, source)) => match File::checked(source) {
            Ok(file) => Some(file),
            Err(report) => {
                return package_file::refuse_to_apply(&report, args.format, session);
            }
        },
    };
    let connection = Connection::open(&args.target, session)?;
    let workspace = NamedWorkspace::find(&connection.client, &word)?;
    let plan_request = PlanRequest {
        client: &connection.client,
        workspace: &workspace,
        request: &request,
        base: base.as_ref(),
        session,
    };
    if request.upgrade {
        return upgrade::run(args, plan_request, subject, file.as_ref());
    }
    match (subject, file) {
        (_, Some(file)) => file::run(args, plan_request, &file),
        (Subject::Template(word), None) => template(args, plan_request, word),
        (Subject::File(_), None) => Err(usage("there is no package", "name a file")),
    }
}

/// What a word was taken for that may have been meant as the name of a file.
fn taken_for(subject: Subject<'_>) -> String {
    match subject {
        Subject::Template(word) if uuid::Uuid::try_parse(word).is_err() => {
            let word = word.escape_debug();
            format!("; there is no file `{word}`, so it is taken for a template")
        }
        _ => String::new(),
    }
}

/// A template of the catalog.
fn template(args: &Args, plan_request: PlanRequest<'_>, word: &str) -> Result<Exit, CliError> {
    args.template.refuse(word)?;
    if args.dry_run {
        let examined = examine::template(plan_request, word)?;
        return print_plan(args.subject(), &examined, args.format, None, plan_request);
    }
    let id = subject::template(plan_request.client, word)?;
    if args.yes {
        return args.start(plan_request, &id, &plan_request.body());
    }
    match examine::template(plan_request, &id) {
        Ok(examined) => match args.confirm(plan_request, &examined)? {
            Some(exit) => Ok(exit),
            None => args.start_planned(plan_request, &id, &examined),
        },
        Err(error) if is_foreign(&error) => {
            plan_request
                .session
                .note("note: this server does not report what an apply would do before it is done");
            remote::confirm(&format!(
                "Workspace {}: Apply all the same?",
                plan_request.title()
            ))?;
            args.start(plan_request, &id, &plan_request.body())
        }
        Err(error) => Err(error),
    }
}

impl Args {
    /// Takes from the target what no flag says, decisions aside: a saved plan has its own.
    fn take_target(&mut self) -> Result<Target, CliError> {
        let from = self.subject.as_deref().unwrap_or(Path::new("."));
        let target = self.target.take_target(from)?;
        self.subject = Some(target.subject(self.subject.as_deref())?);
        Ok(target)
    }

    /// What is applied, as it was named.
    fn subject(&self) -> &Path {
        self.subject.as_deref().unwrap_or(Path::new("."))
    }

    /// Whether the command can prompt.
    fn can_prompt(&self) -> bool {
        self.format == Form::Text && remote::terminal()
    }

    /// Shows a plan and asks about it; how the command ends when it cannot be applied.
    fn confirm(
        &self,
        plan_request: PlanRequest<'_>,
        examined: &PlannedApply,
    ) -> Result<Option<Exit>, CliError> {
        let plan = &examined.planned.preview;
        if !plan.refusals.is_empty() {
            return self.refuse(plan_request, examined).map(Some);
        }
        let subject = format!("`{}`", printable::path(self.subject()));
        let workspace = plan_request.title();
        let titles = examined.titles(plan_request.client);
        print_note(&screen(&subject, &workspace, plan, &titles));
        remote::confirm(&format!("Workspace {workspace}: Apply it?"))?;
        Ok(None)
    }

    /// Reports why a plan cannot be applied: the job that is in the way, where that is all, else the plan.
    fn refuse(
        &self,
        plan_request: PlanRequest<'_>,
        examined: &PlannedApply,
    ) -> Result<Exit, CliError> {
        let plan = &examined.planned.preview;
        let workspace = plan_request.workspace.id.to_string();
        let template = examined.template.as_deref();
        match ActiveJob::of_plan(plan, plan_request.client, &workspace, template) {
            Some(active) => active.report(self.format, template, &workspace),
            None => print_plan(self.subject(), examined, self.format, None, plan_request),
        }
    }

    /// Begins what was agreed to, and nothing else.
    fn start_planned(
        &self,
        plan_request: PlanRequest<'_>,
        template: &str,
        examined: &PlannedApply,
    ) -> Result<Exit, CliError> {
        let digest = examined.planned.preview.digest.as_str();
        let body = with_member(&plan_request.body(), "plan", digest);
        self.start(plan_request, template, &body)
    }

    fn start(
        &self,
        plan_request: PlanRequest<'_>,
        template: &str,
        body: &Value,
    ) -> Result<Exit, CliError> {
        start_job::run(&StartJob {
            client: plan_request.client,
            template,
            workspace: &plan_request.workspace.id.to_string(),
            job: None,
            body,
            base: plan_request.base,
            waiting: &self.waiting,
            detach: self.detach,
            form: self.format,
            session: plan_request.session,
        })
    }
}

fn usage(message: &str, help: &str) -> CliError {
    CliError::Usage {
        message: message.to_owned(),
        help: help.to_owned(),
    }
}
