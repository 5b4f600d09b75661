//! Fills a store with a demo shop: customers, products, orders, a template to apply, and a user.
//!
//! It sends requests to the API, so the result is what any client could create. `shop.json` lists
//! the requests; `$name` is the id of an earlier response.

use std::collections::BTreeMap;

use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::{App, Config};
use crate::auth::{Role, hash_password};
use crate::context::{Context, random};
use crate::identity::{members, organizations, users};
use crate::local_client::LocalClient;
use crate::store::{Scope, Store, StoreError};

const SHOP: &str = include_str!("shop.json");
/// A package without dependencies, for the catalog.
const PACKAGE: &str = include_str!("../../../examples/project-tracker.json");
const EMAIL: &str = "demo@example.com";

/// What a newcomer needs to know.
#[derive(Debug)]
pub struct Demo {
    /// Signs in with this address,
    pub email: &'static str,
    /// and this password.
    pub password: String,
    /// An API key that may do everything that keys may.
    pub key: String,
    /// The workspace of the shop.
    pub workspace: String,
    /// The table of orders.
    pub orders: String,
    /// A template that can be applied to the workspace without a decision.
    pub template: String,
}

/// Why the store was not filled.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// It holds something already.
    #[error("the store is not empty, and a demonstration is put into empty stores only")]
    NotEmpty,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A request was refused: a bug.
    #[error("{path} returned {status}: {body}")]
    Refused {
        /// Of the request.
        path: String,
        /// Of the response.
        status: u16,
        /// Of the response.
        body: String,
    },
}

/// Fills an empty store, whatever limits the server that it is for has.
///
/// # Errors
/// When it is not empty, or fails.
pub async fn fill(store: &Store, context: &Context) -> Result<Demo, DemoError> {
    let config = Config {
        rate: None,
        ..Config::default()
    };
    let app = &App::new(store.clone(), context.clone(), config)?;
    if !is_empty(app).await? {
        return Err(DemoError::NotEmpty);
    }
    let password = URL_SAFE_NO_PAD.encode(random::<12>());
    let organization = people(app, &password).await?;
    let mut client = LocalClient {
        app,
        token: String::new(),
    };
    let body = json!({"email": EMAIL, "password": password});
    let tokens = post(&client, "/v1/auth/token", &body).await?;
    client.token = text(&tokens, "access_token");
    let mut known = BTreeMap::from([("organization".to_owned(), organization.to_string())]);
    let requests: Vec<Value> =
        serde_json::from_str(SHOP).map_err(|error| StoreError::Internal(error.to_string()))?;
    for request in requests {
        let path = filled_in(&text(&request, "post"), &known);
        let body = filled_in(&request["body"].to_string(), &known);
        let body = serde_json::from_str(&body).unwrap_or_default();
        let response = post(&client, &path, &body).await?;
        if let Some(name) = request["as"].as_str() {
            known.insert(name.to_owned(), text(&response, "id"));
        }
    }
    let package = serde_json::from_str(PACKAGE).unwrap_or_default();
    let import = format!("/v1/templates/import?organization_id={organization}");
    let template = post(&client, &import, &package).await?;
    let body = json!({
        "organization_id": organization, "name": "Demo", "scopes": ["read", "write", "structure"],
    });
    let key = post(&client, "/v1/api-keys", &body).await?;
    Ok(Demo {
        email: EMAIL,
        password,
        key: text(&key, "key"),
        workspace: known.remove("workspace").unwrap_or_default(),
        orders: known.remove("orders").unwrap_or_default(),
        template: text(&template, "id"),
    })
}

async fn is_empty(app: &App) -> Result<bool, StoreError> {
    let exist = app.store.read(&Scope::Operator, (), |tx, ()| {
        Box::pin(organizations::exist(tx))
    });
    let exist: bool = exist.await?;
    Ok(!exist)
}

async fn people(app: &App, password: &str) -> Result<Uuid, DemoError> {
    let now = app.context.now();
    let organization = organizations::New {
        id: app.context.id(),
        label: "Coffee & Co.".to_owned(),
        seats: None,
        row_quota: None,
        file_quota: None,
        now,
    };
    let organization = organizations::create(&app.store, organization).await?.id;
    let user = users::New {
        id: app.context.id(),
        email: EMAIL.to_owned(),
        password_hash: hash_password(password.as_bytes())?,
        platform_admin: false,
        now,
    };
    let failed = |refusal: crate::refusal::Refusal| DemoError::Refused {
        path: "the first user".to_owned(),
        status: 0,
        body: refusal.detail().to_owned(),
    };
    users::create(&app.store, user).await.map_err(failed)?;
    let member = members::Add {
        organization,
        email: EMAIL.to_owned(),
        role: Role::Owner,
        now,
    };
    members::add(&app.store, &Scope::Operator, member, Role::Owner)
        .await
        .map_err(failed)?;
    Ok(organization)
}

async fn post(client: &LocalClient<'_>, path: &str, body: &Value) -> Result<Value, DemoError> {
    let response = client.send(Method::POST, path, body.to_string()).await?;
    if response.status >= 300 {
        return Err(DemoError::Refused {
            path: path.to_owned(),
            status: response.status,
            body: String::from_utf8_lossy(&response.body).into_owned(),
        });
    }
    Ok(serde_json::from_slice(&response.body).unwrap_or_default())
}

fn filled_in(text: &str, known: &BTreeMap<String, String>) -> String {
    // Longer names first: `$orders` is none that begins with `$order`.
    let mut names: Vec<_> = known.iter().collect();
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names.into_iter().fold(text.to_owned(), |text, (name, id)| {
        text.replace(&format!("${name}"), id)
    })
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}
