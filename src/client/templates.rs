//! The catalog: templates, their packages and payloads.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Client;
use super::error::Error;
use super::page::Pages;
use super::request::Request;
use super::rows::segment;
use super::with_document::WithDocument;
use reqwest::Method;

/// A template of the catalog. What the specification does not promise may be missing.
#[derive(Debug, Clone, Deserialize)]
pub struct Template {
    /// Its id.
    pub id: String,
    /// Whose it is.
    #[serde(default)]
    pub organization_id: Option<String>,
    /// The technical name.
    #[serde(default)]
    pub name: Option<String>,
    /// For people.
    #[serde(default)]
    pub label: Option<String>,
    /// `organization`, `workspace`, `module`, `feature`.
    #[serde(default)]
    pub scope: Option<String>,
    /// `system`, `org`, `public`.
    #[serde(default)]
    pub visibility: Option<String>,
    /// Version of the content.
    #[serde(default)]
    pub semver: Option<String>,
    /// When it was changed.
    #[serde(default)]
    pub updated_at: Option<String>,
}

impl Client {
    /// `GET /v1/templates`, of one scope or visibility or of all.
    pub fn templates(
        &self,
        scope: Option<&str>,
        visibility: Option<&str>,
    ) -> Pages<'_, WithDocument<Template>> {
        let mut request = Request::get("/v1/templates");
        for (name, value) in [("scope", scope), ("visibility", visibility)] {
            if let Some(value) = value {
                request = request.with(name, value);
            }
        }
        self.pages(request, None)
    }

    /// `GET /v1/templates/{id}`: with the manifest in its document.
    pub fn template(&self, id: &str) -> Result<WithDocument<Template>, Error> {
        self.read(&Request::get(path(id, "")))
    }

    /// `GET /v1/templates/{id}/package`: the whole envelope, as the server wrote it.
    pub fn package(&self, id: &str) -> Result<String, Error> {
        let request = Request::get(path(id, "/package"));
        text(&request, self.call(&request)?.body)
    }

    /// `PUT /v1/templates/{id}/package`: another package in its place, all or nothing.
    pub fn replace_package(
        &self,
        id: &str,
        package: &str,
    ) -> Result<WithDocument<Template>, Error> {
        let mut request = Request::new(Method::PUT, path(id, "/package"));
        request.body = Some(package.as_bytes().to_vec());
        self.read(&request)
    }

    /// `POST /v1/templates/import`: a package as a new template.
    pub fn import(
        &self,
        organization: Option<&str>,
        package: &str,
    ) -> Result<WithDocument<Template>, Error> {
        let mut request = Request::new(Method::POST, "/v1/templates/import");
        if let Some(id) = organization {
            request = request.with("organization_id", id);
        }
        request.body = Some(package.as_bytes().to_vec());
        self.read(&self.keyed(request))
    }

    /// `PATCH /v1/templates/{id}`: members of its identity, or its visibility.
    pub fn change_template(
        &self,
        id: &str,
        members: &Value,
    ) -> Result<WithDocument<Template>, Error> {
        let mut request = Request::new(Method::PATCH, path(id, ""));
        request.body = Some(members.to_string().into_bytes());
        self.read(&request)
    }

    /// `DELETE /v1/templates/{id}`
    pub fn delete_template(&self, id: &str) -> Result<(), Error> {
        let request = Request::new(Method::DELETE, path(id, ""));
        self.call(&request).map(drop)
    }

    /// `GET /v1/templates/{id}/payloads`: the rows of its tables, as the bytes that the server sent.
    pub fn payloads(&self, id: &str) -> Pages<'_, Box<RawValue>> {
        self.pages(Request::get(path(id, "/payloads")), None)
    }

    /// `PUT /v1/templates/{id}/payloads/{item_uid}`: the rows of one table.
    pub fn put_payload(&self, id: &str, item: &str, entry: &str) -> Result<(), Error> {
        let address = path(id, &format!("/payloads/{}", segment(item)));
        let mut request = Request::new(Method::PUT, address);
        request.body = Some(entry.as_bytes().to_vec());
        self.call(&request).map(drop)
    }

    /// `DELETE /v1/templates/{id}/payloads/{item_uid}`
    pub fn delete_payload(&self, id: &str, item: &str) -> Result<(), Error> {
        let address = path(id, &format!("/payloads/{}", segment(item)));
        self.call(&Request::new(Method::DELETE, address)).map(drop)
    }

    /// `POST /v1/workspaces/{id}/export`: a package of a workspace, made by the server.
    pub fn export(&self, workspace: &str, selection: &Value) -> Result<String, Error> {
        let address = format!("/v1/workspaces/{}/export", segment(workspace));
        let request = self.keyed(Request::post(address, selection));
        text(&request, self.call(&request)?.body)
    }
}

/// A path below a template.
pub(super) fn path(id: &str, rest: &str) -> String {
    format!("/v1/templates/{}{rest}", segment(id))
}

/// A body that is a package.
fn text(request: &Request, body: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(body).map_err(|_| Error::Unreadable {
        request: request.to_string(),
        why: "it is not UTF-8".to_owned(),
    })
}
