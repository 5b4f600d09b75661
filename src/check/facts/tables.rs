//! Builds [`PackageTable`]s: columns with their effective config.

use super::{Column, Declared, Facts, Origin, PackageTable, Step};
use crate::definitions::ReferenceKind;
use crate::json::Node;
use crate::maps::HashMap;
use crate::package::Tool;

/// By the ref of a column: the config of the last step that updates it.
type ColumnUpdates<'d> = HashMap<&'d str, Option<Node<'d>>>;

impl<'d> Facts<'d> {
    pub(super) fn read_tables(&self) -> Vec<PackageTable<'d>> {
        let mut tables: Vec<PackageTable<'d>> = Vec::new();
        let created = self.plan_columns();
        let complete =
            self.steps_are_readable() && self.steps.iter().all(|step| self.table_is_known(step));
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
                    columns: created.get(reference).cloned().unwrap_or_default(),
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
    fn table_is_known(&self, step: &Step<'d>) -> bool {
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

    /// The columns that the plan creates, by the ref of their table, in table order.
    fn plan_columns(&self) -> HashMap<&'d str, Vec<Column<'d>>> {
        let updates = self.column_updates();
        let mut columns: HashMap<&'d str, Vec<Column<'d>>> = HashMap::default();
        for step in self.steps_with(Tool::CreateColumn) {
            if let Some(table) = step.arg_ref("featureId") {
                let column = self.plan_column(step, &updates);
                columns.entry(table).or_default().push(column);
            }
        }
        for columns in columns.values_mut() {
            // Stable: ties and columns without an order stay as they were created.
            columns.sort_by_key(|column| column.order.unwrap_or(i64::MAX));
        }
        columns
    }

    /// The columns that the plan creates in no table that is known.
    pub fn columns_of_no_table(&self) -> Vec<Column<'d>> {
        let updates = self.column_updates();
        self.steps_with(Tool::CreateColumn)
            .filter(|step| !self.table_is_known(step))
            .map(|step| self.plan_column(step, &updates))
            .collect()
    }

    fn plan_column(&self, step: &Step<'d>, updates: &ColumnUpdates<'d>) -> Column<'d> {
        let type_name = step.arg_str("type").unwrap_or_default();
        Column {
            name: step.arg_str("name").unwrap_or_default(),
            reference: step.reference,
            kind: self.definitions.column_types.get(type_name),
            component: step.arg_str("defaultComponent").unwrap_or_default(),
            config: step
                .reference
                .and_then(|reference| updates.get(reference).copied().flatten())
                .or_else(|| step.arg("config"))
                .filter(|config| config.is_object()),
            order: step.arg("order").and_then(Node::as_i64),
        }
    }

    fn column_updates(&self) -> ColumnUpdates<'d> {
        // Of several updates of one column the last one stays.
        self.steps_with(Tool::UpdateColumn)
            .filter_map(|step| Some((step.subject_ref()?, step.arg("config"))))
            .collect()
    }

    fn steps_with(&self, tool: Tool) -> impl Iterator<Item = &Step<'d>> {
        (self.steps.iter()).filter(move |step| step.tool == Some(tool))
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
    pub fn owner_table(&self, step: &Step<'d>) -> Option<&'d str> {
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
