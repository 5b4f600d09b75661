//! `/v1/auth`: credentials for people.

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;

use crate::auth::{self, ACCESS_SECONDS, Tokens, normalize_email};
use crate::call::{Call, json, nothing};
use crate::json_body::Fields;
use crate::refusal::Refusal;

/// An access token, valid for one hour, and a refresh token, valid for 30 days.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Tokens")]
pub(crate) struct TokenResponse<'a> {
    /// Send it as `Authorization: Bearer …`.
    access_token: &'a str,
    /// Exchange it once for the next pair.
    refresh_token: &'a str,
    /// How the token is sent.
    #[schemars(extend("const" = "bearer"))]
    token_type: &'static str,
    /// Seconds until the access token expires.
    expires_in: i64,
}

/// Credentials of a user.
#[derive(JsonSchema)]
pub(crate) struct SignIn {
    /// E-mail address.
    email: String,
    /// The password.
    password: String,
}

impl SignIn {
    pub(crate) fn read(mut fields: Fields) -> Result<SignIn, Refusal> {
        let body = SignIn {
            email: normalize_email(&fields.required_text("email")),
            password: fields.required_text("password"),
        };
        fields.finish().map(|()| body)
    }
}

/// A refresh token to exchange.
#[derive(JsonSchema)]
pub(crate) struct Refresh {
    /// Exchange it once for the next pair.
    refresh_token: String,
}

impl Refresh {
    pub(crate) fn read(mut fields: Fields) -> Result<Refresh, Refusal> {
        let refresh_token = fields.required_text("refresh_token");
        fields.finish().map(|()| Refresh { refresh_token })
    }
}

fn token_response(tokens: &Tokens) -> Result<Response, Refusal> {
    let document = TokenResponse {
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
    let SignIn { email, password } = SignIn::read(call.fields().await?)?;
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
    let token = Refresh::read(call.fields().await?)?.refresh_token;
    let tokens = auth::refresh(&call.app.store, &call.app.context, &token).await?;
    token_response(&tokens.ok_or_else(Refusal::unauthenticated)?)
}

/// `POST /v1/auth/logout`: needs no credential but the token, and says the same whatever that is.
///
/// # Errors
/// 422 for a body without a token.
pub async fn logout(mut call: Call) -> Result<Response, Refusal> {
    let token = Refresh::read(call.fields().await?)?.refresh_token;
    auth::sign_out(&call.app.store, &token, call.app.context.now()).await?;
    Ok(nothing())
}
