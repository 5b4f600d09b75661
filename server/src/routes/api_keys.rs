//! `/v1/api-keys`: credentials for machines. The key itself is returned once and never stored.

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;
use tplkit::json::Value as Json;
use tplkit::rows::instant;
use uuid::Uuid;

use crate::auth::{Scopes, Secret, hash};
use crate::call::{Call, json, nothing};
use crate::identity::api_keys::{self, ApiKey, NewApiKey};
use crate::json_body::{Fields, LABEL};
use crate::json_schemas::{Nullable, UtcInstant};
use crate::refusal::Refusal;
use crate::store::StoreError;

/// A new credential, with its secret.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ApiKeyCreated<'a> {
    #[serde(flatten)]
    record: &'a ApiKey,
    /// Shown once and never again.
    key: &'a str,
}

/// A credential to make.
#[derive(JsonSchema)]
pub(crate) struct ApiKeyCreate {
    /// The organization.
    organization_id: Uuid,
    /// Name for people.
    #[schemars(length(min = *LABEL.start(), max = *LABEL.end()))]
    name: String,
    /// What it may do.
    #[schemars(with = "Scopes")]
    scopes: String,
    /// When it stops working; null is never.
    #[schemars(with = "Option<Nullable<UtcInstant>>")]
    expires_at: Option<i64>,
}

impl ApiKeyCreate {
    pub(crate) fn read(
        organization_id: Uuid,
        mut fields: Fields,
        now: i64,
    ) -> Result<ApiKeyCreate, Refusal> {
        fields.required("name");
        let body = ApiKeyCreate {
            organization_id,
            name: fields.label("name").unwrap_or_default(),
            scopes: scopes_field(&mut fields),
            expires_at: expiry_field(&mut fields, now),
        };
        fields.finish().map(|()| body)
    }
}

fn scopes_field(fields: &mut Fields) -> String {
    let words = fields.take("scopes");
    let words: Option<Vec<&str>> = match &words {
        Some(Json::List(words)) => words.iter().map(Json::as_str).collect(),
        _ => None,
    };
    if let Some(scopes) = words.and_then(|words| Scopes::of(&words)) {
        return scopes.words().join(",");
    }
    let message = "has to list read, write or structure, the last only with write";
    fields.refuse("scopes", message);
    String::new()
}

/// The last microsecond of the year 9999: RFC 3339 writes none after it.
const LAST_INSTANT: i64 = 253_402_300_799_999_999;

fn expiry_field(fields: &mut Fields, now: i64) -> Option<i64> {
    let expiry = match fields.take("expires_at")? {
        Json::Null => return None,
        Json::String(text) => instant(&text).filter(|expiry| *expiry <= LAST_INSTANT),
        _ => None,
    };
    match expiry {
        None => fields.refuse(
            "expires_at",
            "is not an instant such as 2030-01-31T12:00:00Z",
        ),
        Some(expiry) if expiry <= now => fields.refuse("expires_at", "has passed"),
        Some(_) => {}
    }
    expiry
}

/// `POST /v1/api-keys`
///
/// # Errors
/// 422 for scopes or an expiry that make no sense, 404 for strangers, 403 below administrators.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let now = call.app.context.now();
    let mut fields = call.fields().await?;
    let before = fields.count();
    let organization_id = fields.required_id("organization_id");
    if fields.count() == before {
        call.enter(organization_id)?;
    }
    let body = ApiKeyCreate::read(organization_id, fields, now)?;
    let secret = Secret::api_key(organization_id);
    let new = NewApiKey {
        id: call.app.context.id(),
        organization: body.organization_id,
        name: body.name,
        scopes: body.scopes,
        expires_at: body.expires_at,
        prefix: secret.prefix().to_owned(),
        hash: hash(secret.reveal()),
        now,
    };
    let scope = call.confirmed_scope()?;
    let record: Result<_, StoreError> = call
        .app
        .store
        .write(&scope, new, |tx, new| Box::pin(api_keys::insert(tx, new)))
        .await;
    let document = ApiKeyCreated {
        record: &record?.ok_or_else(Refusal::not_found)?,
        key: secret.reveal(),
    };
    json(StatusCode::CREATED, &document)
}

/// `GET /v1/api-keys?organization_id=`
///
/// # Errors
/// 422 without an organization, 404 for strangers, 403 below administrators.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let organization = call.query_text.id("organization_id");
    if let Some(organization) = organization {
        call.enter(organization)?;
    }
    let page = call.page(&organization.unwrap_or_default().to_string())?;
    let scope = call.confirmed_scope()?;
    let input = (organization.unwrap_or_default(), page.clone());
    let found: Result<_, StoreError> = call
        .app
        .store
        .read(&scope, input, |tx, (organization, page)| {
            Box::pin(api_keys::page(tx, *organization, page))
        })
        .await;
    json(StatusCode::OK, &page.page(found?, |key| key.id))
}

/// `DELETE /v1/api-keys/{api_key_id}`
///
/// # Errors
/// 404 for keys of organizations that the caller does not belong to, 403 below administrators.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let scope = call.confirmed_scope()?;
    let organization: Result<_, StoreError> = call
        .app
        .store
        .read(&scope, id, |tx, id| {
            Box::pin(api_keys::organization_of(tx, *id))
        })
        .await;
    let organization = organization?.ok_or_else(Refusal::not_found)?;
    call.enter(organization)?;
    call.query_text.finish()?;
    let removed: Result<_, StoreError> = call
        .app
        .store
        .write(&scope, (organization, id), |tx, (organization, id)| {
            Box::pin(api_keys::remove(tx, *organization, *id))
        })
        .await;
    if removed? {
        Ok(nothing())
    } else {
        Err(Refusal::not_found())
    }
}
