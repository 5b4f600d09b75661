//! Replaces and restores configs, and removes records.

use tplkit::json::Value as Json;
use tplkit::problem::Code;
use tplkit::workspace::{AnyRecord, Id, RecordKind};

use super::error::{missing, refused};
use super::records::of;
use super::unit_transaction::UnitTransaction;
use super::{UnitError, automations};
use crate::model::find::siblings;
use crate::model::import::{amend, config, configure, stored, take_away};

impl UnitTransaction<'_> {
    pub(super) async fn configure(
        &mut self,
        kind: RecordKind,
        id: Id,
        given: &Json,
    ) -> Result<(), UnitError> {
        let Some(model) = of(kind) else {
            return automations::configure(self.tx, self.here, id, given).await;
        };
        if !configure(self.tx, model, id, given, self.here.now).await? {
            return Err(missing(kind, id));
        }
        Ok(())
    }

    /// Changes what differs between two forms of a record.
    pub(super) async fn amend(
        &mut self,
        from: &AnyRecord,
        to: &AnyRecord,
    ) -> Result<(), UnitError> {
        let Some(model) = of(from.kind) else {
            return automations::amend(self.tx, self.here, from, to).await;
        };
        self.keep_uses_before(from, to).await?;
        if !amend(self.tx, model, from, to, self.here.now).await? {
            return Err(missing(from.kind, from.id));
        }
        Ok(())
    }

    /// Keeps a record from others, where it still is what was seen.
    pub(super) async fn check_record(&mut self, seen: &AnyRecord) -> Result<(), UnitError> {
        let stands = match of(seen.kind) {
            Some(model) => stored(self.tx, model, seen).await?,
            None => automations::paused(self.tx, self.here, seen).await?,
        };
        match stands {
            Some(stands) if stands.is_still(seen) => Ok(()),
            Some(_) => {
                let detail = format!("the {} {:?} has changed", seen.kind.noun(), seen.name);
                Err(refused(Code::Conflict, detail).into())
            }
            None => Err(missing(seen.kind, seen.id)),
        }
    }

    /// Keeps the order of siblings from others, where it still is the one that was seen.
    pub(super) async fn check_order(
        &mut self,
        kind: RecordKind,
        parent: Option<Id>,
        order: &[Id],
    ) -> Result<(), UnitError> {
        let Some(model) = of(kind) else {
            return Ok(());
        };
        let parent = parent.unwrap_or(self.here.workspace);
        if siblings(self.tx, model, self.here.organization, parent).await? != order {
            let detail = format!("the order of the {}s has changed", kind.noun());
            return Err(refused(Code::Conflict, detail).into());
        }
        Ok(())
    }

    /// Replaces a config that is still what the job wrote.
    pub(super) async fn restore(
        &mut self,
        kind: RecordKind,
        id: Id,
        current: &Json,
        before: &Json,
    ) -> Result<(), UnitError> {
        let stands = match of(kind) {
            Some(model) => config(self.tx, model, id).await?,
            None => automations::config(self.tx, self.here, id).await?,
        };
        if stands.as_ref() == Some(current) {
            return self.configure(kind, id, before).await;
        }
        Ok(())
    }

    pub(super) async fn remove(
        &mut self,
        kind: RecordKind,
        id: Id,
        force: bool,
    ) -> Result<(), UnitError> {
        let Some(model) = of(kind) else {
            return automations::remove(self.tx, self.here, id).await;
        };
        if kind == RecordKind::Workspace && id == self.here.workspace {
            let detail = "a job does not take away the workspace that it works in";
            return Err(refused(Code::Conflict, detail).into());
        }
        self.fresh.remove(&id);
        self.keep_uses_of(kind, id).await?;
        Ok(take_away(self.tx, model, id, force, self.here.now).await?)
    }
}
