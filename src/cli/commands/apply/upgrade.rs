//! Upgrades what was applied before: the plan is always worked out first, so that a refused upgrade
//! pushes nothing (`upgrade` 3.7.2).

use tplkit::apply::Request;
use tplkit::problem::Code;

use super::super::plan::print_plan;
use super::file::{self, Pushed};
use super::{Args, usage};
use crate::cli::catalog::{self, Held};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::print_note;
use crate::cli::plan_view::examine::{self, Examined, File, PlanRequest};
use crate::cli::plan_view::screen;
use crate::cli::remote;
use crate::cli::remote::subject::Subject;
use crate::cli::upgrade_view::{Asked, ask};
use tplkit::printable;

pub(super) fn run(
    args: &Args,
    question: PlanRequest<'_>,
    subject: Subject<'_>,
    file: Option<&File<'_>>,
) -> Result<Exit, CliError> {
    match (subject, file) {
        (_, Some(file)) => package(args, question, file),
        (Subject::Template(word), None) => {
            args.template.refuse(word)?;
            let make = |question: PlanRequest<'_>| examine::template(question, word);
            let (request, examined) = decided(args, question, &make)?;
            let question = PlanRequest {
                request: &request,
                ..question
            };
            if let Some(exit) = agreed(args, question, &examined)? {
                return Ok(exit);
            }
            let id = examined.template.clone().unwrap_or_default();
            args.start_planned(question, &id, &examined)
        }
        (Subject::File(_), None) => Err(usage("there is no package", "name a file")),
    }
}

fn package(args: &Args, question: PlanRequest<'_>, file: &File<'_>) -> Result<Exit, CliError> {
    let held = examine::held(question, &args.template, file)?;
    let make = |question: PlanRequest<'_>| examine::file(question, &held, file);
    let (request, examined) = decided(args, question, &make)?;
    let question = PlanRequest {
        request: &request,
        ..question
    };
    if let Some(exit) = agreed(args, question, &examined)? {
        return Ok(exit);
    }
    match &held {
        // What is not there was refused: nothing is applied that could be upgraded.
        Held::Nothing => print_plan(args.subject(), &examined, args.format, None, question),
        Held::Same(id) => args.start_planned(question, id, &examined),
        Held::Other { id, by_name } => {
            if let (Some(candidate), false) = (by_name, args.yes) {
                remote::confirm(&catalog::question(candidate))?;
            }
            if args.yes {
                let pushed = Pushed::instead(question, id, file)?;
                let outcome = args.start(question, &pushed.id, &question.body());
                return pushed.keep_unless_refused(question, outcome);
            }
            file::pushed(args, question, (&held, file), &examined.planned.preview)
        }
    }
}

/// A plan without conflicts, or one that whoever is asked has left undecided.
fn decided(
    args: &Args,
    question: PlanRequest<'_>,
    make: &dyn Fn(PlanRequest<'_>) -> Result<Examined, CliError>,
) -> Result<(Request, Examined), CliError> {
    let mut request = question.request.clone();
    loop {
        let examined = make(PlanRequest {
            request: &request,
            ..question
        })?;
        let preview = &examined.planned.preview;
        let refusals = preview.refusals.iter();
        let others = refusals.filter(|refusal| refusal.code != Code::UpgradeConflicts);
        let asks = args.asks() && !args.yes && !args.dry_run;
        if preview.conflicts.is_empty() || others.count() > 0 || !asks {
            return Ok((request, examined));
        }
        let before = request.terms.clone();
        let asked = ask(preview, &mut request.terms)?;
        if asked == Asked::Some || request.terms == before {
            return Ok((request, examined));
        }
    }
}

/// Shows the plan and asks about it; how the command ends when nothing is to be applied.
fn agreed(
    args: &Args,
    question: PlanRequest<'_>,
    examined: &Examined,
) -> Result<Option<Exit>, CliError> {
    let plan = &examined.planned.preview;
    if args.dry_run || !plan.refusals.is_empty() {
        return print_plan(args.subject(), examined, args.format, None, question).map(Some);
    }
    if !args.yes {
        let subject = format!("`{}`", printable::path(args.subject()));
        print_note(&screen(&subject, &question.workspace.to_string(), plan));
        remote::confirm("Apply it?")?;
    }
    Ok(None)
}
