//! Builds everything of the package except rows: items, layers, plan, the headers of payload
//! entries.

use jiff::Timestamp;

use super::invariant;
use super::leak;
use super::onto::PreviousPackage;
use super::plan::WrittenPlan;
use super::record::Records;
use super::rows::ExportedTable;
use super::selection::Selection;
use crate::definitions::Definitions;
use crate::json::{Object, Value};
use crate::package::model::{
    Contents, Envelope, Item, ItemKind, Layers, Manifest, Metadata, Package, Plan, PlanTarget,
    Source, Unresolved,
};
use crate::package::summary;
use crate::workspace::{RecordKind, Structure};

/// What an export found out.
pub(super) struct Collected<'e> {
    /// The workspace.
    pub(super) structure: &'e Structure,
    /// What travels of it.
    pub(super) selection: &'e Selection,
    /// The records that travel.
    pub(super) records: &'e Records<'e>,
    /// Their steps, and what was left out of these.
    pub(super) written: WrittenPlan,
    /// The tables that travel with rows.
    pub(super) tables: &'e [ExportedTable],
    /// The id of the plan.
    pub(super) plan_id: String,
    /// The package that the new one replaces.
    pub(super) previous: Option<&'e PreviousPackage<'e>>,
}

/// Puts the package together; the payload entries have no rows yet.
pub(super) fn package(
    collected: Collected<'_>,
    now: Timestamp,
    definitions: &Definitions,
) -> Package {
    let Collected {
        structure,
        selection,
        records,
        written,
        tables,
        plan_id,
        previous,
    } = collected;
    let workspace = &structure.workspace;
    let generated_at = now.strftime("%Y-%m-%dT%H:%M:%S%.fZ").to_string();
    let earlier = previous.map(|previous| &previous.manifest);
    let mut catalog = selection.identity.clone();
    if let Some(earlier) = earlier {
        catalog.complete(&earlier.catalog);
    }
    let own = |text: &str| {
        let text = leak::without_ids(text);
        if text.trim().is_empty() {
            "workspace".to_owned()
        } else {
            text
        }
    };
    catalog.name.get_or_insert_with(|| own(&workspace.name));
    catalog.label.get_or_insert_with(|| own(&workspace.label));
    let items = items(records, &written, tables);
    let kinds: Vec<ItemKind> = items.iter().map(|item| item.kind).collect();
    let kinds: Vec<ItemKind> = kinds
        .into_iter()
        .filter(|kind| *kind != ItemKind::Rows)
        .collect();
    let rows: Vec<(&str, u64)> = tables
        .iter()
        .map(|table| (table.label.as_str(), table.count()))
        .collect();
    let summary = summary::sentence(&kinds, &rows);
    let steps = written.steps.iter();
    let external_refs =
        invariant::outside(steps.map(|step| (step.reference.as_deref(), &step.args)));
    let mut unresolved: Vec<Unresolved> = written.unresolved;
    unresolved.extend(tables.iter().flat_map(ExportedTable::unresolved));
    let layers = Layers {
        source: Source {
            workspace_name: own(&workspace.label),
            generated_at: generated_at.clone(),
            definitions_version: definitions.version.clone(),
        },
        items,
        dependencies: written.dependencies,
        unresolved,
        redacted: written.redacted,
    };
    let plan = Plan {
        id: plan_id,
        summary: Some(summary),
        target: PlanTarget::default(),
        metadata: Metadata {
            source: "export".to_owned(),
            generated_at,
            unknown: Object::new(),
        },
        external_refs,
        steps: written.steps,
        unknown: Object::new(),
    };
    let unknown = earlier.map(|earlier| earlier.unknown.clone());
    let mut unknown = unknown.unwrap_or_default();
    if catalog.semver.is_some() {
        // One of another type stood there.
        unknown.shift_remove("semver");
    }
    Package {
        manifest: Manifest {
            schema: earlier.and_then(|earlier| earlier.schema.clone()),
            catalog,
            contents: Contents::Version2(layers),
            plan,
            unknown,
        },
        envelope: Some(Envelope {
            schema: previous.and_then(|previous| previous.schema.clone()),
            payloads: Some(tables.iter().map(ExportedTable::head).collect()),
            unknown: Object::new(),
        }),
    }
}

/// One item per record in the order of the plan, then one per table with rows.
fn items(records: &Records<'_>, written: &WrittenPlan, tables: &[ExportedTable]) -> Vec<Item> {
    let list = &records.list;
    let mut items: Vec<Item> = Vec::with_capacity(list.len() + tables.len());
    for (at, step) in written.order.iter().zip(&written.steps) {
        let record = &list[*at];
        let label = step.args.get("label").and_then(Value::as_str);
        items.push(Item {
            uid: record.uid.clone(),
            kind: item_kind(record.kind),
            reference: Some(record.reference.clone()),
            label: label.unwrap_or_default().to_owned(),
            parent: record
                .parent
                .and_then(|parent| Some(list.get(parent)?.uid.clone())),
            count: None,
            data_class: None,
            step_ids: record.step_ids.clone(),
            unknown: Object::new(),
        });
    }
    items.extend(tables.iter().map(ExportedTable::item));
    items
}

fn item_kind(kind: RecordKind) -> ItemKind {
    match kind {
        RecordKind::Feature => ItemKind::Feature,
        RecordKind::Column => ItemKind::Column,
        RecordKind::View => ItemKind::View,
        RecordKind::Module => ItemKind::Module,
        RecordKind::Rail => ItemKind::Rail,
        RecordKind::Workflow | RecordKind::Workspace => ItemKind::Workflow,
    }
}
