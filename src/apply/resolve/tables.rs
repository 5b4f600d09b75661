//! The rows phase: the table, columns and order for the rows of each payload entry.

use std::collections::HashSet;

use super::bindings::{Binding, Bindings, Cause};
use super::built::BuiltColumn;
use super::dependency_decision::dependencies;
use super::findings::Findings;
use super::modes;
use super::order::{Order, enter};
use super::steps::text_in;
use crate::apply::row_refs::all_row_refs;
use crate::apply::{ColumnWork, LinkWork, LinkedValue, Mode, Request, TableWork};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::package::Tool;
use crate::package::model::{Dependency, Reason};
use crate::package::payload::RawEntry;
use crate::workspace::{Column, Feature, Id, Structure};

use indexmap::IndexMap;

/// What tables are looked up in.
pub(super) struct Tables<'a, 'p> {
    pub(super) package: &'a Checked<'p>,
    pub(super) request: &'a Request,
    pub(super) bindings: &'a Bindings<'a>,
    pub(super) columns: &'a IndexMap<&'a str, BuiltColumn>,
    pub(super) destination: &'a Structure,
    pub(super) definitions: &'a Definitions,
}

impl Tables<'_, '_> {
    /// All tables in the order in which their rows enter, and the ordinal after their last row.
    pub(super) fn all(&self, first: u32, findings: &mut Findings) -> (Vec<TableWork>, u32) {
        let mut next = first;
        let mut tables = Vec::new();
        for (index, entry) in self.package.payloads.iter().enumerate() {
            let count = entry.count();
            let feature = self.feature(&entry.feature_ref);
            let mode = modes::of(self.request, entry);
            let away = self.bindings.record(&entry.feature_ref);
            let away = away.is_some_and(|record| record.gone);
            if feature.is_none() && mode != Mode::None && !away {
                let count = u64::try_from(count).unwrap_or(u64::MAX);
                findings.rows(&entry.item_uid, Reason::FeatureRefUnresolved, Some(count));
            }
            let carried = |name: &str| entry.columns.iter().any(|column| column == name);
            let compared = feature.map_or(Vec::new(), |id| self.columns_of(&entry.feature_ref, id));
            let mut columns = compared.clone();
            columns.retain(|work| {
                carried(&work.package_name) || work.column.is_identity() || work.left_empty
            });
            tables.push(TableWork {
                entry: index,
                uid: entry.item_uid.clone(),
                feature_ref: entry.feature_ref.clone(),
                feature,
                mode,
                columns,
                compared,
                earlier_names: Vec::new(),
                first_ordinal: next,
            });
            next = next.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        }
        let Order { order, cyclic } = self.order(&tables);
        for (table, entry) in cyclic
            .iter()
            .filter_map(|at| Some((tables.get(*at)?, self.package.payloads.get(*at)?)))
        {
            debug_assert_eq!(table.feature_ref, entry.feature_ref);
            findings.rows(&table.uid, Reason::PayloadCycle, None);
        }
        let mut slots: Vec<Option<TableWork>> = tables.into_iter().map(Some).collect();
        let ordered = order.into_iter().filter_map(|at| slots.get_mut(at)?.take());
        (ordered.collect(), next)
    }

    /// The table that a ref stands for.
    pub(super) fn feature(&self, reference: &str) -> Option<Id> {
        let record = self.bindings.record(reference)?;
        (record.kind == crate::workspace::RecordKind::Feature && !record.gone).then_some(record.id)
    }

    /// All columns of a table that the package knows, then those that it does not and in which every row
    /// holds something: identities, and null where somebody leaves a column empty.
    pub(super) fn columns_of(&self, reference: &str, feature: Id) -> Vec<ColumnWork> {
        let own = self
            .columns
            .values()
            .filter(|column| column.feature == feature);
        let mut columns: Vec<ColumnWork> = own
            .map(|built| {
                let link = self.link(built);
                ColumnWork {
                    package_name: built.package_name.clone(),
                    source_identities: link == LinkWork::Refs && self.shows_other_identities(built),
                    link,
                    linked_value: super::linked_value::of(built, self.bindings),
                    column: built.column.clone(),
                    left_empty: false,
                }
            })
            .collect();
        let Some(stored) = self.destination.feature(feature) else {
            return columns;
        };
        self.add_mapped(reference, stored, &mut columns);
        // Columns that the package does not know, and every row holds something in.
        for column in &stored.columns {
            let left_empty = !column.is_identity() && self.may_be_empty(reference, &column.name);
            let known = columns.iter().any(|known| known.column.id == column.id);
            if !known && (column.is_identity() || left_empty) {
                columns.push(ColumnWork {
                    package_name: String::new(),
                    column: unrequired(column, left_empty),
                    link: LinkWork::Data,
                    linked_value: LinkedValue::AsPackaged,
                    source_identities: false,
                    left_empty,
                });
            }
        }
        columns
    }

    fn add_mapped(&self, reference: &str, stored: &Feature, columns: &mut Vec<ColumnWork>) {
        for identity in self
            .dependency(reference)
            .into_iter()
            .flat_map(|dependency| dependency.identity.columns.iter().flatten())
        {
            let mapped = self.bindings.record(&identity.reference);
            let mapped = mapped.and_then(|record| stored.column(record.id));
            let Some(column) = mapped else { continue };
            if !columns
                .iter()
                .any(|known| known.package_name == identity.name)
            {
                let link = if self.is_link(column) {
                    LinkWork::Refs
                } else {
                    LinkWork::Data
                };
                let left_empty =
                    !column.is_identity() && self.may_be_empty(reference, &column.name);
                columns.push(ColumnWork {
                    package_name: identity.name.clone(),
                    column: unrequired(column, left_empty),
                    link,
                    linked_value: LinkedValue::AsPackaged,
                    source_identities: false,
                    left_empty,
                });
            }
        }
    }

    fn is_link(&self, column: &Column) -> bool {
        let types = &self.definitions.column_types;
        types.get(&column.column_type).is_some_and(|kind| kind.link)
    }

    fn dependency(&self, reference: &str) -> Option<&Dependency> {
        let mut dependencies = dependencies(self.package).iter();
        dependencies.find(|dependency| dependency.reference == reference)
    }

    /// What becomes of the cells of a column.
    fn link(&self, built: &BuiltColumn) -> LinkWork {
        let Some(table) = built
            .link
            .table
            .as_deref()
            .filter(|_| self.is_link(&built.column))
        else {
            return LinkWork::Data;
        };
        if let Binding::Nothing(Cause::Skipped { dependency, .. }) = self.bindings.of(table) {
            return LinkWork::Skipped {
                dependency: (*dependency).to_owned(),
            };
        }
        let value = built.link.value.as_deref();
        let dependency = self.dependency(table);
        let by_identity = dependency.is_some_and(|dependency| {
            let mut columns = dependency.identity.columns.iter().flatten();
            columns.any(|column| {
                column.default_component == "id" && Some(column.reference.as_str()) == value
            })
        });
        // What was created from a blueprint has no rows of its own; only a mapped table is asked.
        if by_identity
            && self.is_mapped(table)
            && let Some(feature) = self.bindings.record(table)
            && let Some(column) = value.and_then(|value| self.bindings.record(value))
        {
            return LinkWork::Identity {
                feature: feature.id,
                column: column.name.clone(),
            };
        }
        if self.entry(table).is_some() {
            return LinkWork::Refs;
        }
        let Some(value) = value else {
            return LinkWork::Data;
        };
        without_rows(match dependency {
            Some(_) => by_identity,
            // The table of the package arrives without rows.
            None => self
                .columns
                .get(value)
                .is_some_and(|built| built.column.is_identity()),
        })
    }

    /// The rows that the package brings for a table.
    fn entry(&self, table: &str) -> Option<&RawEntry<'_>> {
        let mut entries = self.package.payloads.iter();
        entries.find(|entry| entry.feature_ref == table)
    }

    /// Whether a link shows identities of the source that its rows do not have here: the automatic one, which every
    /// destination mints anew, and any other where the rows stay behind.
    fn shows_other_identities(&self, built: &BuiltColumn) -> bool {
        let shown = built.link.value.as_deref();
        let Some((name, component)) = shown.and_then(|shown| self.declared_column(shown)) else {
            return false;
        };
        let table = built.link.table.as_deref();
        let entry = table.and_then(|table| self.entry(table));
        let enter = || entry.is_some_and(|entry| modes::of(self.request, entry) != Mode::None);
        component == "id" && (name == "id" || !enter())
    }

    /// The name and the component that the package gives a column.
    fn declared_column(&self, reference: &str) -> Option<(&str, &str)> {
        let mut steps = self.package.manifest.plan.steps.iter();
        let step = steps.find(|step| {
            step.tool == Tool::CreateColumn && step.reference.as_deref() == Some(reference)
        });
        if let Some(step) = step {
            let text = |argument| text_in(&step.args, argument);
            return Some((text("name"), text("defaultComponent")));
        }
        let dependencies = dependencies(self.package).iter();
        let mut columns = dependencies.flat_map(|one| one.identity.columns.iter().flatten());
        let column = columns.find(|column| column.reference == reference)?;
        Some((column.name.as_str(), column.default_component.as_str()))
    }

    /// Whether rows may leave a required column of a mapped table empty.
    fn may_be_empty(&self, reference: &str, column: &str) -> bool {
        match self.request.resolutions.get(reference) {
            Some(crate::apply::Resolution::Map { leave_empty, .. }) => {
                leave_empty.iter().any(|name| name == column)
            }
            _ => false,
        }
    }

    fn is_mapped(&self, reference: &str) -> bool {
        let resolution = self.request.resolutions.get(reference);
        matches!(resolution, Some(crate::apply::Resolution::Map { .. }))
    }

    /// Link targets first, as far as rows of both enter.
    fn order(&self, tables: &[TableWork]) -> Order {
        let enters = |table: &TableWork| table.mode != Mode::None && table.feature.is_some();
        let position = |reference: &str| tables.iter().position(|t| t.feature_ref == reference);
        let mut targets: Vec<Vec<usize>> = Vec::new();
        for (at, table) in tables.iter().enumerate() {
            let links = self
                .columns
                .values()
                .filter(|column| Some(column.feature) == table.feature);
            let mut points: Vec<usize> = links
                .filter(|column| self.is_link(&column.column))
                .filter_map(|column| position(column.link.table.as_deref()?))
                .filter(|target| *target != at && enters(table))
                .filter(|target| tables.get(*target).is_some_and(enters))
                .collect();
            points.sort_unstable();
            points.dedup();
            targets.push(points);
        }
        let order = enter(&targets);
        if order.cyclic.is_empty() {
            return order;
        }
        // A circle of columns is one of rows only where cells point at each other.
        for at in order.cyclic {
            let row_tables = self
                .package
                .payloads
                .get(at)
                .map(held_tables)
                .unwrap_or_default();
            if let (Some(points), Some(_)) = (targets.get_mut(at), tables.get(at)) {
                points.retain(|target| {
                    tables
                        .get(*target)
                        .is_some_and(|table| row_tables.contains(&table.feature_ref))
                });
            }
        }
        enter(&targets)
    }
}

/// A column as rows are held to it: what may be left empty is not required.
fn unrequired(column: &Column, left_empty: bool) -> Column {
    let mut column = column.clone();
    if left_empty {
        column.config.shift_remove("required");
    }
    column
}

/// What becomes of cells that point at a table whose rows do not come along. Its identities are
/// minted anew, so that no cell may keep one of the source; any other value is data.
fn without_rows(by_identity: bool) -> LinkWork {
    if by_identity {
        LinkWork::Absent
    } else {
        LinkWork::Data
    }
}

/// The tables that rows of an entry point at.
fn held_tables(entry: &RawEntry<'_>) -> HashSet<String> {
    let refs = entry.rows().filter_map(|row| row.refs);
    refs.flat_map(all_row_refs)
        .map(|row| row.table().into_owned())
        .collect()
}
