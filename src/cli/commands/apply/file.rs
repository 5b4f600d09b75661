//! Applies a package file: plan, confirm, push to the catalog, apply as a template.

use tplkit::apply::Preview;

use super::Args;
use crate::cli::args::Form;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::interrupt_message;
use crate::cli::plan_view::examine::{self, Examined, File, PlanRequest};
use crate::cli::plan_view::{body, by_server, is_foreign, not_pushed};

use crate::cli::resume_hint::{self, ResumeHint};

use super::super::plan::print_plan;

pub(super) fn run(
    args: &Args,
    question: PlanRequest<'_>,
    file: &File<'_>,
) -> Result<Exit, CliError> {
    if args.dry_run {
        let examined = examine::file(question, file)?;
        return print_plan(&args.subject, &examined, args.format, None, question);
    }
    if args.yes {
        let known = examine::pushed_template(question, file)?;
        let pushed = match known {
            Some(id) => Pushed::existing(question, id),
            None => Pushed::anew(question, file, args.format)?,
        };
        let body = body(question.request, question.workspace);
        let outcome = args.start(question, &pushed.id, &body);
        return pushed.keep_unless_refused(question, outcome);
    }
    let examined = examine::file(question, file)?;
    if let Some(exit) = args.agree(question, &examined)? {
        return Ok(exit);
    }
    match &examined.template {
        Some(id) => args.start_planned(question, id, &examined),
        None => pushed(args, question, file, &examined.planned.preview),
    }
}

/// Pushes what was agreed to, and asks again where the server knows better.
fn pushed(
    args: &Args,
    question: PlanRequest<'_>,
    file: &File<'_>,
    agreed: &Preview,
) -> Result<Exit, CliError> {
    let pushed = Pushed::anew(question, file, args.format)?;
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
    let planned = match by_server(question.client, id, &body) {
        Ok(planned) => planned,
        Err(error) if is_foreign(&error) => return args.start(question, id, &body),
        Err(error) => return Err(error),
    };
    let same = planned.shows_what(agreed);
    let examined = Examined {
        planned,
        template: Some(id.to_owned()),
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
    /// Whether it was not there before.
    new: bool,
}

impl Pushed {
    fn existing(question: PlanRequest<'_>, id: String) -> Pushed {
        let session = question.session;
        session.note(format!(
            "note: the catalog holds this package already, as template {id}"
        ));
        Pushed { id, new: false }
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
        Ok(Pushed { id, new: true })
    }

    /// A template whose apply was refused has no reason to stay; one that a job may have begun with
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
        if self.new && refused {
            interrupt_message::leave(None);
            let id = &self.id;
            let note = match question.client.delete_template(id) {
                Ok(()) => format!("template {id} was taken out of the catalog again"),
                Err(_) => {
                    format!(
                        "template {id} stays in the catalog; `tplkit template delete {id}` removes it"
                    )
                }
            };
            question.session.note(note);
        }
        outcome
    }
}
