//! The tables under row security, with the condition for the rows of each.
//!
//! Views, triggers and authorizer rules are generated from it; no statement can read or write a
//! table that is missing here. It is independent of connections.

/// A table behind row security.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The question, with `@` for the row.
    pub(super) visible: &'static str,
    /// Open to authentication.
    pub(super) authentication: bool,
    /// Who else may read a row, with `@` for it: what is written asks `visible` alone.
    pub(super) shown: &'static str,
    /// Who else may change a row, and into what, with `@` for it; adding and removing ask `visible`
    /// alone.
    pub(super) changed: [&'static str; 2],
    /// Whether statements may insert `ON CONFLICT`. Then row security asks before an insert: asked after it,
    /// the question would not come up where a row outside the scope is there already, and the silence
    /// would tell so.
    pub(super) upserted: bool,
    /// Tables whose rows go or are looked at by foreign keys when this one is written.
    pub(super) cascades: &'static [&'static str],
}

const TENANT: &str = "wall_tenant('{}', @organization_id)";
const WITHIN: &str = "wall_within('{}', @organization_id, @workspace_id)";

/// Who sees every row of the only organization is not asked about each of them: the first question has
/// one response for a whole statement, and it is an id to compare with. Compared by `IS`: a question that
/// came to nothing would let a trigger pass.
const ROW: &str = "(@organization_id IS wall_whole() \
     OR wall_row(@organization_id, @workspace_id, @feature_id, @created_by))";

/// The rows, for whom `wall_whole` is all of the question: nothing is looked at that an index of rows does
/// not have. Others see none.
pub(in crate::store) const WHOLE_ROWS: &str = "wall_whole_rows";

const SHOWN: &str = "wall_shown(@visibility)";
const PROMOTED: [&str; 2] = [
    "wall_platform()",
    "wall_platform() AND @visibility = 'system'",
];

/// Everything that goes with a table.
const OF_FEATURE: [&str; 5] = [
    "views",
    "columns",
    "rows",
    "workflow_watchers",
    "workflow_events",
];

/// Everything that goes with an automation.
const OF_WORKFLOW: [&str; 5] = [
    "workflow_versions",
    "workflow_watchers",
    "workflow_schedules",
    "workflow_runs",
    "workflow_steps",
];

pub(super) const TABLES: [Table; 31] = [
    Table {
        name: "users",
        visible: "wall_person('users', @id)",
        authentication: true,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &["sessions"],
    },
    Table {
        name: "sessions",
        visible: "wall_person('sessions', NULL)",
        authentication: true,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &[],
    },
    Table {
        name: "organizations",
        visible: "wall_tenant('organizations', @id)",
        authentication: false,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &[
            "memberships",
            "workspaces",
            "workspace_members",
            "api_keys",
            "modules",
            "rails",
            "features",
            "views",
            "columns",
            "rows",
            "workflows",
            "workflow_versions",
            "template_jobs",
            "template_job_parts",
            "template_job_entries",
            "channels",
            "connections",
            "templates",
            "template_payloads",
            "workflow_watchers",
            "workflow_events",
            "workflow_schedules",
            "workflow_runs",
            "workflow_steps",
            "notifications",
        ],
    },
    Table {
        name: "memberships",
        visible: TENANT,
        authentication: true,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &["workspace_members"],
    },
    Table {
        name: "workspaces",
        visible: "wall_workspace(@organization_id, @id, @access)",
        authentication: true,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &[
            "workspace_members",
            "modules",
            "rails",
            "features",
            "views",
            "columns",
            "rows",
            "workflows",
            "workflow_versions",
            "template_jobs",
            "template_job_parts",
            "template_job_entries",
            "workflow_watchers",
            "workflow_events",
            "workflow_schedules",
            "workflow_runs",
            "workflow_steps",
        ],
    },
    Table {
        name: "workspace_members",
        visible: TENANT,
        authentication: true,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &[],
    },
    Table {
        name: "api_keys",
        visible: TENANT,
        authentication: true,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &[],
    },
    within("modules", &["rails"]),
    within("rails", &[]),
    Table {
        name: "features",
        visible: "wall_feature(@organization_id, @workspace_id, @own_rows)",
        authentication: true,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &OF_FEATURE,
    },
    within("views", &[]),
    within("columns", &[]),
    // Before an insert, SQLite would copy every column of the row for the question, and an import asks
    // it of millions.
    Table {
        name: "rows",
        visible: ROW,
        authentication: false,
        shown: "",
        changed: [""; 2],
        upserted: false,
        cascades: &[],
    },
    within("row_values", &[]),
    // Numbers of rows, and the quota counts them all: as visible as the organization.
    Table {
        name: "row_counts",
        visible: TENANT,
        authentication: false,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &[],
    },
    Table {
        name: "idempotency",
        visible: "wall_person('idempotency', @caller_id)",
        authentication: false,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &[],
    },
    of_organization("channels"),
    of_organization("connections"),
    within("workflows", &OF_WORKFLOW),
    within("workflow_versions", &[]),
    // Templates for everybody are read by everybody, and changed by their own organization alone;
    // administrators of the platform promote them.
    Table {
        shown: SHOWN,
        changed: PROMOTED,
        cascades: &["template_payloads"],
        ..of_organization("templates")
    },
    Table {
        shown: SHOWN,
        changed: PROMOTED,
        ..of_organization("template_payloads")
    },
    within(
        "template_jobs",
        &["template_job_parts", "template_job_entries"],
    ),
    within("template_job_parts", &[]),
    within("template_job_entries", &[]),
    // Who writes a row has to know who waits for it, seen or not.
    of_organization("workflow_watchers"),
    within("workflow_events", &[]),
    of_organization("workflow_schedules"),
    within("workflow_runs", &["workflow_steps"]),
    within("workflow_steps", &[]),
    of_organization("notifications"),
];

/// A table whose rows belong to an organization as a whole.
const fn of_organization(name: &'static str) -> Table {
    Table {
        name,
        visible: TENANT,
        authentication: false,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades: &[],
    }
}

/// A table whose rows are as visible as their workspace.
const fn within(name: &'static str, cascades: &'static [&'static str]) -> Table {
    Table {
        name,
        visible: WITHIN,
        authentication: false,
        shown: "",
        changed: [""; 2],
        upserted: true,
        cascades,
    }
}

/// The name of a table as it is here, for a statement that was composed while running.
pub(in crate::store) fn canonical_name(name: &str) -> Option<&'static str> {
    table(name).map(|table| table.name)
}

/// Whether a statement may say `ON CONFLICT` of the table of that name.
pub(in crate::store) fn upserted(name: &str) -> bool {
    table(name).is_some_and(|table| table.upserted)
}

/// The table of that name, if it is behind row security.
pub(super) fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}
