//! What statements about rows of a table select, and whose rows they are about.

/// The rows of a page, out of those that a condition finds.
pub(super) const ROWS: &str = "id, created_at, updated_at, {text data}";

/// Column that marks a row beyond the limit.
pub(super) const TOO_MANY_COLUMN: usize = 5;

/// The version of the table, if the caller sees it, as the statement itself sees it.
pub(super) const VERSION: &str = "(SELECT version FROM features WHERE organization_id = $1 \
     AND id = $2 AND {tenant $1} AND {workspace workspace_id})";

/// Whose rows, behind the scope predicates. That the organization is one of the scope's, and the table the one
/// that it is about, is asked of the parameters: a second condition on a column would make the planner expect
/// fewer rows.
pub(super) const WHOSE: &str = "organization_id = $1 AND feature_id = $2 AND {tenant $1} AND {seen workspace_id $2 created_by}";
