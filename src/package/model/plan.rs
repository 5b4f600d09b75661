//! The plan.

use super::ModelError;
use super::fields::{self, Fields, Read};
use super::tree::{Members, Tree};
use crate::json::{Node, Object};
use crate::package::{Tool, reference};

/// The steps that create the structure. Its `planVersion` is always 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Identity of the plan.
    pub id: String,
    /// One sentence that counts what is created.
    pub summary: Option<String>,
    /// Where the plan applies.
    pub target: PlanTarget,
    /// Where the plan comes from.
    pub metadata: Metadata,
    /// Refs that are used and come from outside.
    pub external_refs: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// Where a plan applies: always the builtin `$workspace`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanTarget {
    /// Members that the format does not have.
    pub unknown: Object,
}

/// Where a plan comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// `export`, or another word for a plan written by hand.
    pub source: String,
    /// RFC 3339 instant, as written.
    pub generated_at: String,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Identity in the plan.
    pub uid: String,
    /// The tool.
    pub tool: Tool,
    /// The ref of what a create step makes.
    pub reference: Option<String>,
    /// What the tool takes.
    pub args: Object,
    /// Members that the format does not have.
    pub unknown: Object,
}

impl Plan {
    pub(super) fn read(node: Node<'_>) -> Read<Plan> {
        let mut fields = Fields::of(node)?;
        fields.required("planVersion", |version| fields::version(version, "1"))?;
        Ok(Plan {
            id: fields.required("id", fields::text)?,
            summary: fields.optional("summary", fields::text)?,
            target: fields.required("target", PlanTarget::read)?,
            metadata: fields.required("metadata", Metadata::read)?,
            external_refs: fields.required("externalRefs", fields::declarations)?,
            steps: fields.required("steps", |steps| fields::list(steps, Step::read))?,
            unknown: fields.unknown()?,
        })
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .field("planVersion", Tree::count(1))
            .text("id", &self.id)
            .optional_text("summary", self.summary.as_ref())
            .field("target", self.target.tree())
            .field("metadata", self.metadata.tree())
            .field("externalRefs", Tree::texts(&self.external_refs))
            .field("steps", Tree::list(&self.steps, Step::tree))
            .object()
    }
}

impl PlanTarget {
    fn read(node: Node<'_>) -> Read<PlanTarget> {
        let mut fields = Fields::of(node)?;
        fields.required("workspaceId", |workspace| {
            match workspace.as_str().and_then(reference::used) {
                Some(reference::WORKSPACE) => Ok(()),
                _ => Err(ModelError::wrong(workspace, "$workspace")),
            }
        })?;
        Ok(PlanTarget {
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("workspaceId", "$workspace")
            .object()
    }
}

impl Metadata {
    fn read(node: Node<'_>) -> Read<Metadata> {
        let mut fields = Fields::of(node)?;
        Ok(Metadata {
            source: fields.required("source", fields::text)?,
            generated_at: fields.required("generatedAt", fields::text)?,
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("source", &self.source)
            .text("generatedAt", &self.generated_at)
            .object()
    }
}

impl Step {
    pub(super) fn read(node: Node<'_>) -> Read<Step> {
        let mut fields = Fields::of(node)?;
        Ok(Step {
            uid: fields.required("uid", fields::text)?,
            tool: fields.required("tool", |word| {
                let tool = word.as_str().and_then(Tool::parse);
                tool.ok_or_else(|| ModelError::wrong(word, "a tool"))
            })?,
            reference: fields.optional("ref", fields::declaration)?,
            args: fields.required("args", fields::map)?,
            unknown: fields.unknown()?,
        })
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("uid", &self.uid)
            .field("tool", Tree::Text(self.tool.as_str()))
            .optional_text("ref", self.reference.as_ref())
            .field("args", Tree::Map(&self.args))
            .object()
    }
}
