//! The manifest: catalog identity, the layers of version 2, and the plan.

use super::fields::{self, Fields, Read};
use super::tree::{Members, Tree};
use super::{
    DataClass, Dependency, ItemKind, ModelError, Plan, Redacted, Scope, Unresolved, Visibility,
};
use crate::json::{Node, Object};

/// What a package holds and how it is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The JSON Schema that an editor validates the file with.
    pub schema: Option<String>,
    /// What the publisher wrote.
    pub catalog: Catalog,
    /// What the exporter wrote, by version of the format.
    pub contents: Contents,
    /// The steps that create the structure.
    pub plan: Plan,
    /// Members that the format (or this version of it) does not have.
    pub unknown: Object,
}

/// Catalog identity: all of it is optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalog {
    /// Identity in the publisher's catalog.
    pub id: Option<String>,
    /// Technical name.
    pub name: Option<String>,
    /// Name shown.
    pub label: Option<String>,
    /// What the template is for.
    pub description: Option<String>,
    /// Icon.
    pub icon: Option<String>,
    /// Colour.
    pub color: Option<String>,
    /// Words of the field that the template uses.
    pub vocabulary: Option<Object>,
    /// Category.
    pub category: Option<String>,
    /// How much the template holds.
    pub scope: Option<Scope>,
    /// What the template asks for.
    pub variables: Option<Vec<Variable>>,
    /// Building blocks of the catalog page.
    pub blocks: Option<Vec<Object>>,
    /// Words to find it by.
    pub tags: Option<Vec<String>>,
    /// Semantic version of the template; one of the wrong type stays among the unknown members.
    pub semver: Option<String>,
    /// Who sees it.
    pub visibility: Option<Visibility>,
}

/// Something that a template asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its key, unique in the list.
    pub key: String,
    /// Its question.
    pub label: String,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// `templateVersion`, with the layers that it brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// The first version has the plan alone.
    Version1,
    /// The second says what travels, what is needed and what was left behind.
    Version2(Layers),
}

/// The layers of version 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layers {
    /// Where the package was exported from.
    pub source: Source,
    /// What travels.
    pub items: Vec<Item>,
    /// What is used and does not travel.
    pub dependencies: Vec<Dependency>,
    /// What could not be carried over.
    pub unresolved: Vec<Unresolved>,
    /// Secrets that were cleared.
    pub redacted: Vec<Redacted>,
}

/// Where a package comes from: exactly three fields, none of them an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Name of the workspace.
    pub workspace_name: String,
    /// RFC 3339 instant, as written.
    pub generated_at: String,
    /// Version of the definitions used.
    pub definitions_version: String,
}

/// Something that travels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Identity in the package.
    pub uid: String,
    /// What it is.
    pub kind: ItemKind,
    /// The ref that its plan step declares; not for rows.
    pub reference: Option<String>,
    /// Its label at the source.
    pub label: String,
    /// uid of the item of its table or module.
    pub parent: Option<String>,
    /// Rows only: how many travel.
    pub count: Option<u64>,
    /// Rows only: whether other tables link to them. Any other word counts as not `reference` and
    /// stays among the unknown members.
    pub data_class: Option<DataClass>,
    /// Automations only: ids of all steps of the graph.
    pub step_ids: Option<Vec<String>>,
    /// Members that the format does not have.
    pub unknown: Object,
}

impl Manifest {
    /// The layers, when the version has them.
    pub fn layers(&self) -> Option<&Layers> {
        match &self.contents {
            Contents::Version1 => None,
            Contents::Version2(layers) => Some(layers),
        }
    }

    /// What travels; nothing is listed in version 1.
    pub fn items(&self) -> &[Item] {
        self.layers().map_or(&[], |layers| &layers.items)
    }

    /// What is used and does not travel; nothing is listed in version 1.
    pub fn dependencies(&self) -> &[Dependency] {
        self.layers().map_or(&[], |layers| &layers.dependencies)
    }

    /// Reads a manifest alone, whatever is around it.
    pub fn read(node: Node<'_>) -> Read<Manifest> {
        let mut fields = Fields::of(node)?;
        let schema = fields.optional("$schema", fields::text)?;
        let catalog = Catalog::read(&mut fields)?;
        let second = fields.required("templateVersion", |version| {
            let second = fields::version(version, "2").is_ok();
            let known = if second {
                Ok(())
            } else {
                fields::version(version, "1")
            };
            known
                .map_err(|_| ModelError::wrong(version, "1 or 2"))
                .map(|()| second)
        })?;
        let contents = if second {
            Contents::Version2(Layers::read(&mut fields)?)
        } else {
            Contents::Version1
        };
        Ok(Manifest {
            schema,
            catalog,
            contents,
            plan: fields.required("plan", Plan::read)?,
            unknown: fields.unknown()?,
        })
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        let members = Members::with(&self.unknown).optional_text("$schema", self.schema.as_ref());
        let members = self.catalog.add(members);
        let members = match &self.contents {
            Contents::Version1 => members.field("templateVersion", Tree::count(1)),
            Contents::Version2(layers) => {
                layers.add(members.field("templateVersion", Tree::count(2)))
            }
        };
        members.field("plan", self.plan.tree()).object()
    }
}

impl Catalog {
    /// Takes over from another what this one does not say.
    pub(crate) fn complete(&mut self, other: &Catalog) {
        fn or<T: Clone>(own: &mut Option<T>, other: Option<&T>) {
            if own.is_none() {
                *own = other.cloned();
            }
        }
        or(&mut self.id, other.id.as_ref());
        or(&mut self.name, other.name.as_ref());
        or(&mut self.label, other.label.as_ref());
        or(&mut self.description, other.description.as_ref());
        or(&mut self.icon, other.icon.as_ref());
        or(&mut self.color, other.color.as_ref());
        or(&mut self.vocabulary, other.vocabulary.as_ref());
        or(&mut self.category, other.category.as_ref());
        or(&mut self.scope, other.scope.as_ref());
        or(&mut self.variables, other.variables.as_ref());
        or(&mut self.blocks, other.blocks.as_ref());
        or(&mut self.tags, other.tags.as_ref());
        or(&mut self.semver, other.semver.as_ref());
        or(&mut self.visibility, other.visibility.as_ref());
    }

    fn read(fields: &mut Fields<'_>) -> Read<Catalog> {
        Ok(Catalog {
            id: fields.optional("id", fields::text)?,
            name: fields.optional("name", fields::text)?,
            label: fields.optional("label", fields::text)?,
            description: fields.optional("description", fields::text)?,
            icon: fields.optional("icon", fields::text)?,
            color: fields.optional("color", fields::text)?,
            vocabulary: fields.optional("vocabulary", fields::map)?,
            category: fields.optional("category", fields::text)?,
            scope: fields.optional("scope", fields::word)?,
            variables: fields.optional("variables", |list| fields::list(list, Variable::read))?,
            blocks: fields.optional("blocks", |list| fields::list(list, fields::map))?,
            tags: fields.optional("tags", fields::texts)?,
            semver: fields.tolerated("semver", fields::text),
            visibility: fields.optional("visibility", fields::word)?,
        })
    }

    fn add<'m>(&'m self, members: Members<'m>) -> Members<'m> {
        members
            .optional_text("id", self.id.as_ref())
            .optional_text("name", self.name.as_ref())
            .optional_text("label", self.label.as_ref())
            .optional_text("description", self.description.as_ref())
            .optional_text("icon", self.icon.as_ref())
            .optional_text("color", self.color.as_ref())
            .optional("vocabulary", self.vocabulary.as_ref(), Tree::Map)
            .optional_text("category", self.category.as_ref())
            .optional("scope", self.scope, Tree::word)
            .optional("variables", self.variables.as_deref(), |list| {
                Tree::list(list, Variable::tree)
            })
            .optional("blocks", self.blocks.as_deref(), |list| {
                Tree::list(list, Tree::Map)
            })
            .optional("tags", self.tags.as_deref(), Tree::texts)
            .optional_text("semver", self.semver.as_ref())
            .optional("visibility", self.visibility, Tree::word)
    }
}

impl Variable {
    fn read(node: Node<'_>) -> Read<Variable> {
        let mut fields = Fields::of(node)?;
        Ok(Variable {
            key: fields.required("key", fields::text)?,
            label: fields.required("label", fields::text)?,
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("key", &self.key)
            .text("label", &self.label)
            .object()
    }
}

impl Layers {
    fn read(fields: &mut Fields<'_>) -> Read<Layers> {
        Ok(Layers {
            source: fields.required("source", Source::read)?,
            items: fields.required("items", |list| fields::list(list, Item::read))?,
            dependencies: fields
                .required("dependencies", |list| fields::list(list, Dependency::read))?,
            unresolved: fields
                .required("unresolved", |list| fields::list(list, Unresolved::read))?,
            redacted: fields.required("redacted", |list| fields::list(list, Redacted::read))?,
        })
    }

    fn add<'m>(&'m self, members: Members<'m>) -> Members<'m> {
        members
            .field("source", self.source.tree())
            .field("items", Tree::list(&self.items, Item::tree))
            .field(
                "dependencies",
                Tree::list(&self.dependencies, Dependency::tree),
            )
            .field("unresolved", Tree::list(&self.unresolved, Unresolved::tree))
            .field("redacted", Tree::list(&self.redacted, Redacted::tree))
    }
}

impl Source {
    fn read(node: Node<'_>) -> Read<Source> {
        let mut fields = Fields::of(node)?;
        let source = Source {
            workspace_name: fields.required("workspaceName", fields::text)?,
            generated_at: fields.required("generatedAt", fields::text)?,
            definitions_version: fields.required("definitionsVersion", fields::text)?,
        };
        match fields.unknown()?.keys().next() {
            Some(key) => Err(ModelError::at(node, format!("`source` has no `{key}`"))),
            None => Ok(source),
        }
    }

    fn tree(&self) -> Tree<'_> {
        Tree::Object(vec![
            ("workspaceName", Tree::Text(&self.workspace_name)),
            ("generatedAt", Tree::Text(&self.generated_at)),
            ("definitionsVersion", Tree::Text(&self.definitions_version)),
        ])
    }
}

impl Item {
    fn read(node: Node<'_>) -> Read<Item> {
        let mut fields = Fields::of(node)?;
        Ok(Item {
            uid: fields.required("uid", fields::text)?,
            kind: fields.required("kind", fields::word)?,
            reference: fields.optional("ref", fields::declaration)?,
            label: fields.required("label", fields::text)?,
            parent: fields.optional("parent", fields::text)?,
            count: fields.optional("count", fields::count)?,
            data_class: fields.tolerated("dataClass", fields::word),
            step_ids: fields.optional("stepIds", fields::texts)?,
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("uid", &self.uid)
            .field("kind", Tree::word(self.kind))
            .optional_text("ref", self.reference.as_ref())
            .text("label", &self.label)
            .optional_text("parent", self.parent.as_ref())
            .optional("count", self.count, Tree::count)
            .optional("dataClass", self.data_class, Tree::word)
            .optional("stepIds", self.step_ids.as_deref(), Tree::texts)
            .object()
    }
}
