//! Lists the contents of a package: items as a tree, rows with sizes, and dependencies to decide.
//!
//! In: a parsed file, valid or not. Out: plain data. It skips what it cannot read; `check` reports
//! it.

mod columns;
mod labels;
mod uses;

use serde::Serialize;

use crate::json::{JsonKind, Node};
use crate::package::reference::undollared;
use crate::package::size::{self, MOST_BYTES, MOST_ROWS};

use columns::Columns;

pub use labels::labels;
pub use uses::{UseSite, Uses, known_refs, nearest_ref};

/// A package at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    /// Technical name of the catalog.
    pub name: Option<String>,
    /// Name for people.
    pub label: Option<String>,
    /// `templateVersion` as it is written.
    pub template_version: Option<String>,
    /// The workspace it came from.
    pub workspace: Option<String>,
    /// When it was exported.
    pub generated_at: Option<String>,
    /// The sentence of its plan.
    pub summary: Option<String>,
    /// Number of plan steps.
    pub steps: usize,
    /// Items without a parent here, with theirs inside.
    pub items: Vec<Item>,
    /// Row payloads.
    pub payloads: Vec<Payload>,
    /// What the destination must have or decide.
    pub dependencies: Vec<Dependency>,
    /// What could not be carried.
    pub unresolved: Vec<Unresolved>,
    /// Secrets that were cleared.
    pub redacted: Vec<Redacted>,
}

/// One thing that travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Identity in the package.
    pub uid: String,
    /// What it is.
    pub kind: String,
    /// Its ref, without the dollar; rows have none.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// Name for people.
    pub label: String,
    /// Number of rows, of a rows item.
    pub count: Option<i64>,
    /// Reference or transactional, of a rows item.
    pub data_class: Option<String>,
    /// The type, of a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column_type: Option<String>,
    /// The ref of the table that a column links to, without the dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links_to: Option<String>,
    /// What belongs to it.
    pub children: Vec<Item>,
}

/// One payload entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Payload {
    /// Ref of the table, without the dollar.
    pub feature_ref: String,
    /// Number of rows that are there.
    pub rows: usize,
    /// Bytes of its compact JSON.
    pub bytes: usize,
    /// The column that rows can be matched by.
    pub key_column: Option<String>,
    /// Whether it is within 5000 rows and 4 MiB.
    pub within_limits: bool,
}

/// One dependency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// Its ref, without the dollar.
    #[serde(rename = "ref")]
    pub reference: String,
    /// What it is.
    pub kind: String,
    /// By id or by name.
    pub form: String,
    /// Its name at the source.
    pub name: Option<String>,
    /// Whether the package is incomplete without it.
    pub required: bool,
    /// What the exporter proposes.
    pub proposal: String,
    /// Whether it can be created from what travels.
    pub has_blueprint: bool,
    /// Columns that would have to be mapped.
    pub columns: Vec<String>,
    /// Number of places that use it.
    pub uses: usize,
    /// What it is for.
    pub description: Option<String>,
}

/// One entry of `unresolved`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unresolved {
    /// Label of the item.
    pub item: String,
    /// Where in it.
    pub path: String,
    /// Why.
    pub reason: String,
    /// What was done.
    pub action: String,
    /// Number of rows, when it stands for rows.
    pub count: Option<i64>,
}

/// One entry of `redacted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Redacted {
    /// Label of the item.
    pub item: String,
    /// Where in it.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// The manifest and the payload list (if any) of a file's root: an envelope, or a bare manifest.
pub fn halves(root: Node<'_>) -> (Node<'_>, Option<Node<'_>>) {
    root.get("manifest")
        .map_or((root, None), |manifest| (manifest, root.get("payloads")))
}

fn list<'d>(node: Node<'d>, key: &str) -> impl Iterator<Item = Node<'d>> {
    node.get(key).into_iter().flat_map(Node::elements)
}

impl Contents {
    /// Reads them off a file's root.
    pub fn read(root: Node<'_>) -> Contents {
        let (manifest, payloads) = halves(root);
        let source = manifest.get("source");
        let plan = manifest.get("plan");
        let list = |key| manifest.get(key).into_iter().flat_map(Node::elements);
        Contents {
            name: text(manifest, "name"),
            label: text(manifest, "label"),
            template_version: manifest
                .get("templateVersion")
                .map(|version| version.raw().to_owned()),
            workspace: source.and_then(|source| text(source, "workspaceName")),
            generated_at: source.and_then(|source| text(source, "generatedAt")),
            summary: plan.and_then(|plan| text(plan, "summary")),
            steps: plan.and_then(|plan| plan.get("steps")).map_or(0, Node::len),
            items: tree(&list("items").collect::<Vec<_>>(), &Columns::read(plan)),
            payloads: payloads
                .into_iter()
                .flat_map(Node::elements)
                .map(payload)
                .collect(),
            dependencies: list("dependencies").map(dependency).collect(),
            unresolved: list("unresolved")
                .map(|entry| Unresolved {
                    item: owner(manifest, entry),
                    path: word(entry, "path"),
                    reason: word(entry, "reason"),
                    action: word(entry, "action"),
                    count: entry.get("count").and_then(Node::as_i64),
                })
                .collect(),
            redacted: list("redacted")
                .map(|entry| Redacted {
                    item: owner(manifest, entry),
                    path: word(entry, "path"),
                    reason: word(entry, "reason"),
                })
                .collect(),
        }
    }
}

fn text(node: Node<'_>, key: &str) -> Option<String> {
    node.get_str(key).map(str::to_owned)
}

fn word(node: Node<'_>, key: &str) -> String {
    node.get_str(key).unwrap_or_default().to_owned()
}

fn reference(node: Node<'_>, key: &str) -> Option<String> {
    node.get_str(key)
        .map(|declared| undollared(declared).to_owned())
}

/// Items under their parents. One whose parent is not an item here, or that would be its own
/// ancestor, is at the top.
fn tree(items: &[Node<'_>], columns: &Columns<'_>) -> Vec<Item> {
    let parent = |item: Node<'_>| {
        item.get_str("parent").and_then(|uid| {
            items
                .iter()
                .position(|other| other.get_str("uid") == Some(uid))
        })
    };
    let parents: Vec<Option<usize>> = items.iter().map(|item| parent(*item)).collect();
    let is_root = |index: usize| {
        let mut chain = std::iter::successors(parents[index], |above| parents[*above]);
        // A chain longer than the list runs in a circle.
        parents[index].is_none() || chain.nth(items.len()).is_some()
    };
    let roots: Vec<usize> = (0..items.len()).filter(|index| is_root(*index)).collect();
    let tree = Tree {
        items,
        columns,
        parents: &parents,
        roots: &roots,
    };
    roots.iter().map(|index| tree.branch(*index)).collect()
}

/// Items by their positions.
struct Tree<'t, 'd> {
    items: &'t [Node<'d>],
    columns: &'t Columns<'d>,
    parents: &'t [Option<usize>],
    roots: &'t [usize],
}

impl Tree<'_, '_> {
    fn branch(&self, index: usize) -> Item {
        let children = (0..self.items.len())
            .filter(|child| self.parents[*child] == Some(index) && !self.roots.contains(child));
        let item = self.items[index];
        let reference = reference(item, "ref");
        let of_column = reference
            .as_deref()
            .filter(|_| item.get_str("kind") == Some("column"));
        Item {
            uid: word(item, "uid"),
            kind: word(item, "kind"),
            column_type: of_column
                .and_then(|column| self.columns.type_of(column))
                .map(str::to_owned),
            links_to: of_column
                .and_then(|column| self.columns.linked(column))
                .map(str::to_owned),
            reference,
            label: word(item, "label"),
            count: item.get("count").and_then(Node::as_i64),
            data_class: text(item, "dataClass"),
            children: children.map(|child| self.branch(child)).collect(),
        }
    }
}

fn payload(entry: Node<'_>) -> Payload {
    let rows = entry.get("rows");
    let rows = match rows.map(|rows| (rows, rows.kind())) {
        Some((rows, JsonKind::Rows)) => size::elements(rows.raw()),
        Some((rows, _)) => rows.len(),
        None => 0,
    };
    let bytes = size::compact_length(entry.raw());
    Payload {
        feature_ref: reference(entry, "featureRef").unwrap_or_default(),
        rows,
        bytes,
        key_column: text(entry, "keyColumn"),
        within_limits: rows <= MOST_ROWS && bytes <= MOST_BYTES,
    }
}

fn dependency(entry: Node<'_>) -> Dependency {
    let identity = entry.get("identity");
    let columns = identity.and_then(|identity| identity.get("columns"));
    Dependency {
        reference: reference(entry, "ref").unwrap_or_default(),
        kind: word(entry, "kind"),
        form: word(entry, "form"),
        name: identity.and_then(|identity| text(identity, "name")),
        required: entry
            .get("required")
            .and_then(Node::as_bool)
            .unwrap_or(true),
        proposal: word(entry, "resolution"),
        has_blueprint: entry.get("blueprint").is_some(),
        columns: columns
            .into_iter()
            .flat_map(Node::elements)
            .map(|column| word(column, "name"))
            .collect(),
        uses: entry.get("usedBy").map_or(0, Node::len),
        description: text(entry, "description"),
    }
}

/// The label of the item that an entry is about; the plan stands for the workspace.
fn owner(manifest: Node<'_>, entry: Node<'_>) -> String {
    let uid = entry.get_str("uid");
    let mut items = manifest.get("items").into_iter().flat_map(Node::elements);
    match items.find(|item| item.get_str("uid") == uid) {
        Some(item) => word(item, "label"),
        None if manifest.get("plan").and_then(|plan| plan.get_str("id")) == uid => {
            "the workspace".to_owned()
        }
        None => uid.unwrap_or_default().to_owned(),
    }
}
