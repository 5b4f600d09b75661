//! What is asked about a caller of a distributed database, where it differs from [`identify`](super::identify).
//!
//! Sessions, people, memberships and keys lie on the coordinator; restricted workspaces and features of own rows with
//! their organization. So a question is in parts, each about one machine: who somebody is, and, below administrators
//! alone, what of one organization is kept from them. An administrator and a key ask the coordinator, and go on while
//! workers are away.

use super::caller::{Caller, Role};
use super::caller_statements::PERSON;
use super::visibility::visibility;
use crate::ids::WorkspaceKey;
use crate::store::Value;

/// What is kept from the user `$2` in the organization `$1`, below administrators: the parts of
/// [`SESSION`](super::caller_statements::SESSION) that are not in [`PERSON`].
pub(super) const RESTRICTIONS: &str = concat!(
    "SELECT part, id, name, place FROM (\
     SELECT CAST(2 AS bigint) AS part, workspace_id AS id, '' AS name, workspace_id AS place FROM workspace_members \
     WHERE organization_id = $1 AND user_id = $2 \
     UNION ALL SELECT 3, w.id, '', w.id FROM workspaces w WHERE w.organization_id = $1 AND ",
    visibility!(hidden "$2"),
    " UNION ALL SELECT 4, f.id, '', f.workspace_id FROM features f WHERE f.organization_id = $1 AND ",
    visibility!(guarded),
    ") AS known"
);

/// [`MEMBER`](super::caller_statements::MEMBER) without what is kept: whether somebody is still a person with that role in the
/// organization `$1`.
const MEMBERSHIP: &str = "SELECT CAST(0 AS bigint) AS part, u.id, u.email AS name, m.role, \
     u.platform_admin AS platform, false AS listed, false AS restricted \
     FROM sessions s JOIN users u ON u.id = s.user_id \
     JOIN memberships m ON m.organization_id = $1 AND m.user_id = u.id \
     WHERE s.access_hash = $2 AND s.access_expires_at > $3 AND s.revoked_at IS NULL";

/// The rest of it: what of the workspace `$2` is kept from the user `$3`, below administrators.
const KEPT_FROM_MEMBER: &str = concat!(
    "SELECT part, id, name, role, platform, listed, restricted FROM (\
     SELECT CAST(2 AS bigint) AS part, l.user_id AS id, '' AS name, '' AS role, false AS platform, \
     true AS listed, false AS restricted FROM workspace_members l \
     WHERE l.organization_id = $1 AND l.workspace_id = $2 AND l.user_id = $3 \
     UNION ALL SELECT 2, w.id, '', '', false, false, true FROM workspaces w \
     WHERE w.organization_id = $1 AND w.id = $2 AND ",
    visibility!(restricted),
    " UNION ALL SELECT 1, f.id, '', '', false, false, false FROM features f \
     WHERE f.organization_id = $1 AND f.workspace_id = $2 AND ",
    visibility!(guarded),
    ") AS known"
);

/// The parameters of [`RESTRICTIONS`] for each organization in which something may be kept from the caller.
pub(super) fn restricted(caller: &Caller) -> Vec<Vec<Value>> {
    let below = caller.organizations.iter();
    let below = below.filter(|one| one.role < Role::Admin);
    below
        .map(|one| vec![one.organization.into(), caller.id.into()])
        .collect()
}

/// What to ask to find the session of that hash, at that time, as it is known of the caller.
pub(super) fn session_parts(
    caller: &Caller,
    [hash, now]: [Value; 2],
) -> Vec<(&'static str, Vec<Value>)> {
    let mut parts = vec![(PERSON, vec![hash, now])];
    parts.extend(
        restricted(caller)
            .into_iter()
            .map(|parameters| (RESTRICTIONS, parameters)),
    );
    parts
}

/// The same, where one workspace is asked about.
pub(super) fn member_parts(
    caller: &Caller,
    place: WorkspaceKey,
    [hash, now]: [Value; 2],
) -> Vec<(&'static str, Vec<Value>)> {
    let organization = place.organization;
    let mut parts = vec![(MEMBERSHIP, vec![organization.into(), hash, now])];
    if caller
        .role_in(organization)
        .is_some_and(|role| role < Role::Admin)
    {
        let kept = vec![
            organization.into(),
            place.workspace.into(),
            caller.id.into(),
        ];
        parts.push((KEPT_FROM_MEMBER, kept));
    }
    parts
}
