//! Files: their records, uploads, and the rows whose cells name them. `content` reads their bytes.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::error::Error;
use super::page::Pages;
use super::request::Request;
use super::rows::segment;
use super::upload::Upload;
use super::with_document::WithDocument;
use super::{Client, Method};

/// The record of a file.
#[derive(Debug, Clone, Deserialize)]
pub struct FileRecord {
    /// Its id.
    pub id: String,
    /// Where it is.
    #[serde(default)]
    pub workspace_id: Option<String>,
    /// As its uploader called it: any text.
    pub name: String,
    /// As its uploader called that.
    #[serde(default)]
    pub content_type: Option<String>,
    /// Bytes.
    pub size: u64,
    /// Of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// When it was uploaded.
    #[serde(default)]
    pub created_at: Option<String>,
}

/// A file to upload.
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'n> {
    /// Where to.
    pub workspace: &'n str,
    /// What it is called there.
    pub name: &'n str,
    /// Its media type.
    pub content_type: &'n str,
}

impl Client {
    /// `GET /v1/files`, of one workspace or of all; those that something uses, those that nothing does, or both.
    pub fn files(
        &self,
        workspace: Option<&str>,
        attached: Option<bool>,
    ) -> Pages<'_, WithDocument<FileRecord>> {
        let mut request = Request::get("/v1/files");
        if let Some(id) = workspace {
            request = request.with("workspace_id", id);
        }
        if let Some(attached) = attached {
            request = request.with("attached", attached.to_string());
        }
        self.pages(request, None)
    }

    /// `GET /v1/files/{file_id}`
    pub fn file(&self, id: &str) -> Result<WithDocument<FileRecord>, Error> {
        self.read(&Request::get(path(id)))
    }

    /// `POST /v1/files`: a file whose bytes are read while they are sent.
    pub fn upload(
        &self,
        new: &NewFile<'_>,
        bytes: Upload,
    ) -> Result<WithDocument<FileRecord>, Error> {
        let mut request = Request::new(Method::POST, "/v1/files")
            .with("workspace_id", new.workspace)
            .with("name", new.name);
        let content_type = ("Content-Type".to_owned(), new.content_type.to_owned());
        request.headers.push(content_type);
        request.upload = Some(bytes);
        self.read(&self.keyed(request))
    }

    /// `DELETE /v1/files/{file_id}`; `force` also while something uses it.
    pub fn delete_file(&self, id: &str, force: bool) -> Result<(), Error> {
        let mut request = Request::new(Method::DELETE, path(id));
        if force {
            request = request.with("force", "true");
        }
        self.call(&request).map(drop)
    }

    /// `GET /v1/features/{feature_id}/rows/{row_id}`
    pub fn row(&self, feature: &str, row: &str) -> Result<Box<RawValue>, Error> {
        self.read(&Request::get(row_path(feature, row)))
    }

    /// `PATCH /v1/features/{feature_id}/rows/{row_id}`: writes one cell, and leaves the others.
    pub fn write_cell(
        &self,
        feature: &str,
        row: &str,
        column: &str,
        value: &str,
    ) -> Result<Box<RawValue>, Error> {
        let data = Map::from_iter([(column.to_owned(), Value::from(value))]);
        let request = Request::new(Method::PATCH, row_path(feature, row));
        let mut request = request.with("merge", "true");
        request.body = Some(json!({"data": data}).to_string().into_bytes());
        self.read(&request)
    }
}

/// The path of a file.
pub(super) fn path(id: &str) -> String {
    format!("/v1/files/{}", segment(id))
}

fn row_path(feature: &str, row: &str) -> String {
    format!("/v1/features/{}/rows/{}", segment(feature), segment(row))
}
