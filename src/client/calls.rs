//! The routes, one method each.

use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use super::Client;
use super::credential::Tokens;
use super::error::Error;
use super::page::Pages;
use super::records::{Channel, Column, Connection, Feature, Health, Me, Organization, Workspace};
use super::request::Request;
use super::rows::{RowQuery, segment};
use super::secret::Secret;

impl Client {
    /// `POST /v1/auth/token`: signs in with an e-mail address and a password.
    pub fn token(&self, email: &str, password: &Secret) -> Result<Tokens, Error> {
        let document = json!({"email": email, "password": password.reveal()});
        self.tokens_for("/v1/auth/token", &document, password)
    }

    /// `POST /v1/auth/refresh`: the next pair of tokens. Serves once for each refresh token, and is
    /// never tried again.
    pub fn refresh(&self, token: &Secret) -> Result<Tokens, Error> {
        let document = json!({"refresh_token": token.reveal()});
        self.tokens_for("/v1/auth/refresh", &document, token)
    }

    /// `POST /v1/auth/logout`: ends the session of a refresh token, whichever of its tokens that is.
    pub fn logout(&self, token: &Secret) -> Result<(), Error> {
        let document = json!({"refresh_token": token.reveal()});
        let mut request = Request::post("/v1/auth/logout", &document);
        request.secrets.push(token.clone());
        self.call_openly(&request).map(drop)
    }

    fn tokens_for(
        &self,
        path: &str,
        document: &serde_json::Value,
        secret: &Secret,
    ) -> Result<Tokens, Error> {
        let mut request = Request::post(path, document);
        request.secrets.push(secret.clone());
        let tokens: Tokens = self.call_openly(&request)?.read(&request)?;
        if tokens.access.fits_header() {
            return Ok(tokens);
        }
        Err(Error::Unreadable {
            request: request.to_string(),
            why: "its token cannot be sent".to_owned(),
        })
    }

    /// `GET /v1/me`: who the credential belongs to.
    pub fn me(&self) -> Result<Me, Error> {
        self.read(&Request::get("/v1/me"))
    }

    /// `GET /v1/health`: whether the server runs. Needs no credential, and carries none.
    pub fn health(&self) -> Result<Health, Error> {
        let request = Request::get("/v1/health");
        self.call_openly(&request)?.read(&request)
    }

    /// `GET /v1/ready`: whether its store responds. Needs no credential, and carries none.
    pub fn ready(&self) -> Result<(), Error> {
        self.call_openly(&Request::get("/v1/ready")).map(drop)
    }

    /// `GET /v1/organizations`
    pub fn organizations(&self) -> Pages<'_, Organization> {
        self.pages(Request::get("/v1/organizations"), None)
    }

    /// `GET /v1/channels`: where automations of an organization notify people.
    pub fn channels(&self, organization: &str) -> Pages<'_, Channel> {
        let request = Request::get("/v1/channels").with("organization_id", organization);
        self.pages(request, None)
    }

    /// `GET /v1/connections`: whom automations of an organization speak to, of one kind (`smtp`, `http`,
    /// `llm`) or of all. Timer profiles are those of the kind `timer`.
    pub fn connections(&self, organization: &str, kind: Option<&str>) -> Pages<'_, Connection> {
        let request = Request::get("/v1/connections").with("organization_id", organization);
        let request = match kind {
            Some(kind) => request.with("kind", kind),
            None => request,
        };
        self.pages(request, None)
    }

    /// `GET /v1/workspaces`
    pub fn workspaces(&self) -> Pages<'_, Workspace> {
        self.pages(Request::get("/v1/workspaces"), None)
    }

    /// `GET /v1/workspaces/{workspace_id}`
    pub fn workspace(&self, id: &str) -> Result<Workspace, Error> {
        self.read(&Request::get(format!("/v1/workspaces/{}", segment(id))))
    }

    /// `GET /v1/features`, of one workspace or of all.
    pub fn features(&self, workspace: Option<&str>) -> Pages<'_, Feature> {
        let request = Request::get("/v1/features");
        let request = match workspace {
            Some(id) => request.with("workspace_id", id),
            None => request,
        };
        self.pages(request, None)
    }

    /// `GET /v1/features/{feature_id}/columns`, in display order.
    pub fn columns(&self, feature: &str) -> Result<Vec<Column>, Error> {
        let path = format!("/v1/features/{}/columns", segment(feature));
        self.read(&Request::get(path))
    }

    /// `GET /v1/features/{feature_id}/rows:aggregate`: how many rows a table holds.
    pub fn count(&self, feature: &str) -> Result<u64, Error> {
        self.count_matching(feature, &RowQuery::default())
    }

    /// `GET /v1/features/{feature_id}/rows:aggregate`: how many rows of a table match a query.
    pub fn count_matching(&self, feature: &str, query: &RowQuery) -> Result<u64, Error> {
        #[derive(serde::Deserialize)]
        struct RowCount {
            result: u64,
        }
        let path = format!("/v1/features/{}/rows:aggregate", segment(feature));
        let request = query.filtered(Request::get(path).with("op", "count"));
        let counted: RowCount = self.read(&request)?;
        Ok(counted.result)
    }

    /// `GET /v1/features/{feature_id}/rows`: at most `most` rows, all of them without a number,
    /// as the bytes that the server sent.
    pub fn rows(
        &self,
        feature: &str,
        query: &RowQuery,
        most: Option<usize>,
    ) -> Pages<'_, Box<RawValue>> {
        self.pages(query.request(feature), most)
    }

    /// The pages of any list.
    pub fn pages<T: DeserializeOwned>(
        &self,
        request: Request,
        most: Option<usize>,
    ) -> Pages<'_, T> {
        Pages::new(self, request, most)
    }

    /// A document of any route.
    pub fn read<T: DeserializeOwned>(&self, request: &Request) -> Result<T, Error> {
        self.call(request)?.read(request)
    }
}
