//! `/v1/auth`: credentials for people.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::auth::{self, ACCESS_SECONDS, Tokens, normalize_email};
use crate::call::{Call, json, nothing};
use crate::refusal::Refusal;

#[derive(Serialize)]
struct Document<'a> {
    access_token: &'a str,
    refresh_token: &'a str,
    token_type: &'static str,
    expires_in: i64,
}

fn token_response(tokens: &Tokens) -> Result<Response, Refusal> {
    let document = Document {
        access_token: tokens.access.reveal(),
        refresh_token: tokens.refresh.reveal(),
        token_type: "bearer",
        expires_in: ACCESS_SECONDS,
    };
    json(StatusCode::OK, &document)
}

/// `POST /v1/auth/token`
///
/// # Errors
/// 401 in the same words, after the same time, for an unknown address and a wrong password.
pub async fn token(mut call: Call) -> Result<Response, Refusal> {
    let mut fields = call.fields().await?;
    let email = normalize_email(&fields.required_text("email"));
    let password = fields.required_text("password");
    fields.finish()?;
    call.count_sign_in(&email)?;
    let app = &call.app;
    let user = auth::user_by_email(&app.store, email).await?;
    let (id, hash) = user.unzip();
    let verified = app.passwords.verify(password, hash).await?;
    let Some(id) = id.filter(|_| verified) else {
        return Err(Refusal::unauthenticated());
    };
    token_response(&auth::sign_in(&app.store, &app.context, id).await?)
}

/// `POST /v1/auth/refresh`
///
/// # Errors
/// 401 in the same words whatever is wrong with the token.
pub async fn refresh(mut call: Call) -> Result<Response, Refusal> {
    let mut fields = call.fields().await?;
    let token = fields.required_text("refresh_token");
    fields.finish()?;
    let tokens = auth::refresh(&call.app.store, &call.app.context, &token).await?;
    token_response(&tokens.ok_or_else(Refusal::unauthenticated)?)
}

/// `POST /v1/auth/logout`: needs no credential but the token, and says the same whatever that is.
///
/// # Errors
/// 422 for a body without a token.
pub async fn logout(mut call: Call) -> Result<Response, Refusal> {
    let mut fields = call.fields().await?;
    let token = fields.required_text("refresh_token");
    fields.finish()?;
    auth::sign_out(&call.app.store, &token, call.app.context.now()).await?;
    Ok(nothing())
}
