//! A record that a job adds to a workspace.

use super::{Automation, Column, Feature, Id, Module, Rail, View};

/// A record to be added. What is inside it (columns of a table, rails of a module) is empty
/// here and added on its own.
#[derive(Debug, Clone, PartialEq)]
pub enum New {
    /// Another workspace of the organization.
    Workspace {
        /// Identity.
        id: Id,
        /// Technical name.
        name: String,
        /// Label.
        label: String,
    },
    /// A table.
    Feature(Feature),
    /// A column of a table.
    Column {
        /// The table.
        feature: Id,
        /// The column.
        column: Column,
    },
    /// A view of a table.
    View {
        /// The table.
        feature: Id,
        /// The view.
        view: View,
    },
    /// An automation, as a draft that does not fire.
    Workflow(Automation),
    /// A module.
    Module(Module),
    /// A navigation entry of a module.
    Rail {
        /// The module.
        module: Id,
        /// The entry.
        rail: Rail,
    },
}
