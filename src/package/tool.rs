//! The tools that a plan step may name.

use crate::definitions::ReferenceKind;

use super::format::{self, Shape};

/// A tool of the plan format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Creates a workspace.
    CreateWorkspace,
    /// Creates a module.
    CreateModule,
    /// Creates a rail.
    CreateRail,
    /// Creates a table.
    CreateFeature,
    /// Creates a column.
    CreateColumn,
    /// Creates a view.
    CreateView,
    /// Creates an automation.
    CreateWorkflowV2,
    /// Writes one row.
    InsertRow,
    /// Writes rows.
    InsertRows,
    /// Changes one row.
    UpdateRow,
    /// Changes rows.
    BulkUpdateRows,
    /// Replaces a module's config.
    UpdateModule,
    /// Replaces the workspace's config.
    UpdateWorkspace,
    /// Replaces a table's config.
    UpdateFeature,
    /// Replaces a column's config.
    UpdateColumn,
    /// Replaces a view's config.
    UpdateView,
}

/// One of the eleven phases of a plan; steps are in this order.
pub type Phase = u8;

impl Tool {
    /// All tools.
    pub const ALL: [Tool; 16] = [
        Tool::CreateWorkspace,
        Tool::CreateModule,
        Tool::CreateRail,
        Tool::CreateFeature,
        Tool::CreateColumn,
        Tool::CreateView,
        Tool::CreateWorkflowV2,
        Tool::InsertRow,
        Tool::InsertRows,
        Tool::UpdateRow,
        Tool::BulkUpdateRows,
        Tool::UpdateModule,
        Tool::UpdateWorkspace,
        Tool::UpdateFeature,
        Tool::UpdateColumn,
        Tool::UpdateView,
    ];

    /// The word in a plan.
    pub fn as_str(self) -> &'static str {
        match self {
            Tool::CreateWorkspace => "create_workspace",
            Tool::CreateModule => "create_module",
            Tool::CreateRail => "create_rail",
            Tool::CreateFeature => "create_feature",
            Tool::CreateColumn => "create_column",
            Tool::CreateView => "create_view",
            Tool::CreateWorkflowV2 => "create_workflow_v2",
            Tool::InsertRow => "insert_row",
            Tool::InsertRows => "insert_rows",
            Tool::UpdateRow => "update_row",
            Tool::BulkUpdateRows => "bulk_update_rows",
            Tool::UpdateModule => "update_module",
            Tool::UpdateWorkspace => "update_workspace",
            Tool::UpdateFeature => "update_feature",
            Tool::UpdateColumn => "update_column",
            Tool::UpdateView => "update_view",
        }
    }

    /// The tool of that word.
    pub fn parse(word: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.as_str() == word)
    }

    /// The shape of its `args`.
    pub fn args(self) -> &'static Shape {
        match self {
            Tool::CreateWorkspace => &format::CREATE_WORKSPACE,
            Tool::CreateModule => &format::CREATE_MODULE,
            Tool::CreateRail => &format::CREATE_RAIL,
            Tool::CreateFeature => &format::CREATE_FEATURE,
            Tool::CreateColumn => &format::CREATE_COLUMN,
            Tool::CreateView => &format::CREATE_VIEW,
            Tool::CreateWorkflowV2 => &format::CREATE_WORKFLOW_V2,
            Tool::InsertRow => &format::INSERT_ROW,
            Tool::InsertRows => &format::INSERT_ROWS,
            Tool::UpdateRow => &format::UPDATE_ROW,
            Tool::BulkUpdateRows => &format::BULK_UPDATE_ROWS,
            Tool::UpdateModule => &format::UPDATE_MODULE,
            Tool::UpdateWorkspace => &format::UPDATE_WORKSPACE,
            Tool::UpdateFeature => &format::UPDATE_FEATURE,
            Tool::UpdateColumn => &format::UPDATE_COLUMN,
            Tool::UpdateView => &format::UPDATE_VIEW,
        }
    }

    /// What a create step makes, as references name it; a workspace has no such kind.
    pub fn creates(self) -> Option<ReferenceKind> {
        match self {
            Tool::CreateModule => Some(ReferenceKind::Module),
            Tool::CreateRail => Some(ReferenceKind::Rail),
            Tool::CreateFeature => Some(ReferenceKind::Feature),
            Tool::CreateColumn => Some(ReferenceKind::Column),
            Tool::CreateView => Some(ReferenceKind::View),
            Tool::CreateWorkflowV2 => Some(ReferenceKind::WorkflowV2),
            _ => None,
        }
    }

    /// Whether its steps declare a ref.
    pub fn is_create(self) -> bool {
        self.creates().is_some() || self == Tool::CreateWorkspace
    }

    /// Whether it writes rows; its `data` and `rows` are data.
    pub fn is_row_tool(self) -> bool {
        matches!(
            self,
            Tool::InsertRow | Tool::InsertRows | Tool::UpdateRow | Tool::BulkUpdateRows
        )
    }

    /// The letter that the refs of its steps begin with.
    pub fn letter(self) -> Option<&'static str> {
        match self {
            Tool::CreateModule => Some("m"),
            Tool::CreateRail => Some("r"),
            Tool::CreateFeature => Some("f"),
            Tool::CreateColumn => Some("c"),
            Tool::CreateView => Some("v"),
            Tool::CreateWorkflowV2 | Tool::CreateWorkspace => Some("w"),
            _ => None,
        }
    }

    /// The argument of an update step that names what it updates.
    pub fn target_argument(self) -> Option<&'static str> {
        match self {
            Tool::UpdateModule => Some("moduleId"),
            Tool::UpdateWorkspace => Some("workspaceId"),
            Tool::UpdateFeature => Some("featureId"),
            Tool::UpdateColumn => Some("columnId"),
            Tool::UpdateView => Some("viewId"),
            _ => None,
        }
    }

    /// The kind of item that an update step changes; the workspace is none.
    pub fn updates_items_of(self) -> Option<&'static str> {
        match self {
            Tool::UpdateModule => Some("module"),
            Tool::UpdateFeature => Some("feature"),
            Tool::UpdateColumn => Some("column"),
            Tool::UpdateView => Some("view"),
            _ => None,
        }
    }

    /// The argument of a create step that names where it creates, unless that is the workspace.
    pub fn parent_argument(self) -> Option<&'static str> {
        match self {
            Tool::CreateColumn | Tool::CreateView => Some("featureId"),
            Tool::CreateRail => Some("moduleId"),
            _ => None,
        }
    }

    /// Its phase; row steps and `create_workspace` may be anywhere.
    pub fn phase(self) -> Option<Phase> {
        match self {
            Tool::CreateFeature => Some(1),
            Tool::CreateColumn => Some(2),
            Tool::CreateView => Some(3),
            Tool::CreateWorkflowV2 => Some(4),
            Tool::CreateModule => Some(5),
            Tool::CreateRail => Some(6),
            Tool::UpdateModule => Some(7),
            Tool::UpdateWorkspace => Some(8),
            Tool::UpdateFeature => Some(9),
            Tool::UpdateColumn => Some(10),
            Tool::UpdateView => Some(11),
            _ => None,
        }
    }
}
