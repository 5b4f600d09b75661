//! Starts or resumes a job on a server: prints its id, then waits for its end.

use serde_json::{Value, json};
use tplkit::client::{BodyPackages, Client, Error};
use tplkit::printable;
use tplkit::problem::Code;

use super::active_job::ActiveJob;
use super::args::Form;
use super::error::CliError;
use super::exit::Exit;
use super::job_progress::{OutcomeReport, WaitOptions, conclude, follow};
use super::output::write_result;
use super::resume_hint::{self, ResumeHint};
use super::session::Session;
use super::upgrade_args::BaseFile;
use super::{client_error, document, interrupt_message};

/// What to begin, and how to wait for it.
pub(crate) struct StartJob<'s> {
    pub(crate) client: &'s Client,
    pub(crate) template: &'s str,
    pub(crate) workspace: &'s str,
    /// The job that is gone on with, if there is one.
    pub(crate) job: Option<&'s str>,
    pub(crate) body: &'s tplkit::json::Value,
    /// The package that an upgrade starts from, where one is given.
    pub(crate) base: Option<&'s BaseFile>,
    pub(crate) waiting: &'s WaitOptions,
    pub(crate) detach: bool,
    pub(crate) form: Form,
    pub(crate) session: &'s Session,
}

/// Begins it and waits.
///
/// # Errors
/// Also where another job is in the way: who has pushed for this takes that back.
pub(crate) fn run(start: &StartJob<'_>) -> Result<Exit, CliError> {
    let members = [
        ("template_id", json!(start.template)),
        ("workspace_id", json!(start.workspace)),
    ];
    let way = match start.job {
        Some(id) => ResumeHint::Job(id.to_owned()),
        None => ResumeHint::Workspace(start.workspace.to_owned()),
    };
    resume_hint::leave(&way, start.form);
    let packages = BodyPackages {
        base: start.base.map(|base| base.text.as_str()),
        package: None,
    };
    let applied = start
        .client
        .apply_with(start.template, start.body, packages);
    let started = match applied {
        Ok(started) => started,
        Err(Error::Refused(problem)) if problem.is(Code::JobActive) => {
            let active = ActiveJob::of_problem(&problem);
            let exit = active.report(start.form, Some(start.template), start.workspace)?;
            return Err(CliError::Reported(exit));
        }
        // Whoever was refused has begun nothing.
        Err(error @ Error::Refused(_)) if client_error::exit(&error) != Exit::Unreachable => {
            interrupt_message::leave(None);
            let error = match start.base {
                Some(base) => base.name_in(error),
                None => error,
            };
            return Err(error.into());
        }
        Err(error) => return Err(way.of(error.into())),
    };
    let id = printable::line(&started.job_id);
    let way = ResumeHint::Job(id.clone());
    resume_hint::leave(&way, start.form);
    if start.form == Form::Text {
        let written = write_result(&format!("{id}\n"), None);
        written.map_err(|error| way.of(error))?;
    }
    if start.detach {
        interrupt_message::leave(None);
        if start.form == Form::Json {
            let status = [("job_id", json!(id)), ("status", json!(started.status))];
            let body = members.into_iter().chain(status);
            let body: serde_json::Map<String, Value> =
                body.map(|(name, value)| (name.to_owned(), value)).collect();
            let written = write_result(&document::write("clean", &body.into()), None);
            written.map_err(|error| way.of(error))?;
        }
        let note = format!("`tplkit job watch {id}` waits for its end");
        start.session.note(note);
        return Ok(Exit::Done);
    }
    let followed = follow(start.client, &id, start.waiting, start.session);
    let followed = followed.map_err(|error| way.of(error))?;
    let reported = OutcomeReport {
        members: &members,
        form: start.form,
        undo: false,
        id_shown: true,
    };
    conclude(start.client, &id, followed, start.waiting, &reported)
}
