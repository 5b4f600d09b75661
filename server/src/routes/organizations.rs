//! `/v1/organizations`

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;

use crate::call::{Call, json};
use crate::identity::organizations::{self, Change};
use crate::json_body::{Fields, LABEL};
use crate::json_schemas::Config;
use crate::refusal::Refusal;
use crate::store::StoreError;

/// `GET /v1/organizations`
///
/// # Errors
/// 422 for parameters that make no sense.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let page = call.page("")?;
    let scope = call.confirmed_scope()?;
    let found: Result<_, StoreError> = call
        .app
        .store
        .read(&scope, page.clone(), |tx, page| {
            Box::pin(organizations::page(tx, page))
        })
        .await;
    let caller = call.caller()?;
    let found = found?.into_iter();
    let found = found.map(|organization| organization.for_member(&caller));
    let found = found.collect();
    json(
        StatusCode::OK,
        &page.page(found, |organization| organization.id),
    )
}

/// `GET /v1/organizations/{organization_id}`
///
/// # Errors
/// 404 for strangers.
pub async fn get(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    call.enter(id)?;
    call.query_text.finish()?;
    let scope = call.confirmed_scope()?;
    let found: Result<_, StoreError> = call
        .app
        .store
        .read(&scope, id, |tx, id| Box::pin(organizations::by_id(tx, *id)))
        .await;
    let found = found?.ok_or_else(Refusal::not_found)?;
    let caller = call.caller()?;
    json(StatusCode::OK, &found.for_member(&caller))
}

/// Changes to an organization.
#[derive(JsonSchema)]
pub(crate) struct OrganizationPatch {
    /// Name for people.
    #[schemars(length(min = *LABEL.start(), max = *LABEL.end()))]
    label: Option<String>,
    /// Whatever its administrators keep there, in place of what is there.
    #[schemars(with = "Option<Config>")]
    config: Option<String>,
}

impl OrganizationPatch {
    pub(crate) fn read(mut fields: Fields) -> Result<OrganizationPatch, Refusal> {
        fields.frozen(&[
            "id",
            "organization_id",
            "created_at",
            "updated_at",
            "created_by",
            "seats",
            "row_quota",
            "file_quota",
            "file_bytes",
        ])?;
        let body = OrganizationPatch {
            label: fields.label("label"),
            config: fields.object("config"),
        };
        fields.finish().map(|()| body)
    }
}

/// `PATCH /v1/organizations/{organization_id}`
///
/// # Errors
/// 404 for strangers, 403 below administrators and for fields that never change.
pub async fn patch(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    call.enter(id)?;
    if call.body_was_slow().await? {
        call.enter(id)?;
    }
    let OrganizationPatch { label, config } = OrganizationPatch::read(call.fields().await?)?;
    let change = Change {
        id,
        label,
        config,
        now: call.app.context.now(),
    };
    let scope = call.confirmed_scope()?;
    let found: Result<_, StoreError> = call
        .app
        .store
        .write(&scope, change, |tx, change| {
            Box::pin(organizations::update(tx, change))
        })
        .await;
    json(StatusCode::OK, &found?.ok_or_else(Refusal::not_found)?)
}
