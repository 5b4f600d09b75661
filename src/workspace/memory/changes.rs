//! Writes a unit change by change, and rolls back when one of them is refused.

use std::collections::BTreeMap;

use super::drafts;
use super::records::{feature_mut, features_mut, missing, objects, refused};
use super::state::DraftVersion;
use super::table::{MemoryTable, NotAdded, RepeatedValue};
use super::update;
use super::{State, Tables};
use crate::json::{Object, Value};
use crate::problem::Code;
use crate::workspace::ledger::RowDigest;
use crate::workspace::{
    AnyRecord, Automation, Change, Column, Id, KeptRow, New, RecordKind, Refused, Removal,
    RowWrite, StoredRow, Structure, Workspace,
};

/// Drafts of automations, by the ids of their versions.
type Drafts = BTreeMap<Id, DraftVersion>;

/// How to take a change back.
enum Inverse {
    Structure(Box<(Structure, Vec<Workspace>, Drafts)>),
    Inserted(Id, Vec<Id>),
    Replaced(Id, Vec<StoredRow>),
    Removed(Id, Vec<StoredRow>),
    Table(Id, MemoryTable),
    Sequence(Id, u64),
}

/// Writes all changes or none.
pub(super) fn write(
    state: &mut State,
    tables: &mut Tables,
    row_quota: Option<u64>,
    changes: Vec<Change>,
) -> Result<(), Refused> {
    let mut unit = UnitChanges {
        state,
        tables,
        row_quota,
        inverses: Vec::new(),
        structure_kept: false,
    };
    for change in changes {
        if let Err(refused) = unit.change(change) {
            unit.take_back();
            return Err(refused);
        }
    }
    Ok(())
}

struct UnitChanges<'m> {
    state: &'m mut State,
    tables: &'m mut Tables,
    row_quota: Option<u64>,
    inverses: Vec<Inverse>,
    structure_kept: bool,
}

impl UnitChanges<'_> {
    fn take_back(self) {
        for inverse in self.inverses.into_iter().rev() {
            match inverse {
                Inverse::Structure(kept) => {
                    let state = &mut *self.state;
                    (state.structure, state.other_workspaces, state.drafts) = *kept;
                }
                Inverse::Inserted(feature, ids) => {
                    self.tables.entry(feature).or_default().remove(&ids);
                }
                Inverse::Replaced(feature, rows) => {
                    let table = self.tables.entry(feature).or_default();
                    table.replace(rows, |_| true);
                }
                Inverse::Removed(feature, rows) => {
                    // They were there before, so their ids are free.
                    let _ = self.tables.entry(feature).or_default().insert(&[], rows);
                }
                Inverse::Table(feature, table) => {
                    self.tables.insert(feature, table);
                }
                Inverse::Sequence(column, next) => self.state.set_sequence(column, next),
            }
        }
    }

    /// Structures are small and rarely changed: a copy is the simplest way back.
    fn keep_structure(&mut self) {
        if !self.structure_kept {
            self.structure_kept = true;
            let kept = (
                self.state.structure.clone(),
                self.state.other_workspaces.clone(),
                self.state.drafts.clone(),
            );
            self.inverses.push(Inverse::Structure(Box::new(kept)));
        }
    }

    fn change(&mut self, change: Change) -> Result<(), Refused> {
        match change {
            Change::Create(new) => {
                self.keep_structure();
                self.create(new)
            }
            Change::Configure { kind, id, config } => self.configure(kind, id, config),
            Change::Restore {
                kind,
                id,
                current,
                config,
            } => {
                if config_of(self.state, kind, id).as_ref() == Some(&current) {
                    return self.configure(kind, id, config);
                }
                Ok(())
            }
            Change::Update { from, to } => {
                self.keep_structure();
                self.check_repeated(&from, &to)?;
                update::update(&mut self.state.structure, &from, *to)
            }
            Change::CheckOrder {
                kind,
                parent,
                order,
            } => {
                let stand = AnyRecord::siblings(&self.state.structure, kind, parent);
                if !stand.iter().map(|one| one.id).eq(order) {
                    let message = format!("the order of the {}s has changed", kind.noun());
                    return Err(refused(Code::Conflict, message));
                }
                Ok(())
            }
            Change::CheckRecord { stands } => {
                update::check(&self.state.structure, &stands)?;
                drafts::check_none(self.state, &stands)
            }
            Change::Draft { version, from, to } => {
                self.keep_structure();
                drafts::begin(self.state, version, &from, *to)
            }
            Change::PublishDraft { workflow, version } => {
                self.keep_structure();
                drafts::publish(self.state, workflow, version)
            }
            Change::RemoveDraft {
                workflow,
                version,
                published,
            } => {
                self.keep_structure();
                let published = published.map(|published| *published);
                drafts::remove(self.state, workflow, version, published)
            }
            Change::InsertRows { feature, rows } => self.insert_rows(feature, rows),
            Change::UpdateRows { feature, rows } => self.update_rows(feature, &rows),
            Change::PutRows { feature, rows } => {
                let rows = rows
                    .into_iter()
                    .map(|KeptRow { id, data, .. }| StoredRow { id, data });
                self.insert_rows(feature, rows.collect())
            }
            Change::MoveSequence {
                feature,
                column,
                from,
                to,
            } => {
                let table = feature_mut(&mut self.state.structure, feature)?;
                let found = table.column(column);
                found.ok_or_else(|| missing(RecordKind::Column, column))?;
                let stands = self.state.sequence(column);
                if stands != from {
                    let message = format!("the sequence stands at {stands}, not at {from}");
                    return Err(refused(Code::Conflict, message));
                }
                self.move_sequence(column, to);
                Ok(())
            }
            Change::RewindSequence {
                column, from, to, ..
            } => {
                if self.state.sequence(column) == from {
                    self.move_sequence(column, to);
                }
                Ok(())
            }
            Change::Publish { workflow } => {
                self.keep_structure();
                let automations = &mut self.state.structure.automations;
                let found = automations.iter_mut().find(|found| found.id == workflow);
                let found = found.ok_or_else(|| missing(RecordKind::Workflow, workflow))?;
                found.active = true;
                found.draft = false;
                Ok(())
            }
            Change::Remove { kind, id, force } => self.remove(kind, id, force),
            Change::RemoveRows { feature, rows } => self.remove_rows(feature, &rows),
        }
    }

    /// A column does not become unique over values that stand twice.
    fn check_repeated(&self, from: &AnyRecord, to: &AnyRecord) -> Result<(), Refused> {
        let column = to.as_column().filter(Column::is_unique);
        let was = from.as_column().is_some_and(|column| column.is_unique());
        let (Some(column), Some(feature), false) = (column, to.parent, was) else {
            return Ok(());
        };
        let table = self.tables.get(&feature);
        if table.is_some_and(|table| table.repeats(&column.name)) {
            let message = format!("values stand twice in the column {:?}", column.name);
            return Err(Refused {
                column: Some(column.name),
                ..refused(Code::UniqueViolation, message)
            });
        }
        Ok(())
    }

    fn move_sequence(&mut self, column: Id, to: u64) {
        let before = self.state.sequence(column);
        self.inverses.push(Inverse::Sequence(column, before));
        self.state.set_sequence(column, to);
    }

    fn create(&mut self, new: New) -> Result<(), Refused> {
        let structure = &mut self.state.structure;
        match new {
            New::Workspace { id, name, label } => self.state.other_workspaces.push(Workspace {
                id,
                name,
                label,
                config: Object::new(),
            }),
            New::Feature(feature) => {
                free(
                    structure.features.iter().map(|other| &other.name),
                    &feature.name,
                )?;
                structure.features.push(feature);
            }
            New::Column { feature, column } => {
                let table = feature_mut(structure, feature)?;
                free(table.columns.iter().map(|other| &other.name), &column.name)?;
                table.columns.push(column);
                table
                    .columns
                    .sort_by_key(|column| (column.order, column.id));
            }
            New::View { feature, view } => {
                let table = feature_mut(structure, feature)?;
                free(table.views.iter().map(|other| &other.name), &view.name)?;
                table.views.push(view);
                table.views.sort_by_key(|view| (view.order, view.id));
            }
            New::Workflow(automation) => structure.automations.push(automation),
            New::Module(module) => {
                free(
                    structure.modules.iter().map(|other| &other.name),
                    &module.name,
                )?;
                structure.modules.push(module);
                structure
                    .modules
                    .sort_by_key(|module| (module.order, module.id));
            }
            New::Rail { module, rail } => {
                let mut modules = structure.modules.iter_mut();
                let parent = modules.find(|parent| parent.id == module);
                let parent = parent.ok_or_else(|| missing(RecordKind::Module, module))?;
                free(parent.rails.iter().map(|other| &other.name), &rail.name)?;
                parent.rails.push(rail);
                parent.rails.sort_by_key(|rail| (rail.order, rail.id));
            }
        }
        Ok(())
    }

    fn configure(&mut self, kind: RecordKind, id: Id, config: Value) -> Result<(), Refused> {
        self.keep_structure();
        let structure = &mut self.state.structure;
        let slot = match kind {
            RecordKind::Workspace => {
                let workspace = &mut structure.workspace;
                (workspace.id == id).then_some(&mut workspace.config)
            }
            RecordKind::Feature => feature_mut(structure, id)
                .ok()
                .map(|found| &mut found.config),
            RecordKind::Column => {
                let mut columns = features_mut(structure).flat_map(|f| &mut f.columns);
                let found = columns.find(|found| found.id == id);
                found.map(|found| &mut found.config)
            }
            RecordKind::View => {
                let mut views = features_mut(structure).flat_map(|f| &mut f.views);
                let found = views.find(|found| found.id == id);
                found.map(|found| &mut found.config)
            }
            RecordKind::Module => {
                let found = structure.modules.iter_mut().find(|found| found.id == id);
                found.map(|found| &mut found.config)
            }
            RecordKind::Rail => {
                let mut rails = structure.modules.iter_mut().flat_map(|m| &mut m.rails);
                let rail = rails.find(|found| found.id == id);
                let rail = rail.ok_or_else(|| missing(kind, id))?;
                rail.config = objects(config);
                return Ok(());
            }
            RecordKind::Workflow => {
                let found = structure
                    .automations
                    .iter_mut()
                    .find(|found| found.id == id);
                let found = found.ok_or_else(|| missing(kind, id))?;
                let part = |key: &str| match config.as_object().and_then(|both| both.get(key)) {
                    Some(Value::Object(part)) => part.clone(),
                    _ => Object::new(),
                };
                found.trigger_config = part("triggerConfig");
                found.graph_config = part("graphConfig");
                return Ok(());
            }
        };
        *slot.ok_or_else(|| missing(kind, id))? =
            objects(config).into_iter().next().unwrap_or_default();
        Ok(())
    }

    fn insert_rows(&mut self, feature: Id, rows: Vec<StoredRow>) -> Result<(), Refused> {
        let unique = unique_columns(&mut self.state.structure, feature)?;
        let written = self.tables.values().map(|table| table.rows().len() as u64);
        let wanted = written.sum::<u64>() + rows.len() as u64;
        if !rows.is_empty() && self.row_quota.is_some_and(|quota| wanted > quota) {
            let message = "the organization has as many rows as it may have";
            return Err(refused(Code::QuotaExceeded, message));
        }
        let table = self.tables.entry(feature).or_default();
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        let added = table.insert(&unique, rows);
        added.map_err(|why| match why {
            NotAdded::Repeated(repeated) => violation(repeated),
            NotAdded::Id(id) => refused(Code::Conflict, format!("there is a row {id} already")),
        })?;
        self.inverses.push(Inverse::Inserted(feature, ids));
        Ok(())
    }

    fn update_rows(&mut self, feature: Id, writes: &[RowWrite]) -> Result<(), Refused> {
        let mut unique = unique_columns(&mut self.state.structure, feature)?;
        let touched = |column: &str| {
            let mut writes = writes.iter();
            writes.any(|write| write.replace || write.cells.cell(column).is_some())
        };
        unique.retain(|column| touched(column));
        let table = self.tables.entry(feature).or_default();
        let mut rows = Vec::with_capacity(writes.len());
        for (position, write) in writes.iter().enumerate() {
            let Some(row) = table.get(write.id) else {
                return Err(Refused {
                    row: Some(position),
                    ..refused(Code::NotFound, format!("there is no row {}", write.id))
                });
            };
            if write
                .digest
                .is_some_and(|digest| RowDigest::of(&row.data) != digest)
            {
                return Err(edited(position, write.id));
            }
            rows.push(StoredRow {
                id: write.id,
                data: row.data.written(&write.cells, write.replace),
            });
        }
        table.free(&unique, &rows).map_err(violation)?;
        let before = table.replace(rows, touched);
        self.inverses.push(Inverse::Replaced(feature, before));
        Ok(())
    }

    fn remove_rows(&mut self, feature: Id, rows: &[Removal]) -> Result<(), Refused> {
        let table = self.tables.entry(feature).or_default();
        for (position, removal) in rows.iter().enumerate() {
            let (Some(digest), Some(row)) = (removal.digest, table.get(removal.id)) else {
                continue;
            };
            if RowDigest::of(&row.data) != digest {
                return Err(edited(position, removal.id));
            }
        }
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        let gone = table.remove(&ids);
        self.inverses.push(Inverse::Removed(feature, gone));
        Ok(())
    }

    fn remove(&mut self, kind: RecordKind, id: Id, force: bool) -> Result<(), Refused> {
        self.keep_structure();
        let structure = &mut self.state.structure;
        match kind {
            RecordKind::Workspace => self.state.other_workspaces.retain(|other| other.id != id),
            RecordKind::Feature => {
                let full = self
                    .tables
                    .get(&id)
                    .is_some_and(|table| !table.rows().is_empty());
                if full && !force {
                    let message = format!("table {id} holds rows that the job did not write");
                    return Err(refused(Code::NotEmpty, message));
                }
                for feature in structure.features.iter().filter(|found| found.id == id) {
                    for column in &feature.columns {
                        let before = self.state.sequences.remove(&column.id);
                        self.inverses
                            .extend(before.map(|next| Inverse::Sequence(column.id, next)));
                    }
                }
                structure.features.retain(|found| found.id != id);
                let table = self.tables.remove(&id);
                self.inverses
                    .extend(table.map(|table| Inverse::Table(id, table)));
            }
            RecordKind::Column => {
                for feature in features_mut(structure) {
                    feature.columns.retain(|found| found.id != id);
                }
                self.move_sequence(id, 1);
            }
            RecordKind::View => {
                for feature in features_mut(structure) {
                    feature.views.retain(|found| found.id != id);
                }
            }
            RecordKind::Workflow => {
                structure.automations.retain(|found| found.id != id);
                self.state.drafts.retain(|_, draft| draft.record.id != id);
            }
            RecordKind::Module => structure.modules.retain(|found| found.id != id),
            RecordKind::Rail => {
                for module in &mut structure.modules {
                    module.rails.retain(|found| found.id != id);
                }
            }
        }
        Ok(())
    }
}

fn free<'n>(mut names: impl Iterator<Item = &'n String>, name: &str) -> Result<(), Refused> {
    if names.any(|taken| taken == name) {
        return Err(refused(
            Code::Conflict,
            format!("the name {name:?} is taken"),
        ));
    }
    Ok(())
}

fn unique_columns(structure: &mut Structure, feature: Id) -> Result<Vec<String>, Refused> {
    let columns = &feature_mut(structure, feature)?.columns;
    let unique = columns.iter().filter(|column| column.is_unique());
    Ok(unique.map(|column| column.name.clone()).collect())
}

fn edited(position: usize, row: Id) -> Refused {
    Refused {
        row: Some(position),
        ..refused(
            Code::NotEmpty,
            format!("row {row} was edited since it was written"),
        )
    }
}

fn violation(repeated: RepeatedValue) -> Refused {
    Refused::repeated(repeated.position, repeated.column)
}

fn config_of(state: &State, kind: RecordKind, id: Id) -> Option<Value> {
    let structure = &state.structure;
    let features = || structure.features.iter().chain(&structure.shared);
    let object = match kind {
        RecordKind::Workspace => {
            let workspace = &structure.workspace;
            (workspace.id == id).then_some(&workspace.config)
        }
        RecordKind::Feature => structure.feature(id).map(|found| &found.config),
        RecordKind::Column => {
            let mut columns = features().flat_map(|feature| &feature.columns);
            let found = columns.find(|found| found.id == id);
            found.map(|found| &found.config)
        }
        RecordKind::View => {
            let mut views = features().flat_map(|feature| &feature.views);
            let found = views.find(|found| found.id == id);
            found.map(|found| &found.config)
        }
        RecordKind::Module => {
            let found = structure.modules.iter().find(|found| found.id == id);
            found.map(|found| &found.config)
        }
        RecordKind::Rail => {
            let mut rails = structure.modules.iter().flat_map(|module| &module.rails);
            let rail = rails.find(|found| found.id == id)?;
            let list = rail.config.iter().cloned().map(Value::Object);
            return Some(Value::List(list.collect()));
        }
        RecordKind::Workflow => {
            let found = structure.automations.iter().find(|found| found.id == id);
            return found.map(Automation::config);
        }
    };
    object.cloned().map(Value::Object)
}
