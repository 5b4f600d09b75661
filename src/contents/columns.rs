//! What the plan says of the columns: their types, and the tables that links lead to.

use std::collections::HashMap;

use crate::json::Node;
use crate::package::reference::undollared;

/// The columns that a plan creates, by ref.
pub(super) struct Columns<'d>(HashMap<&'d str, Node<'d>>);

impl<'d> Columns<'d> {
    pub(super) fn read(plan: Option<Node<'d>>) -> Columns<'d> {
        let steps = plan.and_then(|plan| plan.get("steps"));
        let steps = steps.into_iter().flat_map(Node::elements);
        let columns = steps.filter(|step| step.get_str("tool") == Some("create_column"));
        let by_ref =
            columns.filter_map(|step| Some((undollared(step.get_str("ref")?), step.get("args")?)));
        Columns(by_ref.collect())
    }

    /// The type of a column.
    pub(super) fn type_of(&self, reference: &str) -> Option<&'d str> {
        self.0.get(reference)?.get_str("type")
    }

    /// The ref of the table that a column links to.
    pub(super) fn linked(&self, reference: &str) -> Option<&'d str> {
        let config = self.0.get(reference)?.get("config")?;
        config.get_str("linkedFeatureId").map(undollared)
    }
}
