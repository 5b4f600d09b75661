//! Shows how to return to remote work, which continues when the command ends.

use serde_json::json;
use tplkit::finding::render::ReportError;

use super::args::Form;
use super::document;
use super::error::CliError;
use super::interrupt_message::{self, InterruptMessage};

/// Where remote work is found again.
#[derive(Debug, Clone)]
pub(crate) enum ResumeHint {
    /// A job that is known.
    Job(String),
    /// A job that is being undone.
    Undo(String),
    /// A job that has ended, which could not be reported.
    Ended(String),
    /// A job of this workspace that may have begun.
    Workspace(String),
    /// A run of this automation.
    Run(String),
    /// A template that was pushed so that it could be applied.
    Template(String),
}

impl ResumeHint {
    fn words(&self) -> String {
        match self {
            ResumeHint::Job(id) => {
                format!("the job goes on: `tplkit job watch {id}` waits for its end")
            }
            ResumeHint::Undo(id) => {
                format!("the undo goes on: `tplkit job watch {id}` waits for its end")
            }
            ResumeHint::Ended(id) => {
                format!("the job has ended: `tplkit job show {id}` shows how")
            }
            ResumeHint::Workspace(id) => format!(
                "a job may have begun all the same: `tplkit job list --workspace {id}` shows it"
            ),
            ResumeHint::Run(id) => {
                format!("the run goes on: `tplkit automation runs {id}` shows how it ends")
            }
            ResumeHint::Template(id) => format!(
                "the package is in the catalog: `tplkit apply {id}` applies it, `tplkit template delete {id}` takes it out"
            ),
        }
    }

    fn job(&self) -> Option<&str> {
        match self {
            ResumeHint::Job(id) | ResumeHint::Undo(id) | ResumeHint::Ended(id) => Some(id),
            ResumeHint::Workspace(_) | ResumeHint::Run(_) | ResumeHint::Template(_) => None,
        }
    }

    /// An error that happened on the way.
    pub(crate) fn of(&self, error: CliError) -> CliError {
        CliError::Job {
            job: self.job().map(str::to_owned),
            source: Box::new(error),
            resume_hint: self.words(),
        }
    }
}

/// Has the hint shown when the command is interrupted from now on.
pub(crate) fn leave(way: &ResumeHint, form: Form) {
    let message = "interrupted";
    let help = way.words();
    let document = (form == Form::Json).then(|| {
        let mut body = document::errors(&[ReportError {
            path: None,
            message: message.to_owned(),
            help: Some(help.clone()),
        }]);
        body["job_id"] = json!(way.job());
        document::write("failed", &body)
    });
    interrupt_message::leave(Some(InterruptMessage {
        note: format!("\nerror: {message}\n  help: {help}"),
        document,
    }));
}
