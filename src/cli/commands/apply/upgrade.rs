//! Upgrades what was applied before: the plan is always worked out first, so that a refused upgrade
//! pushes nothing (`upgrade` 3.7.2).

use tplkit::apply::Request;
use tplkit::problem::Code;

use super::super::plan::print_plan;
use super::file::{self, PushedTemplate};
use super::{Args, usage};
use crate::cli::catalog::{self, CatalogMatch};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::print_note;
use crate::cli::package_file::File;
use crate::cli::plan_view::examine::{self, PlanRequest, PlannedApply};
use crate::cli::plan_view::screen;
use crate::cli::remote;
use crate::cli::remote::subject::Subject;
use crate::cli::upgrade_view::{PromptOutcome, decide_conflicts};
use tplkit::printable;

pub(super) fn run(
    args: &Args,
    plan_request: PlanRequest<'_>,
    subject: Subject<'_>,
    file: Option<&File<'_>>,
) -> Result<Exit, CliError> {
    match (subject, file) {
        (_, Some(file)) => package(args, plan_request, file),
        (Subject::Template(word), None) => {
            args.template.refuse(word)?;
            let make = |plan_request: PlanRequest<'_>| examine::template(plan_request, word);
            let (request, examined) = decided(args, plan_request, &make)?;
            let plan_request = PlanRequest {
                request: &request,
                ..plan_request
            };
            if let Some(exit) = agreed(args, plan_request, &examined)? {
                return Ok(exit);
            }
            let id = examined.template.clone().unwrap_or_default();
            args.start_planned(plan_request, &id, &examined)
        }
        (Subject::File(_), None) => Err(usage("there is no package", "name a file")),
    }
}

fn package(args: &Args, plan_request: PlanRequest<'_>, file: &File<'_>) -> Result<Exit, CliError> {
    let in_catalog = examine::find_in_catalog(plan_request, &args.template, file)?;
    let make = |plan_request: PlanRequest<'_>| examine::file(plan_request, &in_catalog, file);
    let (request, examined) = decided(args, plan_request, &make)?;
    let plan_request = PlanRequest {
        request: &request,
        ..plan_request
    };
    if let Some(exit) = agreed(args, plan_request, &examined)? {
        return Ok(exit);
    }
    match &in_catalog {
        // What is not there was refused: nothing is applied that could be upgraded.
        CatalogMatch::Nothing => {
            print_plan(args.subject(), &examined, args.format, None, plan_request)
        }
        CatalogMatch::Same(id) => args.start_planned(plan_request, id, &examined),
        CatalogMatch::Other {
            id,
            by_name,
            digest,
            ..
        } => {
            if let (Some(candidate), false) = (by_name, args.yes) {
                remote::confirm(&catalog::question(candidate))?;
            }
            if args.yes {
                let before = catalog::replaced(plan_request.client, id, digest)?;
                let pushed = PushedTemplate::instead(plan_request, id, before, file)?;
                let outcome = args.start(plan_request, &pushed.id, &plan_request.body());
                return pushed.keep_unless_refused(plan_request, outcome);
            }
            file::pushed(
                args,
                plan_request,
                &in_catalog,
                file,
                &examined.planned.preview,
            )
        }
    }
}

/// A plan without conflicts, or one that whoever is asked has left undecided.
fn decided(
    args: &Args,
    plan_request: PlanRequest<'_>,
    make: &dyn Fn(PlanRequest<'_>) -> Result<PlannedApply, CliError>,
) -> Result<(Request, PlannedApply), CliError> {
    let mut request = plan_request.request.clone();
    loop {
        let examined = make(PlanRequest {
            request: &request,
            ..plan_request
        })?;
        let preview = &examined.planned.preview;
        let refusals = preview.refusals.iter();
        let others = refusals.filter(|refusal| refusal.code != Code::UpgradeConflicts);
        let asks = args.can_prompt() && !args.yes && !args.dry_run;
        if preview.conflicts.is_empty() || others.count() > 0 || !asks {
            return Ok((request, examined));
        }
        let before = request.terms.clone();
        let titles = examined.titles(plan_request.client);
        let outcome = decide_conflicts(preview, &titles, &mut request.terms)?;
        if outcome == PromptOutcome::Some || request.terms == before {
            return Ok((request, examined));
        }
    }
}

/// Shows the plan and asks about it; how the command ends when nothing is to be applied.
fn agreed(
    args: &Args,
    plan_request: PlanRequest<'_>,
    examined: &PlannedApply,
) -> Result<Option<Exit>, CliError> {
    let plan = &examined.planned.preview;
    if args.dry_run {
        return print_plan(args.subject(), examined, args.format, None, plan_request).map(Some);
    }
    if !plan.refusals.is_empty() {
        return args.refuse(plan_request, examined).map(Some);
    }
    if !args.yes {
        let subject = format!("`{}`", printable::path(args.subject()));
        let workspace = plan_request.title();
        let titles = examined.titles(plan_request.client);
        print_note(&screen(&subject, &workspace, plan, &titles));
        remote::confirm(&format!("Workspace {workspace}: Apply it?"))?;
    }
    Ok(None)
}
