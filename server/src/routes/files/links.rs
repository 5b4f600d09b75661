//! `POST /v1/files/{file_id}/links`, and `GET /v1/file-links/{file_id}`, where the links lead.

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::content::respond;
use crate::call::{Call, OperationContext, json};
use crate::files::{File, find, link};
use crate::ids;
use crate::json_body::Fields;
use crate::json_schemas::UtcInstant;
use crate::refusal::Refusal;
use crate::secret_key::SecretKey;
use crate::store::Tx;

/// Seconds that a link may hold.
const MAX_LINK_SECONDS: i64 = 3600;

/// A link to make.
#[derive(JsonSchema)]
#[schemars(rename = "FileLinkCreate")]
pub(crate) struct LinkCreate {
    /// Seconds for which it holds.
    #[schemars(range(min = 1, max = MAX_LINK_SECONDS))]
    expires_in: i64,
    /// Whether a browser is to show the file, where that is safe, in place of saving it.
    #[schemars(default)]
    inline: bool,
}

impl LinkCreate {
    pub(crate) fn read(mut fields: Fields) -> Result<LinkCreate, Refusal> {
        fields.required("expires_in");
        let expires_in = fields.integer("expires_in").unwrap_or(1);
        if !(1..=MAX_LINK_SECONDS).contains(&expires_in) {
            fields.refuse(
                "expires_in",
                format!("has to be from 1 to {MAX_LINK_SECONDS}"),
            );
        }
        let inline = fields.flag("inline").unwrap_or(false);
        fields.finish().map(|()| LinkCreate { expires_in, inline })
    }
}

/// A link that needs no credential.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FileLink")]
pub(crate) struct Link {
    /// Where it leads: a path of this server.
    pub(crate) url: String,
    /// When it ends.
    pub(crate) expires_at: UtcInstant,
}

/// Makes a link to a file that the caller sees.
///
/// # Errors
/// 404, 422, 503 without a key to sign with.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let mut file = call.query(id, |tx, ctx| Box::pin(visible(tx, ctx))).await?;
    if call.body_was_slow().await? {
        file = call.query(id, |tx, ctx| Box::pin(visible(tx, ctx))).await?;
    }
    let body = LinkCreate::read(call.fields().await?)?;
    let key = secret_key(&call)?;
    let link = link::Link {
        organization: file.organization_id,
        file: file.id,
        maker: call.caller()?.id,
        expires: call.app.context.now() + body.expires_in * 1_000_000,
        inline: body.inline,
    };
    json(StatusCode::CREATED, &written(&link, key))
}

async fn visible(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<File, Refusal> {
    let file = find::by_id(tx, ctx.input).await?;
    file.ok_or_else(Refusal::not_found)
}

fn secret_key(call: &Call) -> Result<&SecretKey, Refusal> {
    call.app.config.secret_key.as_ref().ok_or_else(|| {
        Refusal::unavailable("Links are signed with TPLKIT_SECRET_KEY, and this server has none.")
    })
}

fn written(link: &link::Link, key: &SecretKey) -> Link {
    let inline = if link.inline { "&inline=true" } else { "" };
    Link {
        url: format!(
            "/v1/file-links/{}?organization={}&by={}&expires={}{inline}&signature={}",
            link.file,
            link.organization,
            link.maker,
            link.expires,
            link.signature(key)
        ),
        expires_at: UtcInstant(link.expires),
    }
}

/// Responds with the file of a link, as its maker sees it. Whatever is wrong with the link is one 404.
///
/// # Errors
/// 404, 412, 500 for bytes that are gone, 503.
pub async fn open(mut call: Call) -> Result<Response, Refusal> {
    let link = read(&mut call).ok_or_else(Refusal::not_found)?;
    let found = link.find_file(&call.app.store, call.app.context.now());
    let file = found.await?.ok_or_else(Refusal::not_found)?;
    respond(&call, &file, link.inline).await
}

/// The link of a request, if its signature holds.
fn read(call: &mut Call) -> Option<link::Link> {
    let file = ids::uuid(call.path_text(0));
    let query = &mut call.query_text;
    let organization = query.id("organization");
    let maker = query.id("by");
    let expires = query.integer("expires", 1, i64::MAX);
    let inline = query.word("inline", &["true"]).is_some();
    let signature = query.text("signature");
    query.finish().ok()?;
    let link = link::Link {
        organization: organization?,
        file: file?,
        maker: maker?,
        expires: expires?,
        inline,
    };
    let key = call.app.config.secret_key.as_ref()?;
    link.holds(key, &signature?).then_some(link)
}
