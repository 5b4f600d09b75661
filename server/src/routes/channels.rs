//! `/v1/channels`: targets for the notifications of automations.

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use uuid::Uuid;

use super::organization_scope::{self, FROZEN, OrganizationPage};
use crate::automation::LONGEST_NAME;
use crate::automation::channels::{self, Channel, NewChannel};
use crate::call::{Call, OperationContext};
use crate::http::response::ApiResponse;
use crate::json_body::Fields;
use crate::refusal::Refusal;
use crate::store::Tx;

/// A channel to make.
#[derive(JsonSchema)]
pub(crate) struct ChannelCreate {
    /// Whose; required here, unless the query names it.
    #[schemars(with = "Option<Uuid>")]
    organization_id: Uuid,
    /// Name for people.
    #[schemars(length(min = 1, max = LONGEST_NAME))]
    name: String,
}

/// A new name.
#[derive(JsonSchema)]
pub(crate) struct ChannelPatch {
    /// Name for people.
    #[schemars(length(min = 1, max = LONGEST_NAME))]
    name: Option<String>,
}

impl ChannelCreate {
    pub(crate) fn read(
        organization_id: Uuid,
        mut fields: Fields,
    ) -> Result<ChannelCreate, Refusal> {
        fields.required("name");
        let name = organization_scope::name(&mut fields).unwrap_or_default();
        fields.finish().map(|()| ChannelCreate {
            organization_id,
            name,
        })
    }
}

impl ChannelPatch {
    pub(crate) fn read(mut fields: Fields) -> Result<ChannelPatch, Refusal> {
        fields.frozen(&FROZEN)?;
        let name = organization_scope::name(&mut fields);
        fields.finish().map(|()| ChannelPatch { name })
    }
}

/// `GET /v1/channels?organization_id=`
///
/// # Errors
/// 422 without an organization, 404 for strangers.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let input = organization_scope::listed(&mut call, |_| String::new())?;
    call.read(input, |tx, ctx| Box::pin(select_page(tx, ctx)))
        .await
}

async fn select_page(
    tx: &mut Tx,
    ctx: &OperationContext<OrganizationPage>,
) -> Result<ApiResponse, Refusal> {
    let OrganizationPage { organization, page } = &ctx.input;
    let found = channels::page(tx, *organization, page).await?;
    ApiResponse::json(StatusCode::OK, &page.page(found, |channel| channel.id))
}

/// `POST /v1/channels`
///
/// # Errors
/// 404 for strangers, 403 below administrators, 422 for a name that is too short or too long.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let (organization_id, fields) = organization_scope::created(&mut call).await?;
    let body = ChannelCreate::read(organization_id, fields)?;
    let new = NewChannel {
        id: call.app.context.id(),
        organization: body.organization_id,
        name: body.name,
        now: call.app.context.now(),
    };
    call.write(new, |tx, ctx| Box::pin(insert(tx, ctx))).await
}

async fn insert(tx: &mut Tx, ctx: &OperationContext<NewChannel>) -> Result<ApiResponse, Refusal> {
    if let Some(kept) = ctx.claim(tx).await? {
        return Ok(kept);
    }
    let channel = channels::insert(tx, &ctx.input).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &channel)?)
        .await
}

/// A channel that the caller sees, and whose organization they may change.
async fn open(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<Channel, Refusal> {
    let channel = channels::by_id(tx, ctx.input).await?;
    let channel = channel.ok_or_else(Refusal::not_found)?;
    ctx.enter(channel.organization_id)?;
    Ok(channel)
}

/// `PATCH /v1/channels/{channel_id}`
///
/// # Errors
/// 404, 403 below administrators and for fields that never change, 422.
pub async fn patch(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let mut channel = call.query(id, |tx, ctx| Box::pin(open(tx, ctx))).await?;
    if call.body_was_slow().await? {
        channel = call.query(id, |tx, ctx| Box::pin(open(tx, ctx))).await?;
    }
    let patch = ChannelPatch::read(call.fields().await?)?;
    call.write(Update { channel, patch }, |tx, ctx| {
        Box::pin(update(tx, ctx))
    })
    .await
}

/// A change of a channel.
struct Update {
    /// The channel as it is.
    channel: Channel,
    /// What the body changes.
    patch: ChannelPatch,
}

async fn update(tx: &mut Tx, ctx: &OperationContext<Update>) -> Result<ApiResponse, Refusal> {
    let Update { channel, patch } = &ctx.input;
    match &patch.name {
        Some(name) => {
            ApiResponse::json(StatusCode::OK, &channels::rename(tx, channel, name).await?)
        }
        None => ApiResponse::json(StatusCode::OK, channel),
    }
}

/// `DELETE /v1/channels/{channel_id}`
///
/// # Errors
/// 404, 403 below administrators.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let channel = call.query(id, |tx, ctx| Box::pin(open(tx, ctx))).await?;
    call.query_text.finish()?;
    call.write(channel, |tx, ctx| Box::pin(remove(tx, ctx)))
        .await
}

async fn remove(tx: &mut Tx, ctx: &OperationContext<Channel>) -> Result<ApiResponse, Refusal> {
    channels::remove(tx, &ctx.input).await?;
    Ok(ApiResponse::nothing())
}
