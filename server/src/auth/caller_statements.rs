//! The statements that identify a caller.

use super::visibility::visibility;

/// The words of a session's statements that ask who its holder is: `person` names it `s`, and `who` gives the parts
/// about the person.
macro_rules! session {
    (person) => {
        "s AS MATERIALIZED (SELECT u.id, u.email FROM sessions s JOIN users u ON u.id = s.user_id \
         WHERE s.access_hash = $1 AND s.access_expires_at > $2 AND s.revoked_at IS NULL), \
         m AS MATERIALIZED (SELECT organization_id, user_id, role FROM memberships \
         WHERE user_id = (SELECT id FROM s))"
    };
    (who) => {
        "SELECT CAST(0 AS bigint) AS part, id, email AS name, id AS place FROM s \
         UNION ALL SELECT 1, organization_id, role, organization_id FROM m \
         UNION ALL SELECT 5, u.id, u.email, u.id FROM s JOIN users u ON u.id = s.id AND u.platform_admin"
    };
}

/// Everything about the holder of a session in one statement, so that PostgreSQL responds in one round
/// trip. The first column tells the parts apart.
pub(super) const SESSION: &str = concat!(
    "SELECT part, id, name, place FROM (WITH ",
    session!(person),
    " ",
    session!(who),
    " UNION ALL SELECT 2, w.workspace_id, m.role, w.workspace_id FROM m JOIN workspace_members w \
     ON w.organization_id = m.organization_id AND w.user_id = m.user_id \
     UNION ALL SELECT 3, w.id, m.role, w.id FROM m \
     JOIN workspaces w ON w.organization_id = m.organization_id AND ",
    visibility!(restricted),
    " WHERE ",
    visibility!(below admin),
    " AND NOT ",
    visibility!(listed "w.organization_id", "w.id", "m.user_id"),
    " UNION ALL SELECT 4, f.id, m.role, f.workspace_id FROM m \
     JOIN features f ON f.organization_id = m.organization_id AND ",
    visibility!(guarded),
    " WHERE ",
    visibility!(below admin),
    ") AS known {across sign-in}"
);

/// The same without what is kept from the person, in a distributed database: it lies on the coordinator, and what is
/// kept from people lies with their organizations.
pub(super) const PERSON: &str = concat!(
    "SELECT part, id, name, place FROM (WITH ",
    session!(person),
    " ",
    session!(who),
    ") AS known"
);

/// Whether somebody is still a person who administers these organizations. Of who does, nothing is kept,
/// so nothing else has to be looked at; [`SESSION`] takes a store several times as long.
pub(super) const ADMINISTRATOR: &str = "SELECT u.id, u.email, \
     CASE WHEN u.platform_admin THEN CAST(1 AS bigint) ELSE CAST(0 AS bigint) END, \
     m.organization_id, m.role FROM sessions s JOIN users u ON u.id = s.user_id \
     LEFT JOIN memberships m ON m.user_id = u.id \
     WHERE s.access_hash = $1 AND s.access_expires_at > $2 AND s.revoked_at IS NULL {across sign-in}";

/// Whether somebody is still a person with that role in one organization, and what of one workspace in it is
/// kept from them: nothing else of what they may see has to be looked at, however much it is. Part 0 is
/// theirs; the others are the features of the workspace that show people their own rows only.
pub(super) const MEMBER: &str = concat!(
    "SELECT part, id, name, role, platform, listed, restricted FROM (WITH \
     m AS MATERIALIZED (SELECT u.id, u.email, u.platform_admin, m.role \
     FROM sessions s JOIN users u ON u.id = s.user_id \
     JOIN memberships m ON m.organization_id = $1 AND m.user_id = u.id \
     WHERE s.access_hash = $3 AND s.access_expires_at > $4 AND s.revoked_at IS NULL) \
     SELECT CAST(0 AS bigint) AS part, id, email AS name, role, platform_admin AS platform, ",
    visibility!(listed "$1", "$2", "m.id"),
    " AS listed, EXISTS (SELECT 1 FROM workspaces w WHERE w.organization_id = $1 AND w.id = $2 AND ",
    visibility!(restricted),
    ") AS restricted FROM m \
     UNION ALL SELECT 1, f.id, m.email, m.role, m.platform_admin, m.platform_admin, m.platform_admin \
     FROM m JOIN features f ON f.organization_id = $1 AND f.workspace_id = $2 AND ",
    visibility!(guarded),
    " WHERE ",
    visibility!(below admin),
    ") AS known"
);

pub(super) const KEY: &str = concat!(
    "SELECT id, scopes, last_used_at FROM api_keys WHERE organization_id = $1 AND secret_hash = $2 AND ",
    visibility!(valid key "$3")
);
