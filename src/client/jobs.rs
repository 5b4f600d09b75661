//! Applies on the server: plans, jobs and undo.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Client;
use super::error::Error;
use super::page::Pages;
use super::request::Request;
use super::rows::segment;
use super::templates::path;
use super::with_document::{WithDocument, leniently};
use crate::apply::{Preview, Report};
use reqwest::Method;

/// What begins with an apply.
#[derive(Debug, Clone, Deserialize)]
pub struct Started {
    /// The job.
    #[serde(rename = "jobId")]
    pub job_id: String,
    /// Its status.
    #[serde(default)]
    pub status: Option<String>,
}

/// A job that applies a template.
#[derive(Debug, Clone, Deserialize)]
pub struct Job {
    /// Its id.
    #[serde(default)]
    pub id: Option<String>,
    /// What is applied.
    #[serde(default)]
    pub template_id: Option<String>,
    /// Where.
    #[serde(default)]
    pub workspace_id: Option<String>,
    /// Its status, in the server's word.
    pub status: String,
    /// How far it is.
    #[serde(default, deserialize_with = "leniently")]
    pub progress: Option<JobProgress>,
    #[serde(default)]
    locked_until: Option<String>,
    #[serde(default, rename = "lockedUntil")]
    locked_until_here: Option<String>,
    /// What it did so far; nothing where the server's report is of another form.
    #[serde(default, deserialize_with = "leniently")]
    pub report: Option<Report>,
    #[serde(default)]
    error: Value,
    /// When it began.
    #[serde(default)]
    pub created_at: Option<String>,
    /// When it last changed.
    #[serde(default)]
    pub updated_at: Option<String>,
}

/// How far a job is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct JobProgress {
    /// `structure`, `rows`, `publish`.
    #[serde(default)]
    pub phase: Option<String>,
    /// Done of it.
    #[serde(default)]
    pub done: u64,
    /// Of how many.
    #[serde(default)]
    pub total: u64,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOutcome {
    /// It did everything.
    Completed,
    /// It stopped, and can be resumed.
    Failed,
    /// What it did was undone.
    Undone,
}

impl Job {
    /// How it ended; nothing while it goes on. The specification names no words for the end, so
    /// those that other servers may use are understood, too.
    pub fn ended(&self) -> Option<JobOutcome> {
        match self.status.to_ascii_lowercase().as_str() {
            "completed" | "complete" | "done" | "succeeded" | "success" | "finished" => {
                Some(JobOutcome::Completed)
            }
            "failed" | "error" | "cancelled" | "canceled" | "aborted" => Some(JobOutcome::Failed),
            "undone" => Some(JobOutcome::Undone),
            _ => None,
        }
    }

    /// Whether it is being undone, or was.
    pub fn is_undo(&self) -> bool {
        self.status.eq_ignore_ascii_case("undoing") || self.ended() == Some(JobOutcome::Undone)
    }

    /// Until when a worker holds its lease, in RFC 3339.
    pub fn locked_until(&self) -> Option<&str> {
        let either = self
            .locked_until
            .as_ref()
            .or(self.locked_until_here.as_ref());
        either.map(String::as_str)
    }

    /// Why it failed, as far as the server says so.
    pub fn failure(&self) -> Option<String> {
        let words = |value: &Value| value.as_str().map(str::to_owned);
        let message = words(&self.error).or_else(|| {
            let members = ["detail", "message", "code"];
            members.iter().find_map(|name| words(self.error.get(name)?))
        });
        message.map(|text| text.replace(char::is_control, " "))
    }
}

/// Packages in the body of a plan or an apply, each as its text.
#[derive(Debug, Clone, Copy, Default)]
pub struct BodyPackages<'t> {
    /// What an upgrade starts from.
    pub base: Option<&'t str>,
    /// What stands in place of the template's package, if the server takes one.
    pub package: Option<&'t str>,
}

impl Client {
    /// `POST /v1/templates/{id}/plan`: what an apply with that body would do. Writes nothing.
    pub fn plan(
        &self,
        template: &str,
        body: &impl Serialize,
    ) -> Result<WithDocument<Preview>, Error> {
        self.plan_with(template, body, BodyPackages::default())
    }

    /// Like [`plan`](Client::plan), with packages in the body.
    pub fn plan_with(
        &self,
        template: &str,
        body: &impl Serialize,
        packages: BodyPackages<'_>,
    ) -> Result<WithDocument<Preview>, Error> {
        let body = with_packages(body, packages);
        self.read(&Request::post_text(path(template, "/plan"), body).harmless())
    }

    /// `POST /v1/templates/{id}/apply`: begins a job, or goes on with the one that the body names.
    pub fn apply(&self, template: &str, body: &impl Serialize) -> Result<Started, Error> {
        self.apply_with(template, body, BodyPackages::default())
    }

    /// Like [`apply`](Client::apply), with packages in the body.
    pub fn apply_with(
        &self,
        template: &str,
        body: &impl Serialize,
        packages: BodyPackages<'_>,
    ) -> Result<Started, Error> {
        let body = with_packages(body, packages);
        self.read(&self.keyed(Request::post_text(path(template, "/apply"), body)))
    }

    /// `GET /v1/template-jobs`, of one workspace or of all.
    pub fn jobs(&self, workspace: Option<&str>) -> Pages<'_, WithDocument<Job>> {
        let request = Request::get("/v1/template-jobs");
        let request = match workspace {
            Some(id) => request.with("workspace_id", id),
            None => request,
        };
        self.pages(request, None)
    }

    /// `GET /v1/template-jobs/{id}`
    pub fn job(&self, id: &str) -> Result<WithDocument<Job>, Error> {
        self.read(&Request::get(format!("/v1/template-jobs/{}", segment(id))))
    }

    /// `POST /v1/template-jobs/{id}/cancel`: stops a job that is unfinished.
    pub fn cancel(&self, id: &str) -> Result<WithDocument<Job>, Error> {
        let address = format!("/v1/template-jobs/{}/cancel", segment(id));
        self.read(&self.keyed(Request::new(Method::POST, address)))
    }

    /// `POST /v1/template-jobs/{id}/undo`: takes away what the job made; `force` also what was
    /// changed since. The job that comes back is undone, or is being undone.
    pub fn undo(&self, id: &str, force: bool) -> Result<WithDocument<Job>, Error> {
        let address = format!("/v1/template-jobs/{}/undo", segment(id));
        let mut request = Request::new(Method::POST, address);
        if force {
            request = request.with("force", "true");
        }
        self.read(&self.keyed(request))
    }
}

/// A body with packages in it as they are written: numbers keep their digits.
fn with_packages(body: &impl Serialize, packages: BodyPackages<'_>) -> Vec<u8> {
    let rest = serde_json::to_string(body).unwrap_or_default();
    let rest = rest.strip_prefix('{').unwrap_or_default();
    let packages = [("base", packages.base), ("package", packages.package)];
    let packages = packages.iter().filter_map(|(name, text)| {
        let text = text.as_ref()?.trim_start_matches('\u{feff}');
        Some(format!("\"{name}\":{text}"))
    });
    let mut members: Vec<String> = packages.collect();
    if rest != "}" {
        members.push(rest.strip_suffix('}').unwrap_or_default().to_owned());
    }
    format!("{{{}}}", members.join(",")).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::{Job, JobOutcome};

    fn job(text: &str) -> Job {
        serde_json::from_str(text).expect(text)
    }

    #[test]
    fn jobs_of_strangers_are_understood() {
        let read = job(
            r#"{"status": "rows", "progress": "half", "lockedUntil": "noon", "report": [],
                "error": {"message": "no\nroom"}}"#,
        );
        assert_eq!((read.ended(), read.locked_until()), (None, Some("noon")));
        assert_eq!((read.progress.as_ref(), read.report.as_ref()), (None, None));
        assert_eq!(read.failure().as_deref(), Some("no room"));
        assert_eq!(
            job(r#"{"status": "Succeeded"}"#).ended(),
            Some(JobOutcome::Completed)
        );
        assert_eq!(
            job(r#"{"status": "error", "error": null}"#).ended(),
            Some(JobOutcome::Failed)
        );
    }

    #[test]
    fn a_report_may_know_less() {
        let read = job(r#"{"id": "j", "status": "completed", "locked_until": null,
                "progress": {"phase": "rows", "done": 3, "total": 4},
                "report": {"rows": {"f_t": {"inserted": 3}}, "published": 1, "unresolved": []}}"#);
        let report = read.report.expect("a report");
        assert_eq!(report.rows["f_t"].inserted, 3);
        assert_eq!(read.progress.map(|progress| progress.done), Some(3));
    }
}
