//! Applies a saved plan exactly as it was shown, or not at all.

use tplkit::apply::{Request, content_digest};
use tplkit::printable;

use super::file::PushedTemplate;
use super::{Args, usage};
use crate::cli::active_job::ActiveJob;
use crate::cli::catalog::{self, CatalogMatch, FileTemplate};
use crate::cli::config::Target;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::package_file::{self, File};
use crate::cli::plan_view::examine::{self, PlanRequest};
use crate::cli::plan_view::{Package, Saved, by_reading, by_server, by_server_for, with_member};
use crate::cli::remote::Connection;
use crate::cli::remote::workspace::NamedWorkspace;
use crate::cli::session::Session;
use crate::cli::upgrade_args::BaseFile;

pub(super) fn run(
    args: &Args,
    target: &Target,
    saved: &Saved,
    session: &Session,
) -> Result<Exit, CliError> {
    let upgrade = !args.upgrade.is_none();
    if !args.decisions.are_none() || !args.template.is_none() || args.dry_run || upgrade {
        return Err(usage(
            "a saved plan is carried out as it is",
            "plan again with other decisions: `tplkit plan … --out FILE`",
        ));
    }
    let connection = Connection::open(&args.target, session)?;
    if connection.client.base().to_string() != saved.server {
        return Err(usage(
            "the plan was made for another server",
            "name that server with `--url` or `--profile`, or plan again",
        ));
    }
    let named = args.workspace.workspace.as_ref();
    if let Some(word) = named.or(target.workspace.as_ref())
        && NamedWorkspace::find(&connection.client, word)?.id != saved.workspace
    {
        return Err(usage(
            "the plan was made for another workspace",
            "leave `--workspace` out, or plan again for that one",
        ));
    }
    let request = request(saved)?;
    let workspace = NamedWorkspace::of(saved.workspace);
    let base = match &saved.base {
        Some(package) => Some((package, package_file::read(package.current_path())?)),
        None => None,
    };
    let base = match &base {
        Some((package, source)) => match File::checked(source) {
            Ok(file) => Some(BaseFile {
                path: package.current_path().to_owned(),
                text: unchanged(package, file)?.text.to_owned(),
            }),
            Err(report) => return package_file::refuse(&report, args.format, session),
        },
        None => None,
    };
    let plan_request = PlanRequest {
        client: &connection.client,
        workspace: &workspace,
        request: &request,
        base: base.as_ref(),
        session,
    };
    let source = match &saved.package {
        Some(package) => Some((package, package_file::read(package.current_path())?)),
        None => None,
    };
    let file = match &source {
        Some((package, source)) => match File::checked(source) {
            Ok(file) => Some(unchanged(package, file)?),
            Err(report) => return package_file::refuse(&report, args.format, session),
        },
        None => None,
    };
    if let Some(template) = saved.template.as_ref().filter(|_| !saved.replaces) {
        let body = with_member(&saved.body, "plan", saved.digest.as_str());
        return args.start(plan_request, template, &body);
    }
    let Some(file) = file else {
        return Err(usage(
            "the plan names neither template nor package",
            "plan again",
        ));
    };
    let replaced = match &saved.template {
        Some(id) => by_server_for(
            plan_request.client,
            id,
            &saved.body,
            plan_request.base,
            file.text,
        )?,
        None => None,
    };
    let planned = match replaced {
        Some(planned) => planned,
        None => by_reading(
            plan_request.client,
            plan_request.workspace.id,
            file.text,
            &file.package,
            plan_request.request,
        )?,
    };
    // Right before the push: whoever pushes in between is not seen.
    let before = replaced_package(plan_request, saved, &file)?;
    // A job in the way may have written already what makes this another plan.
    let workspace = saved.workspace.to_string();
    let template = saved.template.as_deref();
    if let Some(active) =
        ActiveJob::of_plan(&planned.preview, plan_request.client, &workspace, template)
    {
        return active.report(args.format, template, &workspace);
    }
    if planned.preview.digest != saved.digest {
        return Err(CliError::stale(
            "the workspace has changed since it was planned for".to_owned(),
        ));
    }
    let pushed = match (&saved.template, before) {
        (Some(id), Some(before)) => PushedTemplate::instead(plan_request, id, before, &file)?,
        _ => PushedTemplate::anew(plan_request, &file, args.format)?,
    };
    let outcome = carry_out(args, plan_request, saved, &pushed.id);
    pushed.keep_unless_refused(plan_request, outcome)
}

/// The package that the file replaces; none where it is to be a template of its own.
///
/// # Errors
/// The catalog has changed since the plan: another push, or a removed template.
fn replaced_package(
    plan_request: PlanRequest<'_>,
    saved: &Saved,
    file: &File<'_>,
) -> Result<Option<String>, CliError> {
    let client = plan_request.client;
    if let (Some(id), Some(digest)) = (&saved.template, &saved.replaced) {
        return catalog::replaced(client, id, digest).map(Some);
    }
    if saved.another {
        return Ok(None);
    }
    match examine::find_in_catalog(plan_request, &FileTemplate::default(), file) {
        Ok(CatalogMatch::Nothing) => Ok(None),
        Ok(_) | Err(CliError::Candidates { .. }) => Err(CliError::stale(
            "the catalog has a template of this package by now".to_owned(),
        )),
        Err(error) => Err(error),
    }
}

/// The package that was planned for, a file or a folder, unless it has another content by now.
fn unchanged<'s>(package: &Package, file: File<'s>) -> Result<File<'s>, CliError> {
    if content_digest(file.text) == package.digest {
        return Ok(file);
    }
    let path = printable::path(&package.path);
    Err(CliError::stale(format!(
        "`{path}` has changed since it was planned"
    )))
}

/// The server plans too, and must not plan anything else.
fn carry_out(
    args: &Args,
    plan_request: PlanRequest<'_>,
    saved: &Saved,
    template: &str,
) -> Result<Exit, CliError> {
    let planned = by_server(
        plan_request.client,
        template,
        &saved.body,
        plan_request.base,
    )?;
    if !planned.shows_what(&saved.plan) {
        return Err(CliError::stale(
            "the server would do something else than was planned".to_owned(),
        ));
    }
    let body = with_member(&saved.body, "plan", planned.preview.digest.as_str());
    args.start(plan_request, template, &body)
}

/// The decisions in the body of a plan.
fn request(saved: &Saved) -> Result<Request, CliError> {
    Request::from_value(&saved.body).map_err(|refusals| {
        let details: Vec<&str> = refusals.iter().map(|one| one.detail.as_str()).collect();
        usage(
            &format!(
                "the plan holds no decisions that can be read: {}",
                details.join("; ")
            ),
            "plan again",
        )
    })
}
