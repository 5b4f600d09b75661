//! `/v1/connections`: services that automations may call. No route returns an address or a secret.

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use uuid::Uuid;

use super::organization_scope::{self, FROZEN, OrganizationPage};
use crate::automation::LONGEST_NAME;
use crate::automation::connections::{
    self, Change, ConnectionKind, ConnectionRecord, PreparedSecret, SetConnection,
};
use crate::call::{Call, OperationContext, json};
use crate::http::response::ApiResponse;
use crate::json_body::Fields;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::store::Tx;

/// The words of their kinds.
fn kinds() -> [&'static str; 4] {
    ConnectionKind::ALL.map(ConnectionKind::as_str)
}

/// A connection to make.
#[derive(JsonSchema)]
pub(crate) struct ConnectionCreate {
    /// Whose; required here, unless the query names it.
    #[schemars(with = "Option<Uuid>")]
    organization_id: Uuid,
    /// Name by which automations call it.
    #[schemars(length(min = 1, max = LONGEST_NAME))]
    name: String,
    /// What it leads to.
    kind: ConnectionKind,
    /// Where it leads, in no response: `smtp://user@host:587?from=address`, `https://host/path`,
    /// `https://host/v1?model=name`; of a timer `cron:0 8 * * 1-5` or `delay:3600`.
    url: String,
    /// The password, token or key that goes with it, in no response. Empty is none.
    secret: Option<String>,
}

/// Changes to a connection.
#[derive(JsonSchema)]
pub(crate) struct ConnectionPatch {
    /// Name by which automations call it.
    #[schemars(length(min = 1, max = LONGEST_NAME))]
    name: Option<String>,
    /// Where it leads, in no response: `smtp://user@host:587?from=address`, `https://host/path`,
    /// `https://host/v1?model=name`; of a timer `cron:0 8 * * 1-5` or `delay:3600`.
    url: Option<String>,
    /// The password, token or key that goes with it, in no response. Empty is none.
    secret: Option<String>,
}

impl ConnectionCreate {
    pub(crate) fn read(
        organization_id: Uuid,
        mut fields: Fields,
    ) -> Result<ConnectionCreate, Refusal> {
        fields.required("name");
        let name = organization_scope::name(&mut fields).unwrap_or_default();
        let kind = kind_field(&mut fields);
        fields.required("url");
        let url = fields.text("url");
        let fault = kind
            .zip(url.as_ref())
            .and_then(|(kind, url)| kind.fault(url));
        if let Some(why) = fault {
            fields.refuse("url", why);
        }
        let secret = fields.text("secret");
        fields.finish()?;
        Ok(ConnectionCreate {
            organization_id,
            name,
            // It is in the body, or that was refused.
            kind: kind.ok_or_else(|| Refusal::fault("kind", "is required"))?,
            url: url.unwrap_or_default(),
            secret,
        })
    }
}

impl ConnectionPatch {
    pub(crate) fn read(mut fields: Fields) -> Result<ConnectionPatch, Refusal> {
        fields.frozen(&FROZEN)?;
        fields.frozen(&["kind"])?;
        let body = ConnectionPatch {
            name: organization_scope::name(&mut fields),
            url: fields.text("url"),
            secret: fields.text("secret"),
        };
        fields.finish().map(|()| body)
    }
}

/// Which connections, and which page of them.
struct ConnectionList {
    organization: Uuid,
    kind: Option<&'static str>,
    page: PageRequest,
}

/// `GET /v1/connections?organization_id=`
///
/// # Errors
/// 422 without an organization or for an unknown kind, 404 for strangers.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let mut kind = None;
    let OrganizationPage { organization, page } = organization_scope::listed(&mut call, |call| {
        kind = call.query_text.word("kind", &kinds());
        kind.unwrap_or_default().to_owned()
    })?;
    let input = ConnectionList {
        organization,
        kind,
        page,
    };
    call.read(input, |tx, ctx| Box::pin(select_page(tx, ctx)))
        .await
}

async fn select_page(
    tx: &mut Tx,
    ctx: &OperationContext<ConnectionList>,
) -> Result<ApiResponse, Refusal> {
    let ConnectionList {
        organization,
        kind,
        page,
    } = &ctx.input;
    let found = connections::page(tx, *organization, *kind, page).await?;
    let page = page.page(found, |connection| connection.id);
    ApiResponse::json(StatusCode::OK, &page)
}

fn kind_field(fields: &mut Fields) -> Option<ConnectionKind> {
    fields.required("kind");
    let word = fields.text("kind")?;
    let kind = ConnectionKind::parse(&word);
    if kind.is_none() {
        fields.refuse("kind", format!("must be one of {}", kinds().join(", ")));
    }
    kind
}

/// `POST /v1/connections`
///
/// # Errors
/// 404 for strangers, 403 below administrators, 422 for an address that the kind does not take or that leads into a
/// private network, 409 for a name that is taken, 503 for a secret that cannot be encrypted.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let (organization, fields) = organization_scope::created(&mut call).await?;
    let body = ConnectionCreate::read(organization, fields)?;
    if !call.app.config.allow_private
        && let Some(why) = connections::private_fault(&body.url)
    {
        return Err(Refusal::fault("url", why));
    }
    let set = SetConnection {
        id: call.app.context.id(),
        organization: body.organization_id,
        name: body.name,
        kind: body.kind,
        url: body.url,
        secret: body.secret,
        now: call.app.context.now(),
    };
    let prepared = PreparedSecret::new(call.app.config.secret_key.as_ref(), set)?;
    call.write(prepared, |tx, ctx| Box::pin(insert(tx, ctx)))
        .await
}

async fn insert(
    tx: &mut Tx,
    ctx: &OperationContext<PreparedSecret>,
) -> Result<ApiResponse, Refusal> {
    if let Some(kept) = ctx.claim(tx).await? {
        return Ok(kept);
    }
    let connection = connections::insert(tx, &ctx.input).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &connection)?)
        .await
}

/// A connection that the caller sees, and whose organization they may change.
async fn open(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<ConnectionRecord, Refusal> {
    let connection = connections::by_id(tx, ctx.input).await?;
    let connection = connection.ok_or_else(Refusal::not_found)?;
    ctx.enter(connection.organization_id)?;
    Ok(connection)
}

/// `PATCH /v1/connections/{connection_id}`
///
/// # Errors
/// 404, 403 below administrators and for fields that never change, those of [`connections::update`].
pub async fn patch(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let mut connection = call.query(id, |tx, ctx| Box::pin(open(tx, ctx))).await?;
    if call.body_was_slow().await? {
        connection = call.query(id, |tx, ctx| Box::pin(open(tx, ctx))).await?;
    }
    let body = ConnectionPatch::read(call.fields().await?)?;
    let change = Change {
        organization: connection.organization_id,
        id,
        name: body.name,
        url: body.url,
        secret: body.secret,
        key: call.app.config.secret_key.clone(),
        allow_private: call.app.config.allow_private,
        fresh: call.app.context.id(),
        now: call.app.context.now(),
    };
    let changed = connections::update(&call.app.store, change).await?;
    json(StatusCode::OK, &changed)
}

/// `DELETE /v1/connections/{connection_id}`
///
/// # Errors
/// 404, 403 below administrators.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let connection = call.query(id, |tx, ctx| Box::pin(open(tx, ctx))).await?;
    call.query_text.finish()?;
    call.write(connection, |tx, ctx| Box::pin(remove(tx, ctx)))
        .await
}

async fn remove(
    tx: &mut Tx,
    ctx: &OperationContext<ConnectionRecord>,
) -> Result<ApiResponse, Refusal> {
    connections::remove(tx, &ctx.input, ctx.now).await?;
    Ok(ApiResponse::nothing())
}
