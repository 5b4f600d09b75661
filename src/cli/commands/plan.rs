//! `tplkit plan`: what an apply would do.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;
use tplkit::printable;
use tplkit::problem::Code;

use crate::cli::args::Form;
use crate::cli::catalog::{self, CatalogMatch, FileTemplate, VersionBump};
use crate::cli::client_error;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{folded, write_result};
use crate::cli::overwrite::refuse_input;
use crate::cli::package_file::{self, File};
use crate::cli::plan_view::examine::{self, PlanRequest, PlannedApply};
use crate::cli::plan_view::{Decisions, Package, PlanFiles, PlanTemplate, Saved, screen};
use crate::cli::remote::subject::Subject;
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::shell_word::shell_path;
use crate::cli::source::is_stdin;
use crate::cli::upgrade_args::ServerUpgradeArgs;
use crate::cli::upgrade_view;

/// Show what an apply would do to a workspace, without doing it.
///
/// Nothing is written. A package file means the template that `tplkit template push` would replace;
/// a file that would be a new template is planned on this machine. `tplkit apply FILE` applies a
/// saved plan exactly as shown, or not at all.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Show what a package would do to a workspace", "tplkit plan crm.json --workspace $WORKSPACE"),
    ("Show what an upgrade to a new version would do, as a comment for a pull request", "tplkit plan crm.json --upgrade --workspace $WORKSPACE --format md"),
    ("Show it for a target of `tplkit.toml`", "tplkit plan --target staging"),
    ("Save the plan, to apply it later", "tplkit plan inventory.json --workspace $WORKSPACE --out inventory.plan"),
]))]
pub(crate) struct Args {
    /// A package (a file, an unpacked folder, `-` for standard input), or a template by id or name.
    #[arg(value_name = "PKG|TEMPLATE", required_unless_present = "target")]
    subject: Option<PathBuf>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    template: FileTemplate,
    #[command(flatten)]
    bump: VersionBump,
    #[command(flatten)]
    decisions: Decisions,
    #[command(flatten)]
    upgrade: ServerUpgradeArgs,
    /// Exit with 1 when an apply would change something.
    #[arg(long)]
    exit_code: bool,
    /// Save the plan to this file.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: PlanForm,
    #[command(flatten)]
    target: ServerArgs,
}

/// Forms of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PlanForm {
    /// Text to read.
    Text,
    /// One JSON document.
    Json,
    /// Markdown, for a comment on a pull request.
    Md,
}

impl PlanForm {
    /// The form of everything that is not a plan.
    fn form(self) -> Form {
        match self {
            PlanForm::Json => Form::Json,
            PlanForm::Text | PlanForm::Md => Form::Text,
        }
    }
}

impl From<Form> for PlanForm {
    fn from(form: Form) -> PlanForm {
        match form {
            Form::Text => PlanForm::Text,
            Form::Json => PlanForm::Json,
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let mut server = args.target.clone();
    let target = server.take_target(args.subject.as_deref().unwrap_or(Path::new(".")))?;
    let subject = target.subject(args.subject.as_deref())?;
    let word = args.workspace.required(&target, &server, session)?;
    let mut decisions = args.decisions.clone();
    decisions.complete(&target);
    let inputs = [
        // A template of that name is no file.
        Some(subject.as_path()).filter(|path| path.exists()),
        decisions.resolutions.as_deref(),
        args.upgrade.args.base.as_deref(),
    ];
    refuse_input(args.out.as_deref(), inputs)?;
    let mut request = decisions.request()?;
    args.upgrade.complete(&mut request);
    let base = match args.upgrade.base()? {
        Ok(base) => base,
        Err(report) => return package_file::refuse(&report, args.format.form(), session),
    };
    let connection = Connection::open(&server, session)?;
    let workspace = NamedWorkspace::find(&connection.client, &word)?;
    let plan_request = PlanRequest {
        client: &connection.client,
        workspace: &workspace,
        request: &request,
        base: base.as_ref(),
        session,
    };
    let mut version_rose = true;
    let examined = match Subject::of(&subject) {
        Subject::Template(word) => {
            args.template.refuse(word)?;
            examine::template(plan_request, word)?
        }
        Subject::File(path) => {
            let source = package_file::read(path)?;
            match File::checked(&source) {
                Ok(file) => {
                    let in_catalog = examine::find_in_catalog(plan_request, &args.template, &file)?;
                    if let CatalogMatch::Other { id, .. } = &in_catalog {
                        let compared = catalog::compare(plan_request.client, id, file.text)?;
                        version_rose = compared.is_none_or(|one| one.report(args.bump, session));
                    }
                    examine::file(plan_request, &in_catalog, &file)?
                }
                Err(report) => return package_file::refuse(&report, args.format.form(), session),
            }
        }
    };
    let output = args.out.as_deref();
    if let Some(path) = output {
        save(path, plan_request, &examined, &args.template)?;
    }
    let changes = args.exit_code && examined.planned.preview.changes();
    let exit = if version_rose && !changes {
        Exit::Done
    } else {
        Exit::Findings
    };
    print_ending(&subject, &examined, args.format, output, plan_request, exit)
}

/// Reports a plan, which is the result; where it was saved, too.
pub(super) fn print_plan(
    subject: &Path,
    examined: &PlannedApply,
    form: impl Into<PlanForm>,
    output: Option<&Path>,
    plan_request: PlanRequest<'_>,
) -> Result<Exit, CliError> {
    let form = form.into();
    print_ending(subject, examined, form, output, plan_request, Exit::Done)
}

/// The same, where a plan without refusals ends with `exit`.
fn print_ending(
    subject: &Path,
    examined: &PlannedApply,
    form: PlanForm,
    output: Option<&Path>,
    plan_request: PlanRequest<'_>,
    exit: Exit,
) -> Result<Exit, CliError> {
    let workspace = plan_request.workspace.id;
    let planned = &examined.planned;
    let refused = !planned.preview.refusals.is_empty();
    let exit = if refused { Exit::Findings } else { exit };
    let text = match form {
        PlanForm::Text => {
            let subject = format!("`{}`", printable::path(subject));
            let titles = examined.titles(plan_request.client);
            let workspace = plan_request.title();
            folded(&screen(&subject, &workspace, &planned.preview, &titles))
        }
        PlanForm::Md => {
            let subject = subject.to_string_lossy();
            let titles = examined.titles(plan_request.client);
            let workspace = plan_request.title();
            upgrade_view::markdown(&subject, &workspace, &planned.preview, &titles)
        }
        PlanForm::Json => document::write_exact(
            if exit == Exit::Done {
                "clean"
            } else {
                "findings"
            },
            &json!({
                "subject": subject.to_string_lossy(),
                "template_id": examined.template,
                "replaces": examined.replaced.is_some(),
                "workspace_id": workspace.to_string(),
                "plan": null,
                "output": output.filter(|_| !refused).map(Path::to_string_lossy),
            }),
            &[("plan", planned.document.clone())],
        ),
    };
    write_result(&text, None)?;
    if !refused {
        return Ok(exit);
    }
    let named = plan_request.workspace.argument();
    let refusals = &planned.preview.refusals;
    let about = |kind: fn(Code) -> bool| refusals.iter().any(|refusal| kind(refusal.code));
    if about(client_error::is_of_mapping) {
        plan_request.session.note(format!(
            "help: `tplkit resolve init {} --workspace {named} -o FILE` writes the decisions down; give them with `--resolutions FILE`",
            shell_path(subject)
        ));
    }
    if about(|code| code == Code::UpgradeConflicts) {
        let mut conflicts = planned.preview.conflicts.iter();
        let in_one_word = if conflicts.any(|one| one.code.takes_conflicts()) {
            ", or decide with `--conflicts`"
        } else {
            ""
        };
        plan_request.session.note(format!(
            "help: `tplkit resolve init {} --workspace {named} --upgrade -o FILE` writes down what is to be decided; give it with `--resolutions FILE`{in_one_word}",
            shell_path(subject)
        ));
    }
    if about(client_error::is_of_rows) {
        plan_request
            .session
            .note(format!("help: {}", client_error::ROWS_HELP));
    }
    Ok(exit)
}

fn save(
    path: &Path,
    plan_request: PlanRequest<'_>,
    examined: &PlannedApply,
    template: &FileTemplate,
) -> Result<(), CliError> {
    let session = plan_request.session;
    let usage = |message: &str, help: &str| CliError::Usage {
        message: message.to_owned(),
        help: help.to_owned(),
    };
    if is_stdin(path) {
        let help = "name a file; `--format json` writes the plan to standard output";
        return Err(usage("a plan is saved to a file", help));
    }
    if !examined.planned.preview.refusals.is_empty() {
        session.note("note: nothing is saved, because it cannot be applied as asked");
        return Ok(());
    }
    let package = examined.package.clone();
    let pushes = examined.template.is_none() || examined.replaced.is_some();
    if pushes && package.is_none() {
        let help = "write the package to a file first, so that the plan can name it";
        return Err(usage("a plan for standard input cannot be saved", help));
    }
    let saved = Saved::new(
        plan_request.client.base().to_string(),
        PlanTemplate {
            id: examined.template.clone(),
            replaced: examined.replaced.clone(),
            another: template.makes_another(),
        },
        PlanFiles {
            package,
            base: plan_request
                .base
                .map(|base| Package::of(&base.path, &base.text)),
        },
        plan_request.workspace.id,
        plan_request.body(),
        examined.planned.preview.clone(),
    );
    saved.write(path)?;
    session.note(format!(
        "`{}` is saved; `tplkit apply {}` carries it out",
        printable::path(path),
        shell_path(path)
    ));
    Ok(())
}
