//! Limits of steps that have an effect, and why such a step fails: the same on a server and in the tests that a package
//! declares.

use uuid::Uuid;

use super::act::Binding;
use super::failure::Failure;

/// How many rows one `feature.write` may change.
pub const MAX_ROWS_PER_WRITE: usize = 1000;

/// How deep runs may cause one another.
pub const MAX_CHAIN_DEPTH: u32 = 8;

/// The table of a write is gone.
pub fn table_gone(table: Uuid) -> Failure {
    let reason = format!("the table {table} is no longer here");
    Failure::at("targetFeatureId", reason)
}

/// A column that a write fills is gone.
pub fn column_gone(binding: &Binding) -> Failure {
    let reason = format!("the table no longer has a column `{}`", binding.column);
    let failure = Failure::at(format!("bindings.{}", binding.column), reason);
    failure.yields(Some(&binding.expression), &binding.value)
}

/// The row that fired is to be written, and no row of the table has.
pub fn no_trigger_row() -> Failure {
    Failure::at("mode", "no row of this table has fired")
}

/// The row that fired is gone.
pub fn trigger_row_gone() -> Failure {
    Failure::at("mode", "the row that has fired is gone")
}

/// Rows are to be matched by a column, and none is named.
pub fn no_match_column() -> Failure {
    Failure::at("matchColumn", "names no column")
}

/// More rows match than a write may change.
pub fn too_many_rows() -> Failure {
    let reason =
        format!("more than {MAX_ROWS_PER_WRITE} rows hold that value, and a step changes no more");
    Failure::at("matchColumn", reason)
}

/// The automation to run is not active.
pub fn automation_inactive(automation: Uuid) -> Failure {
    of_automation(automation, "the automation is not active")
}

/// The automation to run is gone.
pub fn automation_gone(automation: Uuid) -> Failure {
    of_automation(automation, "the automation is no longer here")
}

fn of_automation(automation: Uuid, reason: &str) -> Failure {
    Failure::at("workflowId", reason).yields(None, &automation.to_string().into())
}
