//! The statements of a kind, built once from its table.
//!
//! Each has the scope predicates; none contains client text.

use std::fmt::Write as _;

use super::kind::{KindDescription, RecordKind};
use crate::json_body::MOST_INTEGER;

/// The fields that every kind has, behind the ids of what it lies in.
const COMMON: [&str; 6] = ["id", "name", "label", "config", "created_at", "updated_at"];

/// The statements of one kind.
#[derive(Debug)]
pub(super) struct Statements {
    /// `$1` the id.
    pub(super) get: String,
    /// `$1` the id: the organization of the record.
    pub(super) organization: String,
    /// `$1` the organization, `$2` the id: the record, kept from others until the transaction ends.
    pub(super) lock: String,
    /// The same, but others may write what refers to the record.
    pub(super) lock_fields: String,
    /// `$1` after, `$2` how many.
    pub(super) page: String,
    /// `$1` after, `$2` how many, `$3` the parent.
    pub(super) page_within: String,
    /// The same, with one row that holds nothing when there is a parent but no record, and none
    /// when there is no parent.
    pub(super) page_below: String,
    /// Everything below the parent `$1`, in display order, in the same manner.
    pub(super) all_below: String,
    /// For the nested model, of one workspace (`$1`) and of all: up to the feature (where it lies in
    /// one) and so many (where that is bounded), in this order.
    pub(super) model: [String; 2],
    /// `$1` the organization, `$2` a workspace: those of it, and those of others that share them, where
    /// the kind can be shared.
    pub(super) structure: [String; 2],
    /// Whether anything lies in the parent `$2` of the organization `$1`, seen or not.
    pub(super) any_below: String,
    /// `$1` the organization, `$2` the parent: ids and positions, kept from others until the transaction ends. Of
    /// kinds that have positions.
    pub(super) siblings: String,
    /// `$1` the organization, `$2` the parent.
    pub(super) names: String,
    /// `$1`… the columns in order, `created_at` and `updated_at` both from one.
    pub(super) insert: String,
    /// `$1` the organization, `$2` the id, `$3` name, `$4` label, `$5` config, `$6` the time, `$7`… what is its own.
    pub(super) update: String,
    /// `$1` the organization, `$2` the id.
    pub(super) delete: String,
}

impl Statements {
    pub(super) fn of(kind: &KindDescription) -> Statements {
        let KindDescription { table, .. } = kind;
        let (parent, workspace) = (kind.parent_column(), kind.workspace_column());
        let columns = |alias: &str| {
            let own = kind.own.iter().map(|own| own.column);
            let all = kind.within.iter().copied().chain(COMMON).chain(own);
            let all: Vec<String> = all.map(|column| format!("{alias}{column}")).collect();
            all.join(", ")
        };
        let all = columns("");
        let seen = format!("{{tenant organization_id}} AND {{workspace {workspace}}}");
        let get = format!("SELECT {all} FROM {table} WHERE {seen} AND id = $1");
        let page = format!("SELECT {all} FROM {table} WHERE {seen} AND id > $1");
        let end = "ORDER BY id LIMIT $2 {bounded}";
        let own = format!("{seen} AND organization_id = $1");
        Statements {
            organization: format!(
                "SELECT organization_id FROM {table} WHERE {{tenant organization_id}} AND id = $1"
            ),
            lock: format!("SELECT {all} FROM {table} WHERE {own} AND id = $2 {{lock}}"),
            lock_fields: format!(
                "SELECT {all} FROM {table} WHERE {own} AND id = $2 {{lock_fields}}"
            ),
            page_within: format!("{page} AND {parent} = $3 {end}"),
            page: format!("{page} {end}"),
            page_below: below(
                kind,
                &columns("r."),
                "AND r.id > $1",
                "$3",
                "r.id LIMIT $2 {bounded}",
            ),
            all_below: below(kind, &columns("r."), "", "$1", "r.position, r.id"),
            model: [true, false].map(|one| model(kind, &all, &seen, one)),
            structure: [false, true].map(|shared| structure(kind, &all, &seen, shared)),
            any_below: format!(
                "SELECT id FROM {table} WHERE {{tenant organization_id}} \
                 AND organization_id = $1 AND {parent} = $2 LIMIT 1"
            ),
            // Everybody takes them in the same order.
            siblings: format!(
                "SELECT id, position FROM {table} WHERE {own} AND {parent} = $2 ORDER BY id {{lock}}"
            ),
            names: format!("SELECT name FROM {table} WHERE {own} AND {parent} = $2"),
            insert: insert(kind, &all),
            update: update(kind, &own),
            delete: format!("DELETE FROM main.{table} WHERE {own} AND id = $2"),
            get,
        }
    }
}

fn below(
    kind: &KindDescription,
    columns: &str,
    records: &str,
    parent_id: &str,
    order: &str,
) -> String {
    let Some(parent) = kind.parent else {
        return String::new();
    };
    format!(
        "SELECT {columns} FROM {} p LEFT JOIN {} r ON r.organization_id = p.organization_id \
         AND r.{} = p.id {records} WHERE {{tenant p.organization_id}} AND {{workspace p.{}}} \
         AND p.id = {parent_id} ORDER BY {order}",
        parent.table,
        kind.table,
        kind.parent_column(),
        parent.workspace_column(),
    )
}

fn model(kind: &KindDescription, columns: &str, seen: &str, one: bool) -> String {
    let first = if one { 2 } else { 1 };
    let (within, order) = match kind.what {
        RecordKind::Workspace => (String::new(), "id".to_owned()),
        RecordKind::Column => (
            format!(" AND feature_id <= ${first}"),
            format!("feature_id, position, id LIMIT ${}", first + 1),
        ),
        RecordKind::View => (
            format!(" AND feature_id <= ${first}"),
            "feature_id, position, id".to_owned(),
        ),
        _ => (String::new(), format!("id LIMIT ${first}")),
    };
    let (table, workspace) = (kind.table, kind.workspace_column());
    let of = if one {
        format!(" AND {workspace} = $1")
    } else {
        String::new()
    };
    format!("SELECT {columns} FROM {table} WHERE {seen}{of}{within} ORDER BY {order}")
}

fn structure(kind: &KindDescription, columns: &str, seen: &str, shared: bool) -> String {
    let (table, workspace) = (kind.table, kind.workspace_column());
    let of = match (shared, kind.what) {
        (false, _) => format!("{workspace} = $2"),
        (true, RecordKind::Feature) => "workspace_id <> $2 AND is_shared".to_owned(),
        (true, RecordKind::Column | RecordKind::View) => "workspace_id <> $2 AND feature_id IN \
             (SELECT id FROM features WHERE organization_id = $1 AND is_shared)"
            .to_owned(),
        (true, _) => return String::new(),
    };
    let order = kind.position("position").map_or("", |_| "position, ");
    format!(
        "SELECT {columns} FROM {table} WHERE {seen} AND organization_id = $1 AND {of} ORDER BY {order}id"
    )
}

fn insert(kind: &KindDescription, columns: &str) -> String {
    let KindDescription { table, .. } = kind;
    let parent = kind.parent_column();
    let (mut values, mut last) = (String::new(), String::new());
    let mut next = 0;
    let mut push = |column: &str| {
        // Both instants are the same.
        if column != "updated_at" {
            next += 1;
        }
        let separator = if values.is_empty() { "" } else { ", " };
        let value = if column == "position" {
            last = format!(
                "(SELECT coalesce(max(position), 0) AS position FROM {table} \
                 WHERE organization_id = $1 AND {parent} = ${}) AS siblings",
                kind.within.len()
            );
            // Not beyond what a body may say; of siblings at one position the later one comes later.
            format!(
                "coalesce(${next}, CASE WHEN siblings.position < {MOST_INTEGER} \
                 THEN siblings.position + 1 ELSE {MOST_INTEGER} END)"
            )
        } else {
            format!("${next}")
        };
        // Writing to a string cannot fail.
        let _ = write!(values, "{separator}{value}");
    };
    let own = kind.own.iter().map(|own| own.column);
    for column in kind.within.iter().copied().chain(COMMON).chain(own) {
        push(column);
    }
    let scope = if parent == "organization_id" {
        "organization_id".to_owned()
    } else {
        format!("organization_id, {parent}")
    };
    // A database of several nodes takes no subquery among `VALUES`. `WHERE true` keeps SQLite from reading the `ON`
    // behind it as that of a join.
    let source = if last.is_empty() {
        format!("VALUES ({values})")
    } else {
        format!("SELECT {values} FROM {last} WHERE true")
    };
    format!(
        "INSERT INTO main.{table} {{into $1}} ({columns}) {source} \
         ON CONFLICT ({scope}, name) DO NOTHING RETURNING {columns}"
    )
}

fn update(kind: &KindDescription, own: &str) -> String {
    let mut changes = String::from("name = $3, label = $4, config = $5, updated_at = $6");
    for (index, own) in kind.own.iter().enumerate() {
        let _ = write!(changes, ", {} = ${}", own.column, index + 7);
    }
    let table = kind.table;
    format!("UPDATE main.{table} SET {changes} WHERE {own} AND id = $2")
}
