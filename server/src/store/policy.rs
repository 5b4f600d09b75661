//! The policy of each table: who sees, and who may write, which rows.
//!
//! Three things are generated from it: the predicates of statements ([`Mark`], inserted by
//! [`translate`](super::translate)), SQLite's row security (`sqlite/row_security`), and PostgreSQL's
//! (`migrations/policies.sql`; a test appends what changes of it to a new migration, and tests compare it with the
//! result of all migrations). The program asks the same conditions of rows that it has ([`Visible::sees_row`]). No
//! statement can read or write a table that is missing here. It is independent of connections.

mod condition;
mod file_visibility;
#[cfg(test)]
mod migration_text;
mod placement;
mod postgres;
#[cfg(test)]
mod source_statements;
mod statement;
mod table;

pub(crate) use file_visibility::sees_file;

pub use placement::Placement;

pub(super) use condition::{ColumnValues, Condition, PLATFORM};
pub(super) use postgres::Form;
pub(super) use statement::{Mark, Predicates};
pub(super) use table::{
    Access, Allows, Evaluation, Exception, ReadRestriction, Rows, Rule, TablePolicy,
};

use uuid::Uuid;

use super::scope::Visible;
use super::scope_ids::{Id, Ids};
use Condition::{All, Any, Flag, ForEverybody, In, Is, NotIn, Only, Platform, Word};
use Evaluation::{Once, OnceForOrganization, Plain};
use table::rule;

/// It belongs to an organization of the caller.
const TENANT: Condition = In(0, Ids::Organizations);
/// It belongs to the caller.
const CALLER: Condition = Is(0, Id::Caller);
/// It lies in no workspace that is kept from the caller.
const WORKSPACE: Condition = Only(0, Id::OnlyWorkspace, &NotIn(0, Ids::Hidden));
/// Its feature shows all its rows, or the caller made it, or the run that works for the caller.
const ROW: Condition = Any(&[NotIn(0, Ids::Guarded), Is(1, Id::Caller), Is(1, Id::Run)]);
/// Both, of a row: it is of the one table of which every row is visible, or what is asked of others holds.
const SEEN: Condition = Only(
    1,
    Id::OnlyFeature,
    &All(&[
        Only(0, Id::OnlyWorkspace, &NotIn(0, Ids::Hidden)),
        Any(&[NotIn(1, Ids::Guarded), Is(2, Id::Caller), Is(2, Id::Run)]),
    ]),
);
/// It is a template that the caller sees: one of an organization of theirs, one for everybody, or any.
const CATALOG: Condition = Any(&[TENANT, ForEverybody(1), Platform]);
/// It is a template that the caller may promote.
const PROMOTING: Condition = Any(&[TENANT, Platform]);
/// It is a workspace that is open to its organization, or to this caller.
const OPEN: Condition = Any(&[
    Word(0, "organization"),
    In(1, Ids::Administered),
    In(2, Ids::Workspaces),
]);

/// The caller put it there, or administers its organization.
const UPLOADER: Condition = Any(&[In(0, Ids::Administered), Is(1, Id::Caller)]);

/// The marks of statements that stand for a predicate.
const MARKS: [Mark; 8] = [
    Mark::new("tenant", TENANT, 1).owner(),
    Mark::new("caller", CALLER, 1).owner(),
    Mark::new("catalog", CATALOG, 2).owner(),
    Mark::new("promoting", PROMOTING, 1).owner(),
    // A workspace is of one organization, but a list of the hidden ones names no owner.
    Mark::new("workspace", WORKSPACE, 1),
    Mark::new("row", ROW, 2),
    Mark::new("seen", SEEN, 3),
    Mark::new("uploader", UPLOADER, 2),
];

/// The full-text index of SQLite, which is no table: it is as visible as the rows of `row_search`
/// (`sqlite/row_security`).
pub(super) const FULL_TEXT: &str = "search_terms";

const EVERYTHING: &str = "SELECT, INSERT, UPDATE, DELETE";
const NOTHING: Access = access("", Rows::None);
const READS: Access = access("SELECT", Rows::All);

const OF_ORGANIZATION: Rule = rule(TENANT, &["organization_id"]);
const OF_WORKSPACE: Rule = rule(WORKSPACE, &["workspace_id"]);

/// Templates for everybody are read by everybody, and changed by their own organization alone;
/// administrators of the platform see all of them, and promote them.
const SHARED: [Exception; 3] = [
    Exception {
        name: "catalog",
        allows: Allows::Read(rule(ForEverybody(0), &["visibility"])),
    },
    Exception {
        name: "platform",
        allows: Allows::Read(rule(Platform, &[])),
    },
    Exception {
        name: "promotion",
        allows: Allows::Change {
            from: rule(Platform, &[]),
            into: rule(All(&[Platform, Word(0, "system")]), &["visibility"]),
        },
    },
];

/// The policies, in the order in which tables came.
pub(super) static TABLES: [TablePolicy; 38] = [
    TablePolicy {
        placement: Placement::Coordinator,
        authentication: access("SELECT, UPDATE (password_hash)", Rows::All),
        caller: access("SELECT", Rows::Where(&[rule(CALLER, &["id"])], Plain)),
        ..of_organization("users")
    },
    TablePolicy {
        placement: Placement::Coordinator,
        authentication: access(EVERYTHING, Rows::All),
        operator: NOTHING,
        caller: NOTHING,
        ..of_organization("sessions")
    },
    TablePolicy {
        placement: Placement::Organization("id"),
        caller: access(
            "SELECT, UPDATE",
            Rows::Where(&[rule(TENANT, &["id"])], Plain),
        ),
        ..of_organization("organizations")
    },
    TablePolicy {
        placement: Placement::Coordinator,
        authentication: READS,
        ..of_organization("memberships")
    },
    TablePolicy {
        // From whom they are kept is found out before anybody asks.
        authentication: access(
            "SELECT",
            Rows::Where(&[rule(Word(0, "members"), &["access"])], Plain),
        ),
        caller: access(
            EVERYTHING,
            Rows::Where(
                &[
                    OF_ORGANIZATION,
                    rule(OPEN, &["access", "organization_id", "id"]),
                ],
                Plain,
            ),
        ),
        ..of_organization("workspaces")
    },
    TablePolicy {
        authentication: READS,
        ..of_organization("workspace_members")
    },
    TablePolicy {
        placement: Placement::Coordinator,
        authentication: access("SELECT, UPDATE", Rows::All),
        ..of_organization("api_keys")
    },
    within("modules", Plain),
    within("rails", Plain),
    TablePolicy {
        authentication: access(
            "SELECT",
            Rows::Where(&[rule(Flag(0), &["own_rows"])], Plain),
        ),
        ..within("features", Once)
    },
    within("views", Plain),
    within("columns", Plain),
    TablePolicy {
        caller: access(
            EVERYTHING,
            Rows::Where(
                &[
                    OF_ORGANIZATION,
                    rule(SEEN, &["workspace_id", "feature_id", "created_by"]),
                ],
                OnceForOrganization,
            ),
        ),
        // Before an insert, SQLite would copy every column of the row for the question, and an import asks
        // it of millions.
        upserted: false,
        ..of_organization("rows")
    },
    within("row_values", Once),
    // Numbers of rows, and the quota counts them all: as visible as the organization.
    of_organization("row_counts"),
    TablePolicy {
        // That a request was done is written in the transaction that does it.
        placement: Placement::CoordinatorJointly,
        operator: access("SELECT, DELETE", Rows::All),
        caller: access(
            EVERYTHING,
            Rows::Where(&[rule(CALLER, &["caller_id"])], Plain),
        ),
        ..of_organization("idempotency")
    },
    of_organization("channels"),
    TablePolicy {
        // Requests read neither the address nor the secret of a connection.
        caller: access(
            "SELECT (organization_id, id, name, kind, created_at, target_id), INSERT, DELETE",
            Rows::Where(&[OF_ORGANIZATION], Plain),
        ),
        ..of_organization("connections")
    },
    within("workflows", Plain),
    within("workflow_versions", Plain),
    TablePolicy {
        exceptions: &SHARED,
        ..of_organization("templates")
    },
    TablePolicy {
        exceptions: &SHARED,
        ..of_organization("template_payloads")
    },
    within("template_jobs", Plain),
    within("template_job_parts", Plain),
    within("template_job_entries", Plain),
    // Who writes a row has to know who waits for it, seen or not.
    of_organization("workflow_watchers"),
    within("workflow_events", Once),
    of_organization("workflow_schedules"),
    within("workflow_runs", Once),
    // A chain goes on in workspaces that its runs do not all see.
    of_organization("run_chains"),
    within("workflow_steps", Once),
    of_organization("notifications"),
    TablePolicy {
        placement: Placement::Coordinator,
        operator: READS,
        caller: NOTHING,
        ..of_organization("store_identity")
    },
    // By content: an upload finds the object of its bytes, whoever brought them before.
    of_organization("file_objects"),
    TablePolicy {
        caller: access(
            EVERYTHING,
            Rows::Where(
                &[
                    OF_ORGANIZATION,
                    OF_WORKSPACE,
                    rule(ROW, &["feature_id", "row_created_by"]),
                ],
                Plain,
            ),
        ),
        ..of_organization("file_uses")
    },
    TablePolicy {
        read_restriction: Some(ReadRestriction {
            own: rule(UPLOADER, &["organization_id", "created_by"]),
            through: "file_uses",
            pairs: &[("organization_id", "organization_id"), ("file_id", "id")],
        }),
        ..within("files", Plain)
    },
    within("file_holds", Plain),
    // Who may search is asked about the rows that are found; what has no row of this table is in no index.
    within("row_search", Once),
];

const fn access(privileges: &'static str, rows: Rows) -> Access {
    Access { privileges, rows }
}

/// A table whose rows belong to an organization as a whole.
const fn of_organization(name: &'static str) -> TablePolicy {
    TablePolicy {
        name,
        placement: Placement::Organization("organization_id"),
        authentication: NOTHING,
        operator: access(EVERYTHING, Rows::All),
        caller: access(EVERYTHING, Rows::Where(&[OF_ORGANIZATION], Plain)),
        exceptions: &[],
        read_restriction: None,
        upserted: true,
    }
}

/// A table whose rows are as visible as their workspace.
const fn within(name: &'static str, evaluation: Evaluation) -> TablePolicy {
    TablePolicy {
        caller: access(
            EVERYTHING,
            Rows::Where(&[OF_ORGANIZATION, OF_WORKSPACE], evaluation),
        ),
        ..of_organization(name)
    }
}

/// The policy of the table of that name.
pub(super) fn table(name: &str) -> Option<&'static TablePolicy> {
    TABLES.iter().find(|table| table.name == name)
}

/// What a mark of that word stands for, if it is a predicate.
pub(super) fn mark(word: &str) -> Option<&'static Mark> {
    MARKS.iter().find(|mark| mark.word == word)
}

impl Visible {
    /// Whether the caller sees the workspace, which is of one of their organizations.
    pub(crate) fn sees_workspace(&self, workspace: Uuid) -> bool {
        WORKSPACE.holds(Some(self), &[Some(workspace)])
    }

    /// Whether the caller sees a row of one of their organizations that `creator` made: what the policy of `rows` says.
    pub(crate) fn sees_row(&self, workspace: Uuid, feature: Uuid, creator: Option<Uuid>) -> bool {
        SEEN.holds(Some(self), &[Some(workspace), Some(feature), creator])
    }
}

/// What the migrations of PostgreSQL say of the row security of each table, by its name.
pub fn postgres_policies() -> Vec<(&'static str, String)> {
    let tables = TABLES.iter();
    tables
        .map(|table| (table.name, table.postgres(Form::OneMachine)))
        .collect()
}

/// Where the rows of each table lie in a database of several nodes, by its name.
pub fn placements() -> impl Iterator<Item = (&'static str, Placement)> {
    TABLES.iter().map(|table| (table.name, table.placement))
}

#[cfg(test)]
mod tests;
