//! `tplkit report --upgrade`: what an upgrade would do, as a page.

use std::path::PathBuf;

use serde_json::json;
use tplkit::printable;
use tplkit::report;

use super::{Args, Format};
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::overwrite::refuse_input;
use crate::cli::package_file;
use crate::cli::plan_view::examine::UpgradePlan;
use crate::cli::remote::ServerArgs;
use crate::cli::remote::workspace::WorkspaceArgs;
use crate::cli::resolutions;
use crate::cli::session::Session;
use crate::cli::source::is_stdin;
use crate::cli::upgrade_args::ServerUpgradeArgs;

/// What an upgrade is made a page of.
#[derive(Debug, clap::Args)]
pub(crate) struct UpgradeReportArgs {
    #[command(flatten)]
    upgrade: ServerUpgradeArgs,
    /// The workspace that is upgraded.
    ///
    /// Its id, name or label, or `ORG/NAME`; else that of the target, `TPLKIT_WORKSPACE`, or what `tplkit
    /// workspace use` keeps.
    #[arg(
        long,
        value_name = "ID|NAME",
        requires = "upgrade",
        help_heading = "Upgrade"
    )]
    workspace: Option<String>,
    /// Decisions: TOML as `resolve init` writes it, or JSON.
    #[arg(
        long,
        value_name = "FILE",
        requires = "upgrade",
        help_heading = "Upgrade"
    )]
    resolutions: Option<PathBuf>,
    #[command(flatten)]
    target: ServerArgs,
}

impl UpgradeReportArgs {
    /// Whether a page of an upgrade is wanted.
    pub(super) fn is_upgrade(&self) -> bool {
        !self.upgrade.is_none()
    }
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let upgrade_args = &args.upgrade;
    let base = upgrade_args.upgrade.args.base.as_deref();
    let inputs = [upgrade_args.resolutions.as_deref(), base];
    refuse_input(args.output.as_deref(), inputs)?;
    let word = WorkspaceArgs {
        workspace: upgrade_args.workspace.clone(),
    };
    let mut server = upgrade_args.target.clone();
    let target = server.take_target(&args.package)?;
    let word = word.required(&target, &server, session)?;
    let form = match args.format {
        Format::Html => Form::Text,
        Format::Json => Form::Json,
    };
    let mut request = resolutions::read(upgrade_args.resolutions.as_deref())?;
    request.plan = None;
    upgrade_args.upgrade.complete(&mut request);
    let plan = UpgradePlan {
        package: &args.package,
        workspace: &word,
        request: &request,
        upgrade: &upgrade_args.upgrade,
        server: &server,
    };
    let made = match plan.make(session)? {
        Ok(made) => made,
        Err(report) => return package_file::refuse(&report, form, session),
    };
    let subject = args.package.to_string_lossy();
    let (examined, workspace) = (&made.planned, &made.workspace);
    let plan = &examined.planned.preview;
    let page = report::upgrade_page(&subject, &workspace.title, plan, &|reference| {
        made.titles.label(reference)
    });
    let output = args.output.as_deref().filter(|path| !is_stdin(path));
    if args.format == Format::Html || output.is_some() {
        write_result(&page, output)?;
    }
    if let Some(path) = output {
        session.note(format!("`{}` written", printable::path(path)));
    }
    if args.format == Format::Json {
        let mut body = json!({
            "path": subject,
            "output": output.map(|path| path.to_string_lossy()),
            "workspace_id": workspace.id.to_string(),
            "plan": null,
        });
        if output.is_none() {
            body["page"] = json!(page);
        }
        let plan = [("plan", examined.planned.document.clone())];
        write_result(&document::write_exact("clean", &body, &plan), None)?;
    }
    Ok(Exit::Done)
}
