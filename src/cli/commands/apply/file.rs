//! Applies a package file: plan, confirm, push to the catalog, apply as a template.

use tplkit::apply::Preview;

use super::Args;
use crate::cli::args::Form;
use crate::cli::catalog::{self, CatalogMatch};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::interrupt_message;
use crate::cli::item_titles::ItemTitles;
use crate::cli::package_file::File;
use crate::cli::plan_view::examine::{self, PlanRequest, PlannedApply};
use crate::cli::plan_view::{by_server, by_server_for, is_foreign, not_pushed};
use crate::cli::remote;
use crate::cli::resume_hint::{self, ResumeHint};

use super::super::plan::print_plan;

pub(super) fn run(
    args: &Args,
    plan_request: PlanRequest<'_>,
    file: &File<'_>,
) -> Result<Exit, CliError> {
    let in_catalog = examine::find_in_catalog(plan_request, &args.template, file)?;
    if args.dry_run {
        let examined = examine::file(plan_request, &in_catalog, file)?;
        return print_plan(args.subject(), &examined, args.format, None, plan_request);
    }
    if args.yes {
        return run_agreed(args, plan_request, &in_catalog, file);
    }
    let examined = examine::file(plan_request, &in_catalog, file)?;
    if let Some(exit) = args.confirm(plan_request, &examined)? {
        return Ok(exit);
    }
    if let CatalogMatch::Other {
        by_name: Some(candidate),
        ..
    } = &in_catalog
    {
        remote::confirm(&catalog::question(candidate))?;
    }
    match &in_catalog {
        CatalogMatch::Same(id) if examined.template.is_some() => {
            args.start_planned(plan_request, id, &examined)
        }
        _ => pushed(
            args,
            plan_request,
            &in_catalog,
            file,
            &examined.planned.preview,
        ),
    }
}

/// Applies a file without a prompt. A refused package replaces nothing.
fn run_agreed(
    args: &Args,
    plan_request: PlanRequest<'_>,
    in_catalog: &CatalogMatch,
    file: &File<'_>,
) -> Result<Exit, CliError> {
    let body = plan_request.body();
    if let CatalogMatch::Other { id, digest, .. } = in_catalog
        && let Some(planned) =
            by_server_for(plan_request.client, id, &body, plan_request.base, file.text)?
        && !planned.preview.refusals.is_empty()
    {
        let examined = PlannedApply {
            planned,
            template: Some(id.clone()),
            replaced: Some(digest.clone()),
            package: None,
            labels: Some(ItemTitles::of_manifest(&file.package.manifest)),
        };
        return args.refuse(plan_request, &examined);
    }
    let pushed = PushedTemplate::of(plan_request, in_catalog, file, args.format)?;
    let outcome = args.start(plan_request, &pushed.id, &body);
    pushed.keep_unless_refused(plan_request, outcome)
}

/// Pushes what was agreed to, and asks again where the server knows better.
pub(super) fn pushed(
    args: &Args,
    plan_request: PlanRequest<'_>,
    in_catalog: &CatalogMatch,
    file: &File<'_>,
    agreed: &Preview,
) -> Result<Exit, CliError> {
    let pushed = PushedTemplate::of(plan_request, in_catalog, file, args.format)?;
    let outcome = again(args, plan_request, &pushed.id, agreed);
    pushed.keep_unless_refused(plan_request, outcome)
}

fn again(
    args: &Args,
    plan_request: PlanRequest<'_>,
    id: &str,
    agreed: &Preview,
) -> Result<Exit, CliError> {
    let body = plan_request.body();
    let planned = match by_server(plan_request.client, id, &body, plan_request.base) {
        Ok(planned) => planned,
        Err(error) if is_foreign(&error) => return args.start(plan_request, id, &body),
        Err(error) => return Err(error),
    };
    let same = planned.shows_what(agreed);
    let examined = PlannedApply {
        planned,
        template: Some(id.to_owned()),
        replaced: None,
        package: None,
        labels: None,
    };
    if !same {
        plan_request
            .session
            .note("note: the server knows more than could be read from here; this is its plan");
        if let Some(exit) = args.confirm(plan_request, &examined)? {
            return Err(CliError::Reported(exit));
        }
    }
    args.start_planned(plan_request, id, &examined)
}

/// A template that a file is applied through.
pub(super) struct PushedTemplate {
    pub(super) id: String,
    revert: Revert,
}

/// How the push is reverted when the apply is refused.
enum Revert {
    /// It stays as it was.
    Nothing,
    /// It was not there before.
    Delete,
    /// It held this package before.
    Restore(String),
}

impl PushedTemplate {
    /// Pushes the file as the catalog needs it.
    pub(super) fn of(
        plan_request: PlanRequest<'_>,
        in_catalog: &CatalogMatch,
        file: &File<'_>,
        form: Form,
    ) -> Result<PushedTemplate, CliError> {
        let session = plan_request.session;
        match in_catalog {
            CatalogMatch::Nothing => PushedTemplate::anew(plan_request, file, form),
            CatalogMatch::Same(id) => {
                session.note(format!(
                    "note: the catalog holds this package already, as template {}",
                    examine::file_title(file, id, session)
                ));
                Ok(PushedTemplate {
                    id: id.clone(),
                    revert: Revert::Nothing,
                })
            }
            CatalogMatch::Other { id, digest, .. } => {
                let before = catalog::replaced(plan_request.client, id, digest)?;
                PushedTemplate::instead(plan_request, id, before, file)
            }
        }
    }

    /// Replaces the package of a template, which is `before`.
    pub(super) fn instead(
        plan_request: PlanRequest<'_>,
        id: &str,
        before: String,
        file: &File<'_>,
    ) -> Result<PushedTemplate, CliError> {
        let replaced = plan_request.client.replace_package(id, file.text);
        replaced.map_err(not_pushed)?;
        let title = examine::file_title(file, id, plan_request.session);
        plan_request
            .session
            .note(format!("pushed: template {title} is replaced"));
        Ok(PushedTemplate {
            id: id.to_owned(),
            revert: Revert::Restore(before),
        })
    }

    pub(super) fn anew(
        plan_request: PlanRequest<'_>,
        file: &File<'_>,
        form: Form,
    ) -> Result<PushedTemplate, CliError> {
        let organization = plan_request.organization()?;
        let template = plan_request
            .client
            .import(organization.as_deref(), file.text);
        let id = template.map_err(not_pushed)?.record.id;
        resume_hint::leave(&ResumeHint::Template(id.clone()), form);
        let title = examine::file_title(file, &id, plan_request.session);
        plan_request
            .session
            .note(format!("pushed as template {title}"));
        Ok(PushedTemplate {
            id,
            revert: Revert::Delete,
        })
    }

    /// A package whose apply was refused has no reason to stay; one that a job may have begun with
    /// has.
    pub(super) fn keep_unless_refused(
        &self,
        plan_request: PlanRequest<'_>,
        outcome: Result<Exit, CliError>,
    ) -> Result<Exit, CliError> {
        let refused = match &outcome {
            Ok(_) | Err(CliError::Job { .. } | CliError::Output(_)) => false,
            Err(_) => true,
        };
        if !refused {
            return outcome;
        }
        let (id, client) = (&self.id, plan_request.client);
        let note = match &self.revert {
            Revert::Nothing => return outcome,
            Revert::Delete => match client.delete_template(id) {
                Ok(()) => format!("template {id} was taken out of the catalog again"),
                Err(_) => format!(
                    "template {id} stays in the catalog; `tplkit template delete {id}` removes it"
                ),
            },
            Revert::Restore(before) => match client.replace_package(id, before) {
                Ok(_) => format!("template {id} has the package again that it had before"),
                Err(_) => format!("template {id} keeps the package that was pushed"),
            },
        };
        interrupt_message::leave(None);
        plan_request.session.note(note);
        outcome
    }
}
