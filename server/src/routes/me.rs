//! `/v1/me`: who the credential belongs to, and their password.

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::auth::{
    self, Identity, NewPassword, Role, SHORTEST_PASSWORD, Scopes, fault_of_password,
};
use crate::call::{Call, Reservation, json};
use crate::http::response::ApiResponse;
use crate::identity::organizations::{self, Label};
use crate::json_body::Fields;
use crate::refusal::Refusal;
use crate::store::StoreError;

/// The caller: a user or an API key.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Me<'a> {
    /// Which of them.
    kind: CallerKind,
    /// Id of the user or the key.
    id: Uuid,
    /// E-mail address of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
    /// Organizations of the caller.
    organizations: Vec<Membership>,
    /// What the key may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<&'a Scopes>,
}

/// What asks.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum CallerKind {
    User,
    ApiKey,
}

/// What the caller is in an organization.
#[derive(Serialize, JsonSchema)]
struct Membership {
    /// The organization.
    id: Uuid,
    /// Name for people.
    label: String,
    /// What the caller may do there.
    role: Role,
}

/// The present password and the new one.
#[derive(JsonSchema)]
pub(crate) struct PasswordChange {
    /// The present password.
    current: String,
    /// The new one: at most 1,024 bytes.
    #[schemars(length(min = SHORTEST_PASSWORD))]
    new: String,
}

impl PasswordChange {
    pub(crate) fn read(mut fields: Fields) -> Result<PasswordChange, Refusal> {
        let current = fields.required_text("current");
        let new = fields.required_text("new");
        if let (Some(why), 0) = (fault_of_password(&new), fields.count()) {
            fields.refuse("new", why);
        }
        fields.finish().map(|()| PasswordChange { current, new })
    }
}

/// `GET /v1/me`
///
/// # Errors
/// None of its own.
pub async fn get(mut call: Call) -> Result<Response, Refusal> {
    call.query_text.finish()?;
    let (caller, scope) = (call.caller()?, call.confirmed_scope()?);
    let labels: Result<_, StoreError> = call
        .app
        .store
        .read(&scope, (), |tx, (): &()| {
            Box::pin(organizations::labels(tx))
        })
        .await;
    let organizations = labels?.into_iter().filter_map(|Label { id, label }| {
        let role = caller.role_in(id)?;
        Some(Membership { id, label, role })
    });
    let (kind, email, scopes) = match &caller.identity {
        Identity::User { email } => (CallerKind::User, Some(email.as_str()), None),
        Identity::ApiKey { scopes } => (CallerKind::ApiKey, None, Some(scopes)),
    };
    let document = Me {
        kind,
        id: caller.id,
        email,
        organizations: organizations.collect(),
        scopes,
    };
    json(StatusCode::OK, &document)
}

/// `POST /v1/me/password`: the session that asks goes on, every other one of the user ends.
///
/// # Errors
/// 403 for a wrong current password, which counts like a sign-in: 429 after too many. 422 for a new one
/// that is too short or too long.
pub async fn password(mut call: Call) -> Result<Response, Refusal> {
    let change = PasswordChange::read(call.fields().await?)?;
    if let Some(kept) = call.kept_response().await? {
        return Ok(kept);
    }
    let stage = verified(&mut call, &change).await?;
    if let Reservation::Kept(kept) = call.reserve().await? {
        return Ok(kept.response());
    }
    let changed = match stage {
        Stage::Due { user, before } => changed(&call, user, before, change.new).await,
        Stage::Done => Ok(ApiResponse::nothing()),
    };
    call.respond(changed).await
}

/// How far the change is that somebody asks for who knows the password before it.
enum Stage {
    /// It is to be done.
    Due {
        /// Whose password it is.
        user: Uuid,
        /// The stored hash of the one before.
        before: String,
    },
    /// An earlier attempt at this very request has done it, and had no response.
    Done,
}

/// Changes the password of a user who knew the one before.
async fn changed(
    call: &Call,
    user: Uuid,
    before: String,
    new: String,
) -> Result<ApiResponse, Refusal> {
    let change = NewPassword {
        user,
        before: Some(before),
        hash: call.app.passwords.hash(new).await?,
        except: Some(call.credential_hash()?),
        now: call.app.context.now(),
    };
    if !auth::set_password(&call.app.store, change).await? {
        return Err(wrong_password());
    }
    Ok(ApiResponse::nothing())
}

/// How far the change is, when the caller knows the current password.
async fn verified(call: &mut Call, change: &PasswordChange) -> Result<Stage, Refusal> {
    let caller = call.caller()?;
    let Identity::User { email } = &caller.identity else {
        return Err(Refusal::forbidden("This is not open to API keys."));
    };
    // Counted before it is known, so many guesses at once do not get round the limit.
    call.count_sign_in(email)?;
    let user = auth::user_by_email(&call.app.store, email.clone()).await?;
    let user = user.filter(|(id, _)| *id == caller.id);
    let stored = user.map(|(_, stored)| stored);
    let app = call.app.clone();
    let current = change.current.clone();
    let knows = app.passwords.verify(current, stored.clone()).await?;
    let stage = match stored {
        Some(before) if knows => Stage::Due {
            user: caller.id,
            before,
        },
        // A key is taken by who knew the current password, and the fingerprint holds both passwords.
        stored => {
            let is_done = call.was_reserved().await?
                && app.passwords.verify(change.new.clone(), stored).await?;
            if !is_done {
                return Err(wrong_password());
            }
            Stage::Done
        }
    };
    call.uncount_sign_in(email);
    Ok(stage)
}

fn wrong_password() -> Refusal {
    Refusal::forbidden("The current password is another one.")
}
