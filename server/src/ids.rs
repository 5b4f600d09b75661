//! Ids: as text, and those that belong together.

use uuid::Uuid;

/// An id in its one written form, in either case.
pub fn uuid(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok())?
}

/// A workspace, with its organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkspaceKey {
    /// Whose it is.
    pub organization: Uuid,
    /// The workspace.
    pub workspace: Uuid,
}

/// A table, with where it lies. None of the three changes as long as the table is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableKey {
    /// Whose it is.
    pub organization: Uuid,
    /// The workspace that it lies in.
    pub workspace: Uuid,
    /// The table.
    pub feature: Uuid,
}

/// A feature, with the workspace that it lies in. Keys sort by workspace first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeatureKey {
    /// The workspace that it lies in.
    pub workspace: Uuid,
    /// The feature.
    pub feature: Uuid,
}

/// An automation, with its organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkflowKey {
    /// Whose it is.
    pub organization: Uuid,
    /// The automation.
    pub workflow: Uuid,
}

/// A template in a workspace that it is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateKey {
    /// Whose the workspace is.
    pub organization: Uuid,
    /// The workspace.
    pub workspace: Uuid,
    /// The template.
    pub template: Uuid,
}

/// A template job, with its organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobKey {
    /// Whose it is.
    pub organization: Uuid,
    /// The job.
    pub job: Uuid,
}

/// What a new record gets: its id, and when it is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The id.
    pub id: Uuid,
    /// In microseconds.
    pub now: i64,
}
