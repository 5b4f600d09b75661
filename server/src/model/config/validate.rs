//! Validates one config against its declarations, and collects its references.

use tplkit::definitions::{ConfigFault, DeclaredValue, Field, ReferenceKind, Visitor, walk_listed};
use tplkit::json::Node;

use crate::refusal::Fault;

/// Something that a config names.
#[derive(Debug)]
pub(super) struct Reference {
    /// Where.
    pub(super) path: String,
    /// What it has to be.
    pub(super) kind: ReferenceKind,
    /// The text that is there.
    pub(super) text: String,
    /// For a column: its table.
    pub(super) table: ReferencedTable,
    /// Whether it stands on its own, and not among others in a list.
    single: bool,
}

/// The table of a column that is named.
#[derive(Debug)]
pub(super) enum ReferencedTable {
    /// The one that the record belongs to or is.
    Own,
    /// The one that another field names, as it is there.
    Named(String),
    /// Unknown until something runs.
    Unknown,
}

/// Collects what the walk reports.
#[derive(Debug, Default)]
pub(super) struct ConfigValidator {
    pub(super) faults: Vec<Fault>,
    pub(super) references: Vec<Reference>,
    path: String,
}

impl ConfigValidator {
    /// Checks an object that is at that path of the body.
    pub(super) fn object(
        &mut self,
        object: Node<'_>,
        path: String,
        fields: &[(&'static str, &'static Field)],
    ) {
        self.path = path;
        let mut at = ConfigVisitor {
            validator: self,
            root: object,
        };
        walk_listed(object, fields, &mut at);
    }

    /// The columns of the own table that stand on their own: those that rows are asked for by.
    pub(super) fn own_columns(&self) -> Vec<String> {
        let own = self.references.iter().filter(|reference| {
            reference.single
                && reference.kind == ReferenceKind::Column
                && matches!(reference.table, ReferencedTable::Own)
        });
        own.map(|reference| reference.text.clone()).collect()
    }
}

struct ConfigVisitor<'j, 'd> {
    validator: &'j mut ConfigValidator,
    root: Node<'d>,
}

impl ConfigVisitor<'_, '_> {
    fn path(&self, node: Node<'_>, key: Option<&str>) -> String {
        let mut tokens = Vec::new();
        let mut current = node;
        while current.span() != self.root.span() {
            tokens.push(match current.key() {
                Some(key) => format!(".{key}"),
                None => format!("[{}]", current.index()),
            });
            let Some(parent) = current.parent() else {
                break;
            };
            current = parent;
        }
        tokens.reverse();
        let key = key.map(|key| format!(".{key}")).unwrap_or_default();
        format!("{}{}{key}", self.validator.path, tokens.concat())
    }
}

impl<'d, 'f> Visitor<'d, 'f> for ConfigVisitor<'_, 'd> {
    fn field(&mut self, spot: DeclaredValue<'d, 'f>) {
        let (Some(reference), Some(text)) = (spot.reference(), spot.node.as_str()) else {
            return;
        };
        let table = match reference.of.as_deref() {
            Some("$feature") => ReferencedTable::Own,
            Some("$envelope") | None => ReferencedTable::Unknown,
            Some(of) => {
                let mut around = std::iter::successors(Some(spot.owner), |node| node.parent());
                let named = around.find_map(|node| node.get_str(of));
                named.map_or(ReferencedTable::Unknown, |named| {
                    ReferencedTable::Named(named.to_owned())
                })
            }
        };
        self.validator.references.push(Reference {
            path: self.path(spot.node, None),
            kind: reference.kind,
            text: text.to_owned(),
            table,
            single: spot.node.key().is_some(),
        });
    }

    fn fault(&mut self, fault: ConfigFault<'d, 'f>) {
        let fault = match fault {
            ConfigFault::UnknownKey { member, known } => {
                let known = if known.is_empty() {
                    "nothing".to_owned()
                } else {
                    let known = known.iter().map(|(name, _)| *name);
                    known.collect::<Vec<_>>().join(", ")
                };
                Fault::new(
                    self.path(member, None),
                    format!("is not a key of this config, which knows {known}"),
                )
            }
            ConfigFault::Missing { object, key, .. } => {
                Fault::new(self.path(object, Some(key)), "is required")
            }
            ConfigFault::Wrong { spot } => Fault::new(
                self.path(spot.node, None),
                format!("has to be {}", spot.field.expected()),
            ),
        };
        self.validator.faults.push(fault);
    }

    fn steps(&mut self, _: DeclaredValue<'d, 'f>) {
        // Steps are in automations, which are checked by their own validator.
    }
}
