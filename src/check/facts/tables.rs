//! Builds [`PackageTable`]s: columns with their effective config.

use super::{Column, Declared, Facts, Origin, PackageTable};
use crate::definitions::ReferenceKind;
use crate::package::Tool;

impl<'d> Facts<'d> {
    pub(super) fn read_tables(&self) -> Vec<PackageTable<'d>> {
        let mut tables: Vec<PackageTable<'d>> = Vec::new();
        let complete =
            self.steps_are_readable() && self.steps.iter().all(|step| self.has_home(step));
        for step in self
            .steps
            .iter()
            .filter(|step| step.tool == Some(Tool::CreateFeature))
        {
            if let Some(reference) = step.reference {
                tables.push(PackageTable {
                    reference,
                    origin: Origin::Plan,
                    complete,
                    columns: self.plan_columns(reference),
                });
            }
        }
        for dependency in self
            .dependencies
            .iter()
            .filter(|d| d.kind == Some("feature"))
        {
            if let Some(reference) = dependency.reference {
                let mut named = dependency.columns.iter();
                let columns = dependency
                    .columns
                    .iter()
                    .zip(1..)
                    .map(|(column, order)| Column {
                        name: column.node.get_str("name").unwrap_or_default(),
                        reference: column.reference,
                        kind: column
                            .node
                            .get_str("type")
                            .and_then(|name| self.definitions.column_types.get(name)),
                        component: column.node.get_str("defaultComponent").unwrap_or_default(),
                        config: None,
                        order: Some(order),
                    });
                tables.push(PackageTable {
                    reference,
                    origin: Origin::Dependency,
                    complete: dependency.columns_known
                        && named.all(|column| column.node.get_str("name").is_some()),
                    columns: columns.collect(),
                });
            }
        }
        tables
    }

    /// Whether it is known which table a step creates a column in, if it creates one.
    fn has_home(&self, step: &super::Step<'d>) -> bool {
        let table = || step.arg_ref("featureId").map(|table| self.kind_of(table));
        match step.tool {
            None => false,
            Some(Tool::CreateColumn) => {
                table() == Some(Declared::Kind(ReferenceKind::Feature))
                    && step.arg_str("name").is_some()
            }
            Some(_) => true,
        }
    }

    /// The columns that the plan creates in a table, in table order.
    fn plan_columns(&self, table: &str) -> Vec<Column<'d>> {
        let created = self.steps.iter().filter(|step| {
            step.tool == Some(Tool::CreateColumn) && step.arg_ref("featureId") == Some(table)
        });
        let mut columns: Vec<Column<'d>> = created.map(|step| self.plan_column(step)).collect();
        // Stable: ties and columns without an order stay as they were created.
        columns.sort_by_key(|column| column.order.unwrap_or(i64::MAX));
        columns
    }

    /// The columns that the plan creates in no table that is known.
    pub fn homeless_columns(&self) -> impl Iterator<Item = Column<'d>> {
        let created = |step: &&super::Step<'d>| step.tool == Some(Tool::CreateColumn);
        let parentless = (self.steps.iter())
            .filter(created)
            .filter(|step| !self.has_home(step));
        parentless.map(|step| self.plan_column(step))
    }

    fn plan_column(&self, step: &super::Step<'d>) -> Column<'d> {
        let type_name = step.arg_str("type").unwrap_or_default();
        Column {
            name: step.arg_str("name").unwrap_or_default(),
            reference: step.reference,
            kind: self.definitions.column_types.get(type_name),
            component: step.arg_str("defaultComponent").unwrap_or_default(),
            config: step
                .reference
                .and_then(|reference| self.last_update(Tool::UpdateColumn, reference))
                .or_else(|| step.arg("config"))
                .filter(|config| config.is_object()),
            order: step.arg("order").and_then(crate::json::Node::as_i64),
        }
    }

    /// The config of the last update step of that tool for that ref.
    fn last_update(&self, tool: Tool, reference: &str) -> Option<crate::json::Node<'d>> {
        let updates = |step: &&super::Step<'d>| {
            step.tool == Some(tool) && step.subject_ref() == Some(reference)
        };
        self.steps.iter().rfind(updates)?.arg("config")
    }

    /// The table that a column ref belongs to: `None` when that cannot be known.
    pub fn table_of_column(&self, reference: &str) -> Option<&'d str> {
        if let Some(index) = self.declaring_step(reference) {
            let step = &self.steps[index];
            return (step.tool == Some(Tool::CreateColumn))
                .then(|| step.arg_ref("featureId"))
                .flatten();
        }
        let outside = self.outside(reference)?;
        outside.column?;
        self.dependencies[outside.dependency].reference
    }

    /// The table that the configs of a step's subject belong to (`$feature`).
    pub fn owner_table(&self, step: &super::Step<'d>) -> Option<&'d str> {
        match step.tool? {
            Tool::CreateColumn | Tool::CreateView | Tool::UpdateFeature => {
                step.arg_ref("featureId")
            }
            Tool::CreateFeature => step.reference,
            Tool::UpdateColumn => self.table_of_column(step.arg_ref("columnId")?),
            Tool::UpdateView => {
                let created = self.declaring_step(step.arg_ref("viewId")?)?;
                self.steps[created].arg_ref("featureId")
            }
            _ => None,
        }
    }
}
