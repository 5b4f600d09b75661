//! What the format and the definitions say of a place in a package.
//!
//! The format's own tables say what stands where down to a config; from there the one walk over
//! configs knows, whose results are in the facts.

use super::Package;
use crate::check::facts::{StepConfigFault, StepConfigSpot, StepPlace};
use crate::definitions::{Field, FieldType, Reference};
use crate::json::Node;
use crate::package::Tool;
use crate::package::format::{self, ENVELOPE, GRAPH_STEP, MANIFEST, Shape, Type};

/// A value that the format declares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declared {
    /// What it is.
    pub(super) ty: Type,
    /// The field that it is in, or in whose list.
    pub(super) field: &'static format::Field,
    /// The object that has the field.
    pub(super) shape: &'static Shape,
}

impl Declared {
    /// Whether it is that field of that object.
    pub(super) fn is(&self, shape: &'static Shape, key: &str) -> bool {
        std::ptr::eq(self.shape, shape) && self.field.key == key
    }
}

impl<'d> Package<'d> {
    /// What the format says of a value.
    pub(super) fn declared(&self, node: Node<'d>) -> Option<Declared> {
        let parent = node.parent()?;
        if let Some(key) = node.key() {
            if let Some(Declared {
                ty: Type::MapOf(shape),
                field,
                shape: owner,
            }) = self.declared(parent)
            {
                return Some(Declared {
                    ty: Type::Object(shape),
                    field,
                    shape: owner,
                });
            }
            let shape = self.shape(parent)?;
            let field = shape.field(key)?;
            return Some(Declared {
                ty: field.ty,
                field,
                shape,
            });
        }
        match self.declared(parent)? {
            Declared {
                ty: Type::List(element),
                field,
                shape,
            } => Some(Declared {
                ty: *element,
                field,
                shape,
            }),
            _ => None,
        }
    }

    /// The fields that the format gives an object.
    pub(super) fn shape(&self, node: Node<'d>) -> Option<&'static Shape> {
        let Some(parent) = node.parent() else {
            return Some(if self.facts.enveloped {
                &ENVELOPE
            } else {
                &MANIFEST
            });
        };
        if let Some(declared) = self.declared(node) {
            return match declared.ty {
                Type::Object(shape) => Some(shape),
                Type::Args => Some(Tool::parse(parent.get_str("tool")?)?.args()),
                _ => None,
            };
        }
        self.is_nested_step(node).then_some(&GRAPH_STEP)
    }

    /// Whether a value is an automation step in a branch of another.
    fn is_nested_step(&self, node: Node<'d>) -> bool {
        let list = node.parent().filter(|parent| parent.is_array());
        let config = list.and_then(Node::parent);
        let owner = config.and_then(Node::parent);
        let declared = owner
            .and_then(|step| step.get_str("key"))
            .and_then(|key| self.facts.definitions.steps.get(key));
        let field = list
            .and_then(Node::key)
            .and_then(|key| declared?.config.get(key));
        field.is_some_and(|field| field.kind == FieldType::Steps)
            && config.and_then(Node::key) == Some("config")
    }

    /// Whether a value is a step of an automation.
    pub(super) fn is_graph_step(&self, node: Node<'d>) -> bool {
        let shape = self.shape(node);
        shape.is_some_and(|shape| std::ptr::eq(shape, &raw const GRAPH_STEP))
    }

    /// What the definitions say of a value in a config.
    pub(super) fn spot(&self, node: Node<'d>) -> Option<&StepConfigSpot<'d>> {
        self.facts.spots.iter().find(|spot| spot.node == node)
    }

    /// The field of the definitions that a value in a config is of, of the right type or not.
    pub(super) fn field(&self, node: Node<'d>) -> Option<&'d Field> {
        let wrong = |fault: &StepConfigFault<'d>| match fault {
            StepConfigFault::Wrong {
                node: wrong, field, ..
            } if *wrong == node => Some(*field),
            _ => None,
        };
        let spot = self.spot(node).map(|spot| spot.spot.field);
        spot.or_else(|| self.facts.config_faults.iter().find_map(wrong))
    }

    /// The reference that a config value is, and the table that a column must be of.
    pub(super) fn reference(&self, node: Node<'d>) -> Option<(&'d Reference, Option<&'d str>)> {
        let spot = self.spot(node)?;
        let reference = spot.spot.reference?;
        let table = match reference.of.as_deref() {
            None | Some("$envelope") => None,
            Some("$feature") => self.owner(spot.step),
            Some(sibling) => spot
                .named_by(sibling)
                .and_then(Node::as_str)
                .and_then(|text| text.strip_prefix('$')),
        };
        Some((reference, table))
    }

    fn owner(&self, place: StepPlace) -> Option<&'d str> {
        self.facts.owner_table(self.facts.step_at(place)?)
    }

    /// The keys that may stand next to a member that is not declared.
    pub(super) fn known_keys(&self, member: Node<'d>) -> Option<&[(&'d str, &'d Field)]> {
        self.facts
            .config_faults
            .iter()
            .find_map(|fault| match fault {
                StepConfigFault::UnknownKey {
                    member: unknown,
                    known,
                } if *unknown == member => Some(known.as_slice()),
                _ => None,
            })
    }
}
