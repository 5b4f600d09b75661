//! What a package uses and does not carry.

use super::fields::{self, Fields, Read};
use super::tree::{Members, Tree};
use super::{DependencyForm, ModelError, Proposal, Step};
use crate::definitions::ReferenceKind;
use crate::json::{Node, Object};
use crate::package::format::DEPENDENCY_KINDS;

/// An entity that the package uses and does not carry. Its `detail` follows from the blueprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// Identity in the package.
    pub uid: String,
    /// What it is: never a column, a file, a mailbox or a person.
    pub kind: ReferenceKind,
    /// The ref that stands for it.
    pub reference: String,
    /// How configs name it.
    pub form: DependencyForm,
    /// False only when every use is optional and has a default.
    pub required: bool,
    /// What the exporter proposes.
    pub proposal: Proposal,
    /// What it is used for.
    pub description: String,
    /// How it is recognised at the destination.
    pub identity: Identity,
    /// Every use.
    pub used_by: Vec<UsedBy>,
    /// Tables only: how to create a minimal one.
    pub blueprint: Option<Blueprint>,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// How a dependency is recognised at the destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Technical name.
    pub name: String,
    /// Label.
    pub label: Option<String>,
    /// Tables only: the columns that are used.
    pub columns: Option<Vec<IdentityColumn>>,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// A used column of a table that does not travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityColumn {
    /// Identity in the package.
    pub uid: String,
    /// The ref that stands for it.
    pub reference: String,
    /// Technical name.
    pub name: String,
    /// Label.
    pub label: String,
    /// Column type.
    pub column_type: String,
    /// Component.
    pub default_component: String,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// One use of a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedBy {
    /// uid of the item that uses it.
    pub uid: String,
    /// uid of the dependency.
    pub targets: String,
    /// Dotted path inside the args of the item's step.
    pub path: String,
    /// What the field is for.
    pub reason: String,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// Steps that create a minimal table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blueprint {
    /// One `create_feature`, then one `create_column` per identity column.
    pub steps: Vec<Step>,
    /// Members that the format does not have.
    pub unknown: Object,
}

impl Dependency {
    pub(super) fn read(node: Node<'_>) -> Read<Dependency> {
        let mut fields = Fields::of(node)?;
        let blueprint = fields.optional("blueprint", Blueprint::read)?;
        // The two must agree; a reader does not repair the one by the other.
        let expected = if blueprint.is_some() {
            "blueprint"
        } else {
            "identity"
        };
        fields.required("detail", |detail| match detail.as_str() {
            Some(word) if word == expected => Ok(()),
            _ => Err(ModelError::wrong(detail, expected)),
        })?;
        Ok(Dependency {
            uid: fields.required("uid", fields::text)?,
            kind: fields.required("kind", read_kind)?,
            reference: fields.required("ref", fields::declaration)?,
            form: fields.required("form", fields::word)?,
            required: fields.required("required", fields::flag)?,
            proposal: fields.required("resolution", fields::word)?,
            description: fields.required("description", fields::text)?,
            identity: fields.required("identity", Identity::read)?,
            used_by: fields.required("usedBy", |uses| fields::list(uses, UsedBy::read))?,
            blueprint,
            unknown: fields.unknown()?,
        })
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        let detail = if self.blueprint.is_some() {
            "blueprint"
        } else {
            "identity"
        };
        Members::with(&self.unknown)
            .text("uid", &self.uid)
            .text("kind", self.kind.as_str())
            .text("ref", &self.reference)
            .field("form", Tree::word(self.form))
            .field("required", Tree::flag(self.required))
            .field("resolution", Tree::word(self.proposal))
            .text("detail", detail)
            .text("description", &self.description)
            .field("identity", self.identity.tree())
            .field("usedBy", Tree::list(&self.used_by, UsedBy::tree))
            .optional("blueprint", self.blueprint.as_ref(), Blueprint::tree)
            .object()
    }
}

fn read_kind(node: Node<'_>) -> Read<ReferenceKind> {
    let known = node.as_str().filter(|word| DEPENDENCY_KINDS.contains(word));
    known
        .and_then(ReferenceKind::parse)
        .ok_or_else(|| ModelError::wrong(node, "a kind of dependency"))
}

impl Identity {
    fn read(node: Node<'_>) -> Read<Identity> {
        let mut fields = Fields::of(node)?;
        Ok(Identity {
            name: fields.required("name", fields::text)?,
            label: fields.optional("label", fields::text)?,
            columns: fields.optional("columns", |columns| {
                fields::list(columns, IdentityColumn::read)
            })?,
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        let columns = self.columns.as_deref();
        Members::with(&self.unknown)
            .text("name", &self.name)
            .optional_text("label", self.label.as_ref())
            .optional("columns", columns, |columns| {
                Tree::list(columns, IdentityColumn::tree)
            })
            .object()
    }
}

impl IdentityColumn {
    fn read(node: Node<'_>) -> Read<IdentityColumn> {
        let mut fields = Fields::of(node)?;
        Ok(IdentityColumn {
            uid: fields.required("uid", fields::text)?,
            reference: fields.required("ref", fields::declaration)?,
            name: fields.required("name", fields::text)?,
            label: fields.required("label", fields::text)?,
            column_type: fields.required("type", fields::text)?,
            default_component: fields.required("defaultComponent", fields::text)?,
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("uid", &self.uid)
            .text("ref", &self.reference)
            .text("name", &self.name)
            .text("label", &self.label)
            .text("type", &self.column_type)
            .text("defaultComponent", &self.default_component)
            .object()
    }
}

impl UsedBy {
    fn read(node: Node<'_>) -> Read<UsedBy> {
        let mut fields = Fields::of(node)?;
        Ok(UsedBy {
            uid: fields.required("uid", fields::text)?,
            targets: fields.required("targets", fields::text)?,
            path: fields.required("path", fields::text)?,
            reason: fields.required("reason", fields::text)?,
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("uid", &self.uid)
            .text("targets", &self.targets)
            .text("path", &self.path)
            .text("reason", &self.reason)
            .object()
    }
}

impl Blueprint {
    fn read(node: Node<'_>) -> Read<Blueprint> {
        let mut fields = Fields::of(node)?;
        Ok(Blueprint {
            steps: fields.required("steps", |steps| fields::list(steps, Step::read))?,
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .field("steps", Tree::list(&self.steps, Step::tree))
            .object()
    }
}
