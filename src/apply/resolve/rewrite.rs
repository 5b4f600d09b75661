//! Rewrites args for the destination: every ref becomes an id.
//!
//! Declared fields come from the one walk over configs; a ref may also be any other whole string,
//! or the key of a member.

use std::collections::{HashMap, HashSet};

use super::absent_names::marked;
use super::bindings::{Binding, Bindings, Cause};
use crate::definitions::{ConfigFault, Definitions, Form, Reference, ReferenceKind};
use crate::json::{JsonKind as Json, Node, Object, Value};
use crate::package::Tool;
use crate::package::configs::{
    ConfigSpot, ConfigVisitor, Declared, Edit, Edits, walk_args, with_sorted_args,
};
use crate::package::model::UnresolvedForm;
use crate::package::reference::{WORKSPACE, used};
use crate::workspace::RecordKind;

/// Args without refs, with what was noticed on the way.
#[derive(Debug, Default)]
pub(super) struct Rewritten<'p> {
    pub(super) args: Object,
    /// Paths of config keys that the definitions do not have.
    pub(super) dropped: Vec<String>,
    /// Fields that became empty.
    pub(super) emptied: Vec<EmptiedField<'p>>,
    /// Whether something is named that this job creates now, and that was never there.
    pub(super) names_new: bool,
    /// The refs in fields that are declared to name a table, and a column of it.
    pub(super) link: Link,
}

/// A field that became empty.
#[derive(Debug)]
pub(super) struct EmptiedField<'p> {
    pub(super) path: String,
    pub(super) kind: ReferenceKind,
    pub(super) form: UnresolvedForm,
    pub(super) cause: Cause<'p>,
}

/// What a link column points at, in refs of the package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) table: Option<String>,
    pub(super) value: Option<String>,
}

/// Rewrites the args of a step.
pub(super) fn rewrite<'p>(
    tool: Tool,
    args: &Object,
    declared: Declared<'_>,
    bindings: &Bindings<'p>,
    definitions: &Definitions,
) -> Rewritten<'p> {
    let looked = with_sorted_args(args, |root| {
        let mut found = Declarations::default();
        walk_args(definitions, tool, root, declared, &mut found);
        let mut rewriter = Rewriter {
            root,
            target: tool.target_argument(),
            rewritten: Rewritten {
                link: std::mem::take(&mut found.link),
                ..Rewritten::default()
            },
            found,
            bindings,
            edits: Edits::default(),
        };
        rewriter.inside(root);
        (rewriter.edits, rewriter.rewritten)
    });
    // Args that were read from a document are nested no deeper than one may be.
    let (edits, mut rewritten) = looked.unwrap_or_default();
    // As in a package in canonical form, which servers keep: the trigger first.
    let is_in_graph = |path: &str| path.starts_with("graphConfig");
    rewritten
        .emptied
        .sort_by_key(|emptied| is_in_graph(&emptied.path));
    rewritten.dropped.sort_by_key(|path| is_in_graph(path));
    rewritten.args.clone_from(args);
    edits.apply(&mut rewritten.args);
    rewritten
}

/// Declared references and undeclared keys, by where they begin in the text.
#[derive(Default)]
struct Declarations<'f> {
    references: HashMap<usize, &'f Reference>,
    unknown: HashSet<usize>,
    link: Link,
}

impl<'d, 'f> ConfigVisitor<'d, 'f> for Declarations<'f> {
    fn spot(&mut self, spot: ConfigSpot<'d, 'f>) {
        let Some(reference) = spot.reference else {
            return;
        };
        self.references.insert(spot.node.span().start, reference);
        let named = spot.node.as_str().and_then(used).map(str::to_owned);
        match reference.kind {
            ReferenceKind::Feature => self.link.table = named.or(self.link.table.take()),
            ReferenceKind::Column => self.link.value = named.or(self.link.value.take()),
            _ => {}
        }
    }

    fn fault(&mut self, fault: ConfigFault<'d, 'f>, _automation: bool) {
        match fault {
            ConfigFault::UnknownKey { member, .. } => {
                self.unknown.insert(member.span().start);
            }
            // Reported as a reference all the same: an empty one may be of another type.
            ConfigFault::Wrong { spot } => {
                if let Some(reference) = spot.reference() {
                    self.references.insert(spot.node.span().start, reference);
                }
            }
            ConfigFault::Missing { .. } => {}
        }
    }
}

struct Rewriter<'d, 'f, 'm, 'p> {
    root: Node<'d>,
    /// The argument that names what the step changes: no part of the config.
    target: Option<&'static str>,
    found: Declarations<'f>,
    bindings: &'m Bindings<'p>,
    edits: Edits,
    rewritten: Rewritten<'p>,
}

impl<'d, 'p> Rewriter<'d, '_, '_, 'p> {
    /// Front to back, as the edits want it.
    fn inside(&mut self, node: Node<'d>) {
        for child in node.children() {
            let own_target = child.parent() == Some(self.root) && child.key() == self.target;
            if own_target && self.target.is_some() {
                continue;
            }
            if self.found.unknown.contains(&child.span().start) {
                let path = self.edits.at(self.root, child, Edit::Remove);
                self.rewritten.dropped.push(path);
                continue;
            }
            if self.key(child) {
                match child.kind() {
                    Json::String(text) => self.text(child, text),
                    _ => self.inside(child),
                }
            }
        }
    }

    /// Rewrites the key of a member; false when the member goes.
    fn key(&mut self, member: Node<'d>) -> bool {
        let Some(reference) = member.key().and_then(used) else {
            return true;
        };
        match self.binding(reference) {
            Ok(text) => {
                self.edits.at(self.root, member, Edit::Rename(text));
                true
            }
            Err(cause) => {
                let (kind, form) = self.named(reference, None);
                let path = self.edits.at(self.root, member, Edit::Remove);
                self.empty(path, kind, form, cause);
                false
            }
        }
    }

    fn text(&mut self, node: Node<'d>, text: &str) {
        let declaration = self.found.references.get(&node.span().start).copied();
        let (text, kind, form) = if let Some(reference) = used(text) {
            let (kind, form) = self.named(reference, declaration);
            (self.binding(reference), kind, form)
        } else {
            // A field for names holds the name of a dependency as it is.
            let Some(declaration) = declaration else {
                return;
            };
            let named = self.bindings.of_name(declaration.kind, text);
            let replaced = match named {
                Some(Binding::Name(name)) if name != text => Ok(name.clone()),
                Some(Binding::Nothing(cause)) => Err(*cause),
                _ => return,
            };
            (replaced, declaration.kind, form_of(declaration.form))
        };
        match text {
            Ok(text) => drop(self.edits.at(self.root, node, Edit::Set(text.into()))),
            Err(cause) => {
                let path = self.edits.at(self.root, node, Edit::Set("".into()));
                self.empty(path, kind, form, cause);
            }
        }
    }

    /// What is written in place of a ref.
    fn binding(&mut self, reference: &str) -> Result<String, Cause<'p>> {
        match self.bindings.of(reference) {
            Binding::Record(record) => {
                let new = record.fresh && !record.anew;
                self.rewritten.names_new |= new && reference != WORKSPACE;
                let text = match record.kind {
                    // Configs name columns: rows are keyed by these names.
                    RecordKind::Column => record.name.clone(),
                    _ => record.id.to_string(),
                };
                Ok(if record.gone {
                    marked(reference, &text)
                } else {
                    text
                })
            }
            Binding::Outside(id) => Ok(id.to_string()),
            Binding::Name(name) => Ok(name.clone()),
            Binding::Nothing(cause) => Err(*cause),
        }
    }

    /// What a field names, for the report: its declaration says so, else the ref.
    fn named(
        &self,
        reference: &str,
        declaration: Option<&Reference>,
    ) -> (ReferenceKind, UnresolvedForm) {
        match declaration {
            Some(declaration) => (declaration.kind, form_of(declaration.form)),
            None => self.bindings.declared(reference),
        }
    }

    fn empty(&mut self, path: String, kind: ReferenceKind, form: UnresolvedForm, cause: Cause<'p>) {
        self.rewritten.emptied.push(EmptiedField {
            path,
            kind,
            form,
            cause,
        });
    }
}

fn form_of(form: Form) -> UnresolvedForm {
    match form {
        Form::Uuid => UnresolvedForm::Uuid,
        Form::Name => UnresolvedForm::Name,
        Form::UuidOrName => UnresolvedForm::UuidOrName,
    }
}

/// The one object of a list, or an object itself.
pub(super) fn object_of(config: Option<&Value>) -> Object {
    match config {
        Some(Value::Object(object)) => object.clone(),
        Some(Value::List(list)) => object_of(list.first()),
        _ => Object::new(),
    }
}

/// The objects of a list.
pub(super) fn objects_of(config: Option<&Value>) -> Vec<Object> {
    match config {
        Some(Value::List(list)) => list.iter().map(|one| object_of(Some(one))).collect(),
        Some(object @ Value::Object(_)) => vec![object_of(Some(object))],
        _ => Vec::new(),
    }
}
