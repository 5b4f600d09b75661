//! Which value of a target row a link shows, and of which moment.

use crate::apply::{ColumnWork, LinkedValue};

/// When it counts what a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before this job changed it: what links showed that were there.
    Before,
    /// Now.
    Now,
}

/// What a link shows of the rows that it points at.
#[derive(Debug, Clone, Copy)]
pub(super) struct TargetValue<'a> {
    pub(super) value: &'a LinkedValue,
    pub(super) moment: Moment,
}

impl TargetValue<'_> {
    /// What links of a column show now.
    pub(super) fn now(column: &ColumnWork) -> TargetValue<'_> {
        TargetValue {
            value: &column.linked_value,
            moment: Moment::Now,
        }
    }
}
