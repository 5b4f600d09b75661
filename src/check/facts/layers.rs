//! Items, dependencies and unresolved entries, without unreadable values.

use super::{ExternalRef, Facts};
use crate::definitions::ReferenceKind;
use crate::json::Node;
use crate::package::format::ITEM_KINDS;
use crate::package::reference::undollared;

/// One entry of `items`.
#[derive(Debug, Clone)]
pub struct Item<'d> {
    /// The entry.
    pub node: Node<'d>,
    /// Its uid, `""` when it has none.
    pub uid: &'d str,
    /// Its kind when it is one of the seven.
    pub kind: Option<&'d str>,
    /// Its ref without dollar; `None` for rows.
    pub reference: Option<&'d str>,
    /// The uid that `parent` holds.
    pub parent: Option<&'d str>,
}

impl Item<'_> {
    /// Whether it stands for rows.
    pub fn is_rows(&self) -> bool {
        self.kind == Some("rows")
    }

    /// The kind of thing that it is created as.
    pub fn created_kind(&self) -> Option<ReferenceKind> {
        match self.kind? {
            "workflow" => Some(ReferenceKind::WorkflowV2),
            "rows" => None,
            other => ReferenceKind::parse(other),
        }
    }
}

/// One entry of `dependencies`.
#[derive(Debug, Clone)]
pub struct Dependency<'d> {
    /// The entry.
    pub node: Node<'d>,
    /// Its uid.
    pub uid: Option<&'d str>,
    /// Its kind, as written.
    pub kind: Option<&'d str>,
    /// Its ref without dollar.
    pub reference: Option<&'d str>,
    /// Its form, as written.
    pub form: Option<&'d str>,
    /// Its identity's technical name.
    pub name: Option<&'d str>,
    /// Its identity's columns.
    pub columns: Vec<IdentityColumn<'d>>,
    /// Whether these are all of them, each with its ref.
    pub columns_known: bool,
    /// The blueprint, when the key is there.
    pub blueprint: Option<Node<'d>>,
}

/// One entry of `identity.columns`.
#[derive(Debug, Clone)]
pub struct IdentityColumn<'d> {
    /// The entry.
    pub node: Node<'d>,
    /// Its ref without dollar.
    pub reference: Option<&'d str>,
}

/// One entry of `unresolved`.
#[derive(Debug, Clone)]
pub struct Unresolved<'d> {
    /// The entry.
    pub node: Node<'d>,
    /// Whom it is about.
    pub uid: Option<&'d str>,
    /// Where.
    pub path: Option<&'d str>,
}

impl<'d> Facts<'d> {
    pub(super) fn read_layers(&mut self) {
        let entries = |layer: Option<Node<'d>>| {
            layer
                .into_iter()
                .flat_map(Node::elements)
                .filter(|entry| entry.is_object())
        };
        self.items = entries(self.layer("items")).map(item).collect();
        self.dependencies = entries(self.layer("dependencies"))
            .map(dependency)
            .collect();
        self.unresolved = entries(self.layer("unresolved"))
            .map(|node| Unresolved {
                node,
                uid: node.get_str("uid"),
                path: node.get_str("path"),
            })
            .collect();
        self.item_by_uid.reserve(self.items.len());
        self.item_by_ref.reserve(self.items.len());
        for (index, item) in self.items.iter().enumerate() {
            if !item.uid.is_empty() {
                self.item_by_uid.entry(item.uid).or_insert(index);
            }
            if let Some(reference) = item.reference {
                self.item_by_ref.entry(reference).or_insert(index);
            }
        }
        for entry in self.payloads().into_iter().flat_map(Node::elements) {
            if let Some(uid) = entry.get_str("itemUid").filter(|uid| !uid.is_empty()) {
                self.payload_entries.entry(uid).or_insert(entry);
            }
        }
        for (index, dependency) in self.dependencies.iter().enumerate() {
            let mut stand = |reference: Option<&'d str>, column| {
                if let Some(reference) = reference {
                    let outside = ExternalRef {
                        dependency: index,
                        column,
                    };
                    self.outside.entry(reference).or_insert(outside);
                }
            };
            stand(dependency.reference, None);
            for (position, column) in dependency.columns.iter().enumerate() {
                stand(column.reference, Some(position));
            }
        }
    }
}

fn item(node: Node<'_>) -> Item<'_> {
    let kind = node
        .get_str("kind")
        .filter(|kind| ITEM_KINDS.contains(kind));
    Item {
        node,
        uid: node.get_str("uid").unwrap_or_default(),
        kind,
        reference: node
            .get_str("ref")
            .map(undollared)
            .filter(|_| kind != Some("rows")),
        parent: node.get_str("parent"),
    }
}

fn dependency(node: Node<'_>) -> Dependency<'_> {
    let identity = node.get("identity");
    let columns = identity.and_then(|identity| identity.get("columns"));
    let columns_known = identity.is_some_and(Node::is_object)
        && columns.is_none_or(|list| {
            list.is_array()
                && list
                    .elements()
                    .all(|column| column.get_str("ref").is_some())
        });
    Dependency {
        node,
        uid: node.get_str("uid"),
        kind: node.get_str("kind"),
        reference: node.get_str("ref").map(undollared),
        form: node.get_str("form"),
        name: identity.and_then(|identity| identity.get_str("name")),
        columns: columns
            .into_iter()
            .flat_map(Node::elements)
            .filter(|column| column.is_object())
            .map(|node| IdentityColumn {
                node,
                reference: node.get_str("ref").map(undollared),
            })
            .collect(),
        columns_known,
        blueprint: node.get("blueprint"),
    }
}
