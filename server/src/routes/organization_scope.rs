//! Shared by channels and connections: the organization of a request, and valid names.

use uuid::Uuid;

use crate::automation::name_fault;
use crate::call::Call;
use crate::json_body::{Fields, parse};
use crate::paging::PageRequest;
use crate::refusal::Refusal;

/// Fields that never change, whatever the record.
pub(super) const FROZEN: [&str; 7] = [
    "id",
    "organization_id",
    "created_at",
    "updated_at",
    "created_by",
    "seats",
    "row_quota",
];

/// A page of the records of an organization.
pub(super) struct OrganizationPage {
    /// Whose records.
    pub(super) organization: Uuid,
    /// Which of them.
    pub(super) page: PageRequest,
}

/// The organization whose records are listed, and the page. `of` says of what, beyond route and
/// organization.
///
/// # Errors
/// 422 without an organization, 404 for strangers.
pub(super) fn listed(
    call: &mut Call,
    of: impl FnOnce(&mut Call) -> String,
) -> Result<OrganizationPage, Refusal> {
    let organization = call.query_text.id("organization_id");
    if let Some(organization) = organization {
        call.enter(organization)?;
    }
    let organization = organization.unwrap_or_default();
    let of = of(call);
    let page = call.page(&format!("{organization} {of}"))?;
    Ok(OrganizationPage { organization, page })
}

/// The organization for which a record is created, named by the query or the body, and the other fields.
///
/// # Errors
/// 404 for strangers, 403 for a role that does not suffice, those of the body.
pub(super) async fn created(call: &mut Call) -> Result<(Uuid, Fields), Refusal> {
    let in_query = call.query_text.optional_id("organization_id");
    if let Some(organization) = in_query {
        call.enter(organization)?;
        if call.body_was_slow().await? {
            call.enter(organization)?;
        }
    }
    let bytes = call.bytes().await?;
    call.query_text.finish()?;
    let mut fields = Fields::of(parse(&bytes)?)?;
    let Some(organization) = in_query else {
        let before = fields.count();
        let organization = fields.required_id("organization_id");
        if fields.count() == before {
            call.enter(organization)?;
        }
        return Ok((organization, fields));
    };
    if fields
        .id("organization_id")
        .is_some_and(|id| id != organization)
    {
        fields.refuse(
            "organization_id",
            "is another organization than that of the query",
        );
    }
    Ok((organization, fields))
}

/// The field `name`, if it is there.
pub(super) fn name(fields: &mut Fields) -> Option<String> {
    let name = fields.text("name")?;
    if let Some(why) = name_fault(&name) {
        fields.refuse("name", why);
    }
    Some(name)
}
