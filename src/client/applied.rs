//! What was applied to a workspace, and what people changed in it.

use super::Client;
use super::error::Error;
use super::page::Pages;
use super::request::Request;
use super::rows::segment;
use super::with_document::WithDocument;
use crate::upgrade::{AppliedTemplate, Drift};

impl Client {
    /// `GET /v1/workspaces/{id}/templates`
    pub fn applied(&self, workspace: &str) -> Pages<'_, WithDocument<AppliedTemplate>> {
        let address = format!("/v1/workspaces/{}/templates", segment(workspace));
        self.pages(Request::get(address), None)
    }

    /// `GET /v1/workspaces/{id}/templates/{template_id}/drift`, of the line that a job belongs to; with
    /// `rows` also the cells that differ.
    pub fn drift(
        &self,
        workspace: &str,
        template: &str,
        rows: bool,
        job: Option<&str>,
    ) -> Result<WithDocument<Drift>, Error> {
        let (workspace, template) = (segment(workspace), segment(template));
        let address = format!("/v1/workspaces/{workspace}/templates/{template}/drift");
        let mut request = Request::get(address);
        if rows {
            request = request.with("rows", "true");
        }
        if let Some(job) = job {
            request = request.with("job", job);
        }
        self.read(&request)
    }
}
