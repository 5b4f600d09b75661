//! The form of a policy: who may do what with which rows of a table.

use super::Condition;
use super::placement::Placement;

/// The policy of a table.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct TablePolicy {
    /// Its name.
    pub(in crate::store) name: &'static str,
    /// What authentication may do.
    pub(in crate::store) authentication: Access,
    /// What the operator at the machine may do.
    pub(in crate::store) operator: Access,
    /// What a signed-in caller may do.
    pub(in crate::store) caller: Access,
    /// What a caller may do with rows beyond those.
    pub(in crate::store) exceptions: &'static [Exception],
    /// What else has to hold of a row, beyond the rules, for a caller to read it.
    pub(in crate::store) read_restriction: Option<ReadRestriction>,
    /// Where its rows lie in a database of several nodes.
    pub(in crate::store) placement: Placement,
    /// Whether statements may insert `ON CONFLICT`. Then SQLite asks before an insert: asked after it, the
    /// question would not come up where a row outside the scope is there already, and the silence would
    /// show that.
    pub(in crate::store) upserted: bool,
}

/// Behind what is looked for in another table: it is looked up for each row by itself.
pub(in crate::store) const ONE_BY_ONE: &str = " LIMIT 1 OFFSET 0";

/// Which rows a caller reads: those that a rule shows, and those to which a row of another table leads that the caller
/// sees.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct ReadRestriction {
    /// What shows a row to a caller by itself.
    pub(in crate::store) own: Rule,
    /// The other table.
    pub(in crate::store) through: &'static str,
    /// Its columns, each with the column of this table that is the same there.
    pub(in crate::store) pairs: &'static [(&'static str, &'static str)],
}

impl ReadRestriction {
    /// Whether a row of the other table that the caller sees leads to a row of `table`, in SQL.
    pub(in crate::store) fn is_led_to(&self, table: &str) -> String {
        let ours = self.pairs.iter().map(|(_, ours)| format!("{table}.{ours}"));
        self.leads_to(ours)
    }

    /// Whether a row of the other table that the caller sees leads to a row with these values in the columns of
    /// `pairs`, in SQL. The offset keeps PostgreSQL from reading all rows of the other table once, which it takes for
    /// cheap while the table is empty, and does as long as it keeps the plan.
    pub(in crate::store) fn leads_to(&self, values: impl Iterator<Item = String>) -> String {
        let theirs = self.pairs.iter().map(|(theirs, _)| theirs);
        let pairs = theirs.zip(values);
        let pairs = pairs.map(|(theirs, value)| format!("through.{theirs} = {value}"));
        format!(
            "EXISTS (SELECT 1 FROM {} AS through WHERE {}{ONE_BY_ONE})",
            self.through,
            pairs.collect::<Vec<_>>().join(" AND ")
        )
    }
}

/// What one of the three who ask may do with a table.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Access {
    /// The privileges, as PostgreSQL grants them; nothing for none.
    pub(in crate::store) privileges: &'static str,
    /// To which rows they apply.
    pub(in crate::store) rows: Rows,
}

/// Rows of a table.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Rows {
    /// None of them.
    None,
    /// All of them.
    All,
    /// Those of which all of these hold.
    Where(&'static [Rule], Evaluation),
}

/// A condition on columns of a table.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Rule {
    /// What is asked.
    pub(in crate::store) condition: Condition,
    /// The columns that it asks of.
    pub(in crate::store) columns: &'static [&'static str],
}

/// How often the store works out what a policy compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Evaluation {
    /// For each row, in plain comparisons.
    Plain,
    /// Once for a statement. PostgreSQL's planner expects nothing of such a policy, where it would take a
    /// second comparison next to that of the statement for a second reason to expect few rows.
    Once,
    /// The same; and who sees every row of an organization is asked about the organization alone.
    OnceForOrganization,
}

/// Rows that a caller may read or change beyond those of the table's rules. Adding and removing are never
/// among it.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Exception {
    /// Its name in PostgreSQL.
    pub(in crate::store) name: &'static str,
    /// What it allows.
    pub(in crate::store) allows: Allows,
}

/// What an exception allows.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Allows {
    /// To read these rows.
    Read(Rule),
    /// To change these rows, and into what.
    Change {
        /// The row as it is.
        from: Rule,
        /// The row as it becomes.
        into: Rule,
    },
}

/// A condition on columns of a table.
pub(super) const fn rule(condition: Condition, columns: &'static [&'static str]) -> Rule {
    Rule { condition, columns }
}
