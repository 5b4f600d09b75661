//! `/v1/me`: who the credential belongs to.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use uuid::Uuid;

use crate::auth::Identity;
use crate::http::call::{Call, json};
use crate::http::problem::Problem;
use crate::store::{StoreError, Tx};

#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
    organizations: Vec<Membership>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<&'static str>>,
}

#[derive(Serialize)]
struct Membership {
    id: Uuid,
    label: String,
    role: &'static str,
}

/// `GET /v1/me`
///
/// # Errors
/// None of its own.
pub async fn get(mut call: Call) -> Result<Response, Problem> {
    call.query.finish()?;
    let caller = call.caller()?;
    let labels: Result<_, StoreError> = call
        .app
        .store
        .read(&caller.scope(), (), |tx, (): &()| Box::pin(labels(tx)))
        .await;
    let organizations = labels?.into_iter().filter_map(|(id, label)| {
        let role = caller.role_in(id)?.as_str();
        Some(Membership { id, label, role })
    });
    let (kind, email, scopes) = match &caller.identity {
        Identity::User { email } => ("user", Some(email.as_str()), None),
        Identity::ApiKey { scopes } => ("api_key", None, Some(scopes.words())),
    };
    let document = Document {
        kind,
        id: caller.id,
        email,
        organizations: organizations.collect(),
        scopes,
    };
    json(StatusCode::OK, &document)
}

async fn labels(tx: &mut Tx) -> Result<Vec<(Uuid, String)>, StoreError> {
    let rows = tx
        .last(
            "SELECT id, label FROM organizations WHERE {tenant id} ORDER BY id",
            &[],
        )
        .await?;
    rows.iter()
        .map(|row| Ok((row.get(0)?, row.get(1)?)))
        .collect()
}
