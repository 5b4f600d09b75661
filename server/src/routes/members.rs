//! `/v1/organizations/{organization_id}/members`: people and their roles.

use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::auth::{Role, normalize_email, user_by_email};
use crate::call::{Call, OperationContext, json, nothing};
use crate::fields::Fields;
use crate::http::response::ApiResponse;
use crate::paging::PageRequest;
use crate::refusal::{Code, Refusal};
use crate::store::{Row, Scope, Store, StoreError, Tx};
use crate::wire::UtcInstant;

/// A person who belongs to an organization.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Member {
    /// The user.
    pub user_id: Uuid,
    /// E-mail address.
    pub email: String,
    /// In this organization.
    #[schemars(with = "Role")]
    pub role: String,
    /// When the person became a member.
    pub created_at: UtcInstant,
}

impl Member {
    fn read(row: &Row) -> Result<Member, StoreError> {
        Ok(Member {
            user_id: row.get(0)?,
            email: row.get(1)?,
            role: row.get(2)?,
            created_at: UtcInstant(row.get(3)?),
        })
    }
}

/// `GET …/members`
///
/// # Errors
/// 404 for strangers.
pub async fn list(mut call: Call) -> Result<Response, Refusal> {
    let organization = call.path_id(0).await?;
    call.enter(organization)?;
    let page = call.page(&organization.to_string())?;
    let scope = call.caller()?.scope();
    let input = (organization, page.clone());
    let found: Result<_, StoreError> = call
        .app
        .store
        .read(&scope, input, |tx, (organization, page)| {
            Box::pin(select_page(tx, *organization, page))
        })
        .await;
    json(StatusCode::OK, &page.page(found?, |member| member.user_id))
}

async fn select_page(
    tx: &mut Tx,
    organization: Uuid,
    page: &PageRequest,
) -> Result<Vec<Member>, StoreError> {
    let sql = "SELECT user_id, email, role, created_at FROM memberships \
         WHERE {tenant organization_id} AND organization_id = $1 AND user_id > $2 \
         ORDER BY user_id LIMIT $3";
    let parameters = [
        organization.into(),
        page.from().into(),
        page.lookahead().into(),
    ];
    let rows = tx.last(sql, &parameters).await?;
    rows.iter().map(Member::read).collect()
}

/// A change of one membership: nothing to something, something to another role, or to nothing.
struct Change {
    organization: Uuid,
    user: Uuid,
    email: String,
    /// The new role; `None` ends the membership.
    role: Option<Role>,
    /// Of who changes it.
    own_role: Role,
    now: i64,
}

fn role_field(fields: &mut Fields) -> Option<Role> {
    let word = fields.text("role")?;
    let role = Role::parse(&word);
    if role.is_none() {
        fields.refuse("role", "is none of owner, admin, editor, viewer");
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
    fn read(mut fields: Fields) -> Result<MemberCreate, Refusal> {
        let email = normalize_email(&fields.required_text("email"));
        fields.required("role");
        let role = role_field(&mut fields);
        fields.finish()?;
        let role =
            role.ok_or_else(|| Refusal::fault("role", "is none of owner, admin, editor, viewer"))?;
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
    fn read(mut fields: Fields) -> Result<MemberPatch, Refusal> {
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
    let own_role = call.enter(organization)?;
    let MemberCreate { email, role } = MemberCreate::read(call.fields().await?)?;
    if role == Role::Owner && own_role < Role::Owner {
        return Err(owners_only());
    }
    // Addresses are nobody's business but the operator's; the members see who was found.
    let Some((user, _)) = user_by_email(&call.app.store, email.clone()).await? else {
        return Err(unknown_address());
    };
    let now = call.app.context.now();
    let change = Change {
        organization,
        user,
        email,
        role: Some(role),
        own_role,
        now,
    };
    call.write(change, |tx, ctx| Box::pin(insert_once(tx, ctx)))
        .await
}

async fn insert_once(tx: &mut Tx, ctx: &OperationContext<Change>) -> Result<ApiResponse, Refusal> {
    if let Some(answered) = ctx.claim(tx).await? {
        return Ok(answered);
    }
    let member = insert(tx, &ctx.input).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &member)?)
        .await
}

fn unknown_address() -> Refusal {
    Refusal::fault("email", "is the address of nobody who can sign in")
}

/// A membership that is to be.
#[derive(Debug)]
pub struct Add {
    /// Where.
    pub organization: Uuid,
    /// Whose, trimmed and lower-cased.
    pub email: String,
    /// As what.
    pub role: Role,
    /// The time.
    pub now: i64,
}

/// Makes a user a member. `own_role` is that of who asks for it.
///
/// # Errors
/// 422 for an unknown address, 409 for one who is a member already or when no seat is left, 404 for
/// an organization outside the scope.
pub async fn add(
    store: &Store,
    scope: &Scope,
    add: Add,
    own_role: Role,
) -> Result<Member, Refusal> {
    if add.role == Role::Owner && own_role < Role::Owner {
        return Err(owners_only());
    }
    let Some((user, _)) = user_by_email(store, add.email.clone()).await? else {
        return Err(unknown_address());
    };
    let change = Change {
        organization: add.organization,
        user,
        email: add.email,
        role: Some(add.role),
        own_role,
        now: add.now,
    };
    store
        .write(scope, change, |tx, change| Box::pin(insert(tx, change)))
        .await
}

fn owners_only() -> Refusal {
    Refusal::forbidden("Only owners make, change and remove owners.")
}

/// Keeps others from changing who belongs to an organization until the transaction ends, so that
/// seats and owners can be counted. Gives the number of seats.
async fn lock(tx: &mut Tx, organization: Uuid) -> Result<Option<i64>, Refusal> {
    let sql = "SELECT seats FROM organizations WHERE {tenant id} AND id = $1 {lock}";
    let row = tx.first(sql, &[organization.into()]).await?;
    Ok(row.ok_or_else(Refusal::not_found)?.get(0)?)
}

async fn insert(tx: &mut Tx, change: &Change) -> Result<Member, Refusal> {
    let seats = lock(tx, change.organization).await?;
    if current(tx, change).await?.is_some() {
        return Err(Refusal::new(
            Code::Conflict,
            "This person is a member already.",
        ));
    }
    if let Some(seats) = seats {
        let sql = "SELECT count(*) FROM memberships WHERE {tenant organization_id} AND organization_id = $1";
        let row = tx.first(sql, &[change.organization.into()]).await?;
        let taken: i64 = row.map_or(Ok(0), |row| row.get(0))?;
        if taken >= seats {
            return Err(Refusal::new(
                Code::NoSeatsAvailable,
                "The organization has no seat left.",
            ));
        }
    }
    let sql = "INSERT INTO main.memberships {into $1} (organization_id, user_id, email, role, created_at) \
         VALUES ($1, $2, $3, $4, $5) RETURNING user_id, email, role, created_at";
    let parameters = [
        change.organization.into(),
        change.user.into(),
        change.email.as_str().into(),
        change.role.map(Role::as_str).into(),
        change.now.into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    Ok(Member::read(&row.ok_or_else(Refusal::not_found)?)?)
}

async fn current(tx: &mut Tx, change: &Change) -> Result<Option<(Member, Option<Role>)>, Refusal> {
    let sql = "SELECT user_id, email, role, created_at FROM memberships \
         WHERE {tenant organization_id} AND organization_id = $1 AND user_id = $2";
    let row = tx
        .first(sql, &[change.organization.into(), change.user.into()])
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let member = Member::read(&row)?;
    let role = Role::parse(&member.role);
    Ok(Some((member, role)))
}

/// The member, if it may be changed: an owner only by owners, and the last owner not at all.
async fn changeable(tx: &mut Tx, change: &Change) -> Result<Member, Refusal> {
    lock(tx, change.organization).await?;
    let (member, role) = current(tx, change).await?.ok_or_else(Refusal::not_found)?;
    if role == Some(Role::Owner) {
        if change.own_role < Role::Owner {
            return Err(owners_only());
        }
        let sql = "SELECT count(*) FROM memberships \
             WHERE {tenant organization_id} AND organization_id = $1 AND role = 'owner'";
        let row = tx.first(sql, &[change.organization.into()]).await?;
        let owners: i64 = row.map_or(Ok(0), |row| row.get(0))?;
        if owners == 1 && change.role != Some(Role::Owner) {
            return Err(Refusal::new(Code::Conflict, "The last owner stays."));
        }
    }
    Ok(member)
}

/// The organization and the person that a path names, if the caller may change members there.
async fn entered(call: &mut Call) -> Result<(Uuid, Uuid, Role), Refusal> {
    let organization = call.path_id(0).await?;
    let own_role = match call.enter(organization) {
        // Who is no member cannot be seen by anybody, so that comes before the role.
        Err(problem) if problem.code == Code::Forbidden => {
            let user = call.path_id(1).await?;
            let change = Change {
                organization,
                user,
                email: String::new(),
                role: None,
                own_role: Role::Viewer,
                now: 0,
            };
            let scope = call.caller()?.scope();
            let member = call
                .app
                .store
                .read(&scope, change, |tx, change| Box::pin(current(tx, change)))
                .await?;
            return Err(member.map_or_else(Refusal::not_found, |_| problem));
        }
        entered => entered?,
    };
    Ok((organization, call.path_id(1).await?, own_role))
}

/// `PATCH …/members/{user_id}`
///
/// # Errors
/// 404 for users who are not members, 403 and 409 where owners are concerned.
pub async fn patch(mut call: Call) -> Result<Response, Refusal> {
    let (organization, user, own_role) = entered(&mut call).await?;
    let role = new_role(&mut call, own_role).await;
    let change = Change {
        organization,
        user,
        email: String::new(),
        role: role.clone().unwrap_or_default(),
        own_role,
        now: 0,
    };
    let scope = call.caller()?.scope();
    let member = call
        .app
        .store
        .write(&scope, (change, role), |tx, (change, role)| {
            Box::pin(update(tx, change, role))
        })
        .await?;
    json(StatusCode::OK, &member)
}

async fn new_role(call: &mut Call, own_role: Role) -> Result<Option<Role>, Refusal> {
    let MemberPatch { role } = MemberPatch::read(call.fields().await?)?;
    if role == Some(Role::Owner) && own_role < Role::Owner {
        return Err(owners_only());
    }
    Ok(role)
}

/// What is wrong with the body is reported of members only.
async fn update(
    tx: &mut Tx,
    change: &Change,
    role: &Result<Option<Role>, Refusal>,
) -> Result<Member, Refusal> {
    let (member, _) = current(tx, change).await?.ok_or_else(Refusal::not_found)?;
    let Some(role) = role.clone()? else {
        return Ok(member);
    };
    changeable(tx, change).await?;
    let sql = "UPDATE main.memberships SET role = $3 \
         WHERE {tenant organization_id} AND organization_id = $1 AND user_id = $2 \
         RETURNING user_id, email, role, created_at";
    let parameters = [
        change.organization.into(),
        change.user.into(),
        role.as_str().into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    Ok(Member::read(&row.ok_or_else(Refusal::not_found)?)?)
}

/// `DELETE …/members/{user_id}`
///
/// # Errors
/// 404 for users who are not members, 403 and 409 where owners are concerned.
pub async fn delete(mut call: Call) -> Result<Response, Refusal> {
    let (organization, user, own_role) = entered(&mut call).await?;
    call.query_text.finish()?;
    let change = Change {
        organization,
        user,
        email: String::new(),
        role: None,
        own_role,
        now: 0,
    };
    let scope = call.caller()?.scope();
    call.app
        .store
        .write(&scope, change, |tx, change| Box::pin(remove(tx, change)))
        .await?;
    Ok(nothing())
}

/// Takes a user out of an organization, as its owners may.
///
/// # Errors
/// 404 for users who do not exist or are not members, 409 for the last owner.
pub async fn expel(store: &Store, organization: Uuid, email: String) -> Result<(), Refusal> {
    let none = || {
        let reported = format!("There is no member {email} in an organization {organization}.");
        Refusal::new(Code::NotFound, reported)
    };
    let user = user_by_email(store, email.clone()).await?;
    let (user, _) = user.ok_or_else(none)?;
    let change = Change {
        organization,
        user,
        email: String::new(),
        role: None,
        own_role: Role::Owner,
        now: 0,
    };
    let removed = store
        .write(&Scope::Operator, change, |tx, change| {
            Box::pin(remove(tx, change))
        })
        .await;
    removed.map_err(|problem: Refusal| match problem.code {
        Code::NotFound => none(),
        _ => problem,
    })
}

async fn remove(tx: &mut Tx, change: &Change) -> Result<(), Refusal> {
    changeable(tx, change).await?;
    let sql = "DELETE FROM main.memberships \
         WHERE {tenant organization_id} AND organization_id = $1 AND user_id = $2";
    tx.query(sql, &[change.organization.into(), change.user.into()])
        .await?;
    Ok(())
}
