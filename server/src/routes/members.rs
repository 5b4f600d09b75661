//! `/v1/organizations/{organization_id}/members`: people and their roles.

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;

use crate::auth::{Role, normalize_email};
use crate::call::{Call, OperationContext, json, nothing};
use crate::http::response::ApiResponse;
use crate::identity::members::{self, Add, Member, MemberKey, NewMember};
use crate::json_body::Fields;
use crate::refusal::{Code, Refusal};
use crate::store::{StoreError, Tx};

/// `GET …/members`
///
/// # Errors
/// 404 for strangers.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let organization = call.path_id(0).await?;
    call.enter(organization)?;
    let page = call.page(&organization.to_string())?;
    let scope = call.confirmed_scope()?;
    let input = (organization, page.clone());
    let found: Result<_, StoreError> = call
        .app
        .store
        .read(&scope, input, |tx, (organization, page)| {
            Box::pin(members::page(tx, *organization, page))
        })
        .await;
    json(StatusCode::OK, &page.page(found?, |member| member.user_id))
}

fn no_role() -> String {
    format!("must be one of {}", Role::WORDS)
}

fn role_field(fields: &mut Fields) -> Option<Role> {
    let word = fields.text("role")?;
    let role = Role::parse(&word);
    if role.is_none() {
        fields.refuse("role", no_role());
    }
    role
}

/// A person to add, by the address of an existing user.
#[derive(JsonSchema)]
pub(crate) struct MemberCreate {
    /// E-mail address.
    email: String,
    /// What the person may do.
    role: Role,
}

impl MemberCreate {
    pub(crate) fn read(mut fields: Fields) -> Result<MemberCreate, Refusal> {
        let email = normalize_email(&fields.required_text("email"));
        fields.required("role");
        let role = role_field(&mut fields);
        fields.finish()?;
        let role = role.ok_or_else(|| Refusal::fault("role", no_role()))?;
        Ok(MemberCreate { email, role })
    }
}

/// A new role.
#[derive(JsonSchema)]
pub(crate) struct MemberPatch {
    /// What the person may do from now on.
    role: Option<Role>,
}

impl MemberPatch {
    pub(crate) fn read(mut fields: Fields) -> Result<MemberPatch, Refusal> {
        fields.frozen(&["user_id", "email", "created_at", "organization_id"])?;
        let role = role_field(&mut fields);
        fields.finish().map(|()| MemberPatch { role })
    }
}

/// `POST …/members`
///
/// # Errors
/// 422 for an unknown address, 409 for one who is a member already or when no seat is left.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let organization = call.path_id(0).await?;
    let mut own_role = call.enter(organization)?;
    if call.body_was_slow().await? {
        own_role = call.enter(organization)?;
    }
    let MemberCreate { email, role } = MemberCreate::read(call.fields().await?)?;
    let add = Add {
        organization,
        email,
        role,
        now: call.app.context.now(),
    };
    let new = add.resolve(&call.app.store, own_role).await?;
    call.write(new, |tx, ctx| Box::pin(insert_once(tx, ctx)))
        .await
}

async fn insert_once(
    tx: &mut Tx,
    ctx: &OperationContext<NewMember>,
) -> Result<ApiResponse, Refusal> {
    if let Some(kept) = ctx.claim(tx).await? {
        return Ok(kept);
    }
    let member = members::insert(tx, &ctx.input).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &member)?)
        .await
}

/// The membership that a path names, and the role by which the caller may change it.
struct Membership {
    key: MemberKey,
    own_role: Role,
}

/// The membership that a path names, if the caller may change members there.
async fn membership(call: &mut Call) -> Result<Membership, Refusal> {
    let organization = call.path_id(0).await?;
    let own_role = match call.enter(organization) {
        // A user without a membership is invisible to all, so that comes before the role.
        Err(refusal) if refusal.code == Code::Forbidden => {
            let user = call.path_id(1).await?;
            let key = MemberKey { organization, user };
            let scope = call.confirmed_scope()?;
            let member: Result<_, StoreError> = call
                .app
                .store
                .read(&scope, key, |tx, key| Box::pin(members::find(tx, *key)))
                .await;
            return Err(member?.map_or_else(Refusal::not_found, |_| refusal));
        }
        entered => entered?,
    };
    let user = call.path_id(1).await?;
    let key = MemberKey { organization, user };
    Ok(Membership { key, own_role })
}

/// A change of one membership.
struct Change {
    key: MemberKey,
    /// What the body says; it is reported of members only.
    role: Result<Option<Role>, Refusal>,
    /// Of who changes it.
    own_role: Role,
}

/// `PATCH …/members/{user_id}`
///
/// # Errors
/// 404 for users who are not members, 403 and 409 where owners are concerned.
pub async fn patch(mut call: Call) -> Result<Response, Refusal> {
    let mut named = membership(&mut call).await?;
    if call.body_was_slow().await? {
        named = membership(&mut call).await?;
    }
    let Membership { key, own_role } = named;
    let change = Change {
        key,
        role: new_role(&mut call, own_role).await,
        own_role,
    };
    let scope = call.confirmed_scope()?;
    let member = call
        .app
        .store
        .write(&scope, change, |tx, change| Box::pin(update(tx, change)))
        .await?;
    json(StatusCode::OK, &member)
}

async fn new_role(call: &mut Call, own_role: Role) -> Result<Option<Role>, Refusal> {
    let MemberPatch { role } = MemberPatch::read(call.fields().await?)?;
    if let Some(role) = role {
        members::may_give(role, own_role)?;
    }
    Ok(role)
}

async fn update(tx: &mut Tx, change: &Change) -> Result<Member, Refusal> {
    let member = members::find(tx, change.key).await?;
    let member = member.ok_or_else(Refusal::not_found)?;
    match change.role.clone()? {
        Some(role) => members::set_role(tx, change.key, role, change.own_role).await,
        None => Ok(member),
    }
}

/// `DELETE …/members/{user_id}`
///
/// # Errors
/// 404 for users who are not members, 403 and 409 where owners are concerned.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let Membership { key, own_role } = membership(&mut call).await?;
    let removal = Removal {
        key,
        query: call.query_text.finish(),
        own_role,
    };
    let scope = call.confirmed_scope()?;
    call.app
        .store
        .write(&scope, removal, |tx, removal| Box::pin(remove(tx, removal)))
        .await?;
    Ok(nothing())
}

/// The end of one membership.
struct Removal {
    key: MemberKey,
    /// What is wrong with the query; it is reported of members only.
    query: Result<(), Refusal>,
    /// Of who ends it.
    own_role: Role,
}

async fn remove(tx: &mut Tx, removal: &Removal) -> Result<(), Refusal> {
    let Removal {
        key,
        query,
        own_role,
    } = removal;
    if let Err(fault) = query {
        let member = members::find(tx, *key).await?;
        let member = member.ok_or_else(Refusal::not_found)?;
        members::may_change(&member, *own_role)?;
        return Err(fault.clone());
    }
    members::remove(tx, *key, *own_role).await
}
