//! A job that keeps another one of its template, or of its line, from beginning: says which it is, and how to return to it.
//!
//! In: the refusal of an apply, or a plan that foresees it. Out: the exit code 69, with the id of the job as the result.

use serde_json::{Map, Value, json};
use tplkit::apply::{Preview, Refusal};
use tplkit::client::{Client, Error, Job, Problem};
use tplkit::finding::render::ReportError;
use tplkit::problem::Code;

use super::args::Form;
use super::error::CliError;
use super::exit::Exit;
use super::output::{print_error, write_result};
use super::{client_error, document, interrupt_message};

/// A job that is in the way.
pub(crate) struct ActiveJob {
    id: Option<String>,
    /// Until when a worker holds its lease, in RFC 3339.
    locked_until: Option<String>,
    /// What a document says of the refusal.
    refusal: Map<String, Value>,
}

impl ActiveJob {
    /// As a server refuses an apply.
    pub(crate) fn of_problem(problem: &Problem) -> ActiveJob {
        ActiveJob {
            id: problem.job_id.clone(),
            locked_until: problem.locked_until.clone(),
            refusal: client_error::members(&Error::Refused(Box::new(problem.clone()))),
        }
    }

    /// As a plan foresees that; nothing where something else is against the apply, or nothing is.
    pub(crate) fn of_plan(
        plan: &Preview,
        client: &Client,
        workspace: &str,
        template: Option<&str>,
    ) -> Option<ActiveJob> {
        let [refusal] = plan.refusals.as_slice() else {
            return None;
        };
        if refusal.code != Code::JobActive {
            return None;
        }
        let job = named(refusal, client, workspace, template);
        let locked_until = job.as_ref().and_then(Job::locked_until).map(str::to_owned);
        let id = job.and_then(|job| job.id);
        let mut members = Map::new();
        members.insert("status".to_owned(), json!(409));
        members.insert("code".to_owned(), json!(refusal.code.as_str()));
        for (name, value) in [("job_id", &id), ("locked_until", &locked_until)] {
            if let Some(value) = value {
                members.insert(name.to_owned(), json!(value));
            }
        }
        Some(ActiveJob {
            id,
            locked_until,
            refusal: members,
        })
    }

    /// Reports it for an apply of that template to that workspace.
    pub(crate) fn report(
        &self,
        form: Form,
        template: Option<&str>,
        workspace: &str,
    ) -> Result<Exit, CliError> {
        interrupt_message::leave(None);
        let message = match &self.locked_until {
            Some(until) => {
                format!("a job of this template or its line is at work in the workspace, held until {until}")
            }
            None => "a job of this template or its line is unfinished in the workspace, and nobody works on it now"
                .to_owned(),
        };
        let help = match &self.id {
            Some(id) => format!(
                "`tplkit job watch {id}` waits for its end; `tplkit job resume {id}` goes on with it once nobody holds it"
            ),
            None => "wait for its end, and apply again".to_owned(),
        };
        let report_error = ReportError {
            path: None,
            message,
            help: Some(help),
        };
        print_error(&report_error);
        let text = match (form, &self.id) {
            (Form::Text, Some(id)) => format!("{id}\n"),
            (Form::Text, None) => String::new(),
            (Form::Json, id) => {
                let mut body = document::errors(std::slice::from_ref(&report_error));
                body["template_id"] = json!(template);
                body["workspace_id"] = json!(workspace);
                body["job_id"] = json!(id);
                if let Some(error) = body["errors"][0].as_object_mut() {
                    error.extend(self.refusal.clone());
                }
                document::write("failed", &body)
            }
        };
        write_result(&text, None)?;
        Ok(Exit::Running)
    }
}

/// The job that a plan names in words, in the list of those of the workspace; else the unfinished one of the template.
fn named(
    refusal: &Refusal,
    client: &Client,
    workspace: &str,
    template: Option<&str>,
) -> Option<Job> {
    let mut of_template = None;
    for page in client.jobs(Some(workspace)) {
        // What earlier pages said is worth more than nothing.
        let Ok(page) = page else { break };
        let jobs = page.items.into_iter().map(|one| one.record);
        for job in jobs.filter(|job| job.ended().is_none()) {
            let id = job.id.as_deref();
            if id.is_some_and(|id| refusal.detail.contains(id)) {
                return Some(job);
            }
            if template.is_some() && job.template_id.as_deref() == template {
                of_template.get_or_insert(job);
            }
        }
    }
    of_template
}
