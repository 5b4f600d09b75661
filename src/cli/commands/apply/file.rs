//! Applies a package file: plan, confirm, push to the catalog, apply as a template.

use tplkit::apply::Preview;

use super::Args;
use crate::cli::args::Form;
use crate::cli::catalog::{self, Held};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::interrupt_message;
use crate::cli::plan_view::examine::{self, Examined, File, PlanRequest};
use crate::cli::plan_view::{body, by_server, by_server_for, is_foreign, not_pushed};
use crate::cli::remote;
use crate::cli::resume_hint::{self, ResumeHint};

use super::super::plan::print_plan;

pub(super) fn run(
    args: &Args,
    question: PlanRequest<'_>,
    file: &File<'_>,
) -> Result<Exit, CliError> {
    let held = examine::held(question, &args.template, file)?;
    if args.dry_run {
        let examined = examine::file(question, &held, file)?;
        return print_plan(args.subject(), &examined, args.format, None, question);
    }
    if args.yes {
        return run_agreed(args, question, &held, file);
    }
    let examined = examine::file(question, &held, file)?;
    if let Some(exit) = args.agree(question, &examined)? {
        return Ok(exit);
    }
    if let Held::Other {
        by_name: Some(candidate),
        ..
    } = &held
    {
        remote::confirm(&catalog::question(candidate))?;
    }
    match &held {
        Held::Same(id) if examined.template.is_some() => {
            args.start_planned(question, id, &examined)
        }
        _ => pushed(args, question, (&held, file), &examined.planned.preview),
    }
}

/// Applies a file that nobody asks about. What would be refused replaces nothing.
fn run_agreed(
    args: &Args,
    question: PlanRequest<'_>,
    held: &Held,
    file: &File<'_>,
) -> Result<Exit, CliError> {
    let body = body(question.request, question.workspace);
    if let Held::Other { id, .. } = held
        && let Some(planned) =
            by_server_for(question.client, id, (&body, question.base), file.text)?
        && !planned.preview.refusals.is_empty()
    {
        let examined = Examined {
            planned,
            template: Some(id.clone()),
            replaces: true,
            package: None,
        };
        return print_plan(args.subject(), &examined, args.format, None, question);
    }
    let pushed = Pushed::of(question, held, file, args.format)?;
    let outcome = args.start(question, &pushed.id, &body);
    pushed.keep_unless_refused(question, outcome)
}

/// Pushes what was agreed to, and asks again where the server knows better.
pub(super) fn pushed(
    args: &Args,
    question: PlanRequest<'_>,
    (held, file): (&Held, &File<'_>),
    agreed: &Preview,
) -> Result<Exit, CliError> {
    let pushed = Pushed::of(question, held, file, args.format)?;
    let outcome = again(args, question, &pushed.id, agreed);
    pushed.keep_unless_refused(question, outcome)
}

fn again(
    args: &Args,
    question: PlanRequest<'_>,
    id: &str,
    agreed: &Preview,
) -> Result<Exit, CliError> {
    let body = body(question.request, question.workspace);
    let planned = match by_server(question.client, id, (&body, question.base)) {
        Ok(planned) => planned,
        Err(error) if is_foreign(&error) => return args.start(question, id, &body),
        Err(error) => return Err(error),
    };
    let same = planned.shows_what(agreed);
    let examined = Examined {
        planned,
        template: Some(id.to_owned()),
        replaces: false,
        package: None,
    };
    if !same {
        question
            .session
            .note("note: the server knows more than could be read from here; this is its plan");
        if let Some(exit) = args.agree(question, &examined)? {
            return Ok(exit);
        }
    }
    args.start_planned(question, id, &examined)
}

/// A template that a file is applied through.
pub(super) struct Pushed {
    pub(super) id: String,
    way_back: WayBack,
}

/// What is done about a template whose apply was refused.
enum WayBack {
    /// It stays as it was.
    Nothing,
    /// It was not there before.
    Delete,
    /// It held this package before.
    Restore(String),
}

impl Pushed {
    /// Pushes the file as the catalog needs it.
    pub(super) fn of(
        question: PlanRequest<'_>,
        held: &Held,
        file: &File<'_>,
        form: Form,
    ) -> Result<Pushed, CliError> {
        let session = question.session;
        match held {
            Held::Nothing => Pushed::anew(question, file, form),
            Held::Same(id) => {
                session.note(format!(
                    "note: the catalog holds this package already, as template {id}"
                ));
                Ok(Pushed {
                    id: id.clone(),
                    way_back: WayBack::Nothing,
                })
            }
            Held::Other { id, .. } => Pushed::instead(question, id, file),
        }
    }

    /// Replaces the package of a template.
    pub(super) fn instead(
        question: PlanRequest<'_>,
        id: &str,
        file: &File<'_>,
    ) -> Result<Pushed, CliError> {
        let before = question.client.package(id)?;
        let replaced = question.client.replace_package(id, file.text);
        replaced.map_err(not_pushed)?;
        question
            .session
            .note(format!("pushed: template {id} is replaced"));
        Ok(Pushed {
            id: id.to_owned(),
            way_back: WayBack::Restore(before),
        })
    }

    pub(super) fn anew(
        question: PlanRequest<'_>,
        file: &File<'_>,
        form: Form,
    ) -> Result<Pushed, CliError> {
        let workspace = question.client.workspace(&question.workspace.to_string())?;
        let organization = workspace.organization_id.as_deref();
        let template = question.client.import(organization, file.text);
        let id = template.map_err(not_pushed)?.record.id;
        resume_hint::leave(&ResumeHint::Template(id.clone()), form);
        question.session.note(format!("pushed as template {id}"));
        Ok(Pushed {
            id,
            way_back: WayBack::Delete,
        })
    }

    /// A package whose apply was refused has no reason to stay; one that a job may have begun with
    /// has.
    pub(super) fn keep_unless_refused(
        &self,
        question: PlanRequest<'_>,
        outcome: Result<Exit, CliError>,
    ) -> Result<Exit, CliError> {
        let refused = match &outcome {
            Ok(_) | Err(CliError::Job { .. } | CliError::Output(_)) => false,
            Err(_) => true,
        };
        if !refused {
            return outcome;
        }
        let (id, client) = (&self.id, question.client);
        let note = match &self.way_back {
            WayBack::Nothing => return outcome,
            WayBack::Delete => match client.delete_template(id) {
                Ok(()) => format!("template {id} was taken out of the catalog again"),
                Err(_) => format!(
                    "template {id} stays in the catalog; `tplkit template delete {id}` removes it"
                ),
            },
            WayBack::Restore(before) => match client.replace_package(id, before) {
                Ok(_) => format!("template {id} has the package again that it had before"),
                Err(_) => format!("template {id} keeps the package that was pushed"),
            },
        };
        interrupt_message::leave(None);
        question.session.note(note);
        outcome
    }
}
