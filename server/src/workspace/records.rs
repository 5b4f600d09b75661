//! Creates the records of a unit.

use tplkit::json::{Object, Value as Json};
use tplkit::workspace::{Column, Feature, Id, Module, New, Rail, RecordKind, View};

use super::error::missing;
use super::file_uses::FileUses;
use super::unit_transaction::UnitTransaction;
use super::{UnitError, automations};
use crate::automation::watch_again;
use crate::model::find;
use crate::model::import::{ImportedRecord, NewTable, put};
use crate::model::kind::{COLUMN, FEATURE, MODULE, RAIL, VIEW, WORKSPACE};
use crate::model::{self, kind};
use crate::refusal::{Code, Refusal};
use crate::store::Value;

/// The kind of records as the model knows it; automations are none of its.
pub(super) fn of(kind: RecordKind) -> Option<&'static kind::KindDescription> {
    match kind {
        RecordKind::Workspace => Some(&WORKSPACE),
        RecordKind::Feature => Some(&FEATURE),
        RecordKind::Column => Some(&COLUMN),
        RecordKind::View => Some(&VIEW),
        RecordKind::Module => Some(&MODULE),
        RecordKind::Rail => Some(&RAIL),
        RecordKind::Workflow => None,
    }
}

/// The id and the names of a record.
#[derive(Clone, Copy)]
struct NamedRecord<'n> {
    id: Id,
    name: &'n str,
    label: &'n str,
}

impl UnitTransaction<'_> {
    pub(super) async fn create(&mut self, new: &New) -> Result<(), UnitError> {
        match new {
            New::Workspace { id, name, label } => {
                let new = self.brought(
                    &WORKSPACE,
                    vec![self.here.organization],
                    NamedRecord {
                        id: *id,
                        name,
                        label,
                    },
                    Object::new().into(),
                    vec![("access", "organization".into())],
                );
                Ok(put(self.tx, new, None).await?)
            }
            New::Feature(feature) => self.feature(feature).await,
            New::Column { feature, column } => self.column(*feature, column).await,
            New::View { feature, view } => self.view(*feature, view).await,
            New::Workflow(automation) => {
                self.hold_workspace().await?;
                automations::create(self.tx, self.here, automation).await
            }
            New::Module(module) => self.module(module).await,
            New::Rail { module, rail } => self.rail(*module, rail).await,
        }
    }

    async fn feature(&mut self, feature: &Feature) -> Result<(), UnitError> {
        self.hold_workspace().await?;
        let new = self.brought(
            &FEATURE,
            self.within(),
            NamedRecord {
                id: feature.id,
                name: &feature.name,
                label: &feature.label,
            },
            feature.config.clone().into(),
            vec![("is_shared", feature.is_shared.into())],
        );
        put(self.tx, new, None).await?;
        self.fresh.insert(feature.id, NewTable::default());
        // An undo alone brings a table back under the id that automations of people watch.
        if matches!(self.here.file_uses, FileUses::GiveBack(_)) {
            let here = self.here;
            watch_again(self.tx, here.organization, feature.id, here.now).await?;
        }
        Ok(())
    }

    async fn column(&mut self, feature: Id, column: &Column) -> Result<(), UnitError> {
        let within = self.within_feature(feature).await?;
        let own: Vec<(&'static str, Value)> = vec![
            ("type", column.column_type.as_str().into()),
            (
                "default_component",
                column.default_component.as_str().into(),
            ),
            ("position", column.order.into()),
        ];
        let new = self.brought(
            &COLUMN,
            within,
            NamedRecord {
                id: column.id,
                name: &column.name,
                label: &column.label,
            },
            column.config.clone().into(),
            own,
        );
        Ok(put(self.tx, new, self.fresh.get_mut(&feature)).await?)
    }

    async fn view(&mut self, feature: Id, view: &View) -> Result<(), UnitError> {
        let within = self.within_feature(feature).await?;
        // It may give slots to columns.
        self.fresh.remove(&feature);
        let own: Vec<(&'static str, Value)> = vec![
            ("type", view.view_type.as_str().into()),
            ("position", view.order.into()),
        ];
        let new = self.brought(
            &VIEW,
            within,
            NamedRecord {
                id: view.id,
                name: &view.name,
                label: &view.label,
            },
            view.config.clone().into(),
            own,
        );
        Ok(put(self.tx, new, None).await?)
    }

    async fn module(&mut self, module: &Module) -> Result<(), UnitError> {
        self.hold_workspace().await?;
        let own: Vec<(&'static str, Value)> = vec![
            ("icon", module.icon.clone().into()),
            ("position", module.order.into()),
        ];
        let new = self.brought(
            &MODULE,
            self.within(),
            NamedRecord {
                id: module.id,
                name: &module.name,
                label: &module.label,
            },
            module.config.clone().into(),
            own,
        );
        Ok(put(self.tx, new, None).await?)
    }

    async fn rail(&mut self, module: Id, rail: &Rail) -> Result<(), UnitError> {
        let parent = self.parent(&MODULE, RecordKind::Module, module).await?;
        let config = rail.config.iter().cloned().map(Json::Object);
        let new = self.brought(
            &RAIL,
            parent,
            NamedRecord {
                id: rail.id,
                name: &rail.name,
                label: &rail.label,
            },
            Json::List(config.collect()),
            vec![("position", rail.order.into())],
        );
        Ok(put(self.tx, new, None).await?)
    }

    fn within(&self) -> Vec<Id> {
        vec![self.here.organization, self.here.workspace]
    }

    fn brought(
        &self,
        kind: &'static kind::KindDescription,
        within: Vec<Id>,
        named: NamedRecord<'_>,
        config: Json,
        own: Vec<(&'static str, Value)>,
    ) -> ImportedRecord {
        ImportedRecord {
            kind,
            within,
            id: named.id,
            name: named.name.to_owned(),
            label: named.label.to_owned(),
            config,
            own,
            now: self.here.now,
        }
    }

    /// What lies in a table lies in these.
    async fn within_feature(&mut self, feature: Id) -> Result<Vec<Id>, UnitError> {
        if self.fresh.contains_key(&feature) {
            let mut within = self.within();
            within.push(feature);
            return Ok(within);
        }
        self.parent(&FEATURE, RecordKind::Feature, feature).await
    }

    /// What lies in a record lies in these; it stays as it is until the transaction ends.
    async fn parent(
        &mut self,
        kind: &'static kind::KindDescription,
        word: RecordKind,
        id: Id,
    ) -> Result<Vec<Id>, UnitError> {
        let found = find::lock(self.tx, kind, id).await;
        let parent: model::Record = found.map_err(|refusal| gone(refusal, word, id))?;
        let mut within = parent.within.clone();
        within.push(parent.id);
        Ok(within)
    }

    /// The workspace stays until the transaction ends.
    async fn hold_workspace(&mut self) -> Result<(), UnitError> {
        if !self.held {
            let id = self.here.workspace;
            let found = find::lock(self.tx, &WORKSPACE, id).await;
            found.map_err(|refusal| gone(refusal, RecordKind::Workspace, id))?;
            self.held = true;
        }
        Ok(())
    }
}

fn gone(refusal: Refusal, kind: RecordKind, id: Id) -> UnitError {
    match refusal.code {
        Code::NotFound => missing(kind, id),
        _ => refusal.into(),
    }
}
