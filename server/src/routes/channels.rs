//! `/v1/channels`: where automations tell people something.

use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use super::named::{self, FROZEN};
use crate::automation::channels::{self, Channel, NewChannel};
use crate::http::call::{Asked, Call};
use crate::http::page::PageRequest;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::store::Tx;

/// `GET /v1/channels?organization_id=`
///
/// # Errors
/// 422 without an organization, 404 for strangers.
pub async fn list(mut call: Call) -> Result<Response, Problem> {
    let input = named::listed(&mut call, |_| String::new())?;
    call.read(input, |tx, asked| Box::pin(select_page(tx, asked)))
        .await
}

async fn select_page(tx: &mut Tx, asked: &Asked<(Uuid, PageRequest)>) -> Result<Reply, Problem> {
    let (organization, page) = &asked.input;
    let found = channels::page(tx, *organization, page).await?;
    Reply::json(StatusCode::OK, &page.page(found, |channel| channel.id))
}

/// `POST /v1/channels`
///
/// # Errors
/// 404 for strangers, 403 below administrators, 422 for a name that is too short or too long.
pub async fn create(mut call: Call) -> Result<Response, Problem> {
    let (organization, mut fields) = named::created(&mut call).await?;
    fields.required("name");
    let name = named::name(&mut fields);
    fields.finish()?;
    let new = NewChannel {
        id: call.app.context.id(),
        organization,
        name: name.unwrap_or_default(),
        now: call.app.context.now(),
    };
    call.write(new, |tx, asked| Box::pin(insert(tx, asked)))
        .await
}

async fn insert(tx: &mut Tx, asked: &Asked<NewChannel>) -> Result<Reply, Problem> {
    if let Some(answered) = asked.claim(tx).await? {
        return Ok(answered);
    }
    let channel = channels::insert(tx, &asked.input).await?;
    asked
        .keep(tx, Reply::json(StatusCode::CREATED, &channel)?)
        .await
}

/// A channel that the caller sees, and whose organization they may change.
async fn open(tx: &mut Tx, asked: &Asked<Uuid>) -> Result<Channel, Problem> {
    let channel = channels::by_id(tx, asked.input).await?;
    let channel = channel.ok_or_else(Problem::not_found)?;
    asked.enter(channel.organization_id)?;
    Ok(channel)
}

/// `PATCH /v1/channels/{channel_id}`
///
/// # Errors
/// 404, 403 below administrators and for fields that never change, 422.
pub async fn patch(mut call: Call) -> Result<Response, Problem> {
    let id = call.path_id(0).await?;
    let channel = call.look(id, |tx, asked| Box::pin(open(tx, asked))).await?;
    let mut fields = call.fields().await?;
    fields.frozen(&FROZEN)?;
    let name = named::name(&mut fields);
    fields.finish()?;
    call.write((channel, name), |tx, asked| Box::pin(update(tx, asked)))
        .await
}

async fn update(tx: &mut Tx, asked: &Asked<(Channel, Option<String>)>) -> Result<Reply, Problem> {
    let (channel, name) = &asked.input;
    match name {
        Some(name) => Reply::json(StatusCode::OK, &channels::rename(tx, channel, name).await?),
        None => Reply::json(StatusCode::OK, channel),
    }
}

/// `DELETE /v1/channels/{channel_id}`
///
/// # Errors
/// 404, 403 below administrators.
pub async fn delete(mut call: Call) -> Result<Response, Problem> {
    let id = call.path_id(0).await?;
    let channel = call.look(id, |tx, asked| Box::pin(open(tx, asked))).await?;
    call.query.finish()?;
    call.write(channel, |tx, asked| Box::pin(remove(tx, asked)))
        .await
}

async fn remove(tx: &mut Tx, asked: &Asked<Channel>) -> Result<Reply, Problem> {
    channels::remove(tx, &asked.input).await?;
    Ok(Reply::nothing())
}
