//! A unit that is being written: its transaction, and where, when and for whom it is written.

use std::collections::HashMap;
use std::sync::Arc;

use tplkit::workspace::Id;

use super::UnitError;
use super::file_uses::FileUses;
use crate::context::Context;
use crate::model::import::NewTable;
use crate::rows::{OpenTable, Tables};
use crate::store::Tx;

/// Where, when and for whom a unit is written.
#[derive(Debug, Clone)]
pub(crate) struct UnitContext {
    /// Whose the workspace is.
    pub(crate) organization: Id,
    /// Where records are created.
    pub(crate) workspace: Id,
    /// To whom rows belong.
    pub(crate) creator: Option<Id>,
    /// Microseconds.
    pub(crate) now: i64,
    /// What becomes of uses of files that end.
    pub(crate) file_uses: FileUses,
    /// Ids that nobody has decided.
    pub(crate) context: Context,
    /// The shape of tables that were read before.
    pub(crate) tables: Tables,
}

/// A unit that is being written.
pub(super) struct UnitTransaction<'w> {
    pub(super) tx: &'w mut Tx,
    pub(super) here: &'w UnitContext,
    /// Whether no table changes in this unit, so that what is seen of tables may be remembered.
    pub(super) rows_alone: bool,
    /// Whether the workspace is locked.
    pub(super) held: bool,
    /// Tables that this unit has made.
    pub(super) fresh: HashMap<Id, NewTable>,
    pub(super) opened: HashMap<Id, Arc<OpenTable>>,
}

impl UnitTransaction<'_> {
    /// A table whose rows are written; it stays as it is.
    pub(super) async fn open(&mut self, feature: Id) -> Result<Option<Arc<OpenTable>>, UnitError> {
        if let Some(opened) = self.opened.get(&feature) {
            return Ok(Some(opened.clone()));
        }
        let opened = if self.rows_alone {
            self.here.tables.open(self.tx, feature).await?
        } else {
            Tables::unkept(self.tx, feature).await?
        };
        let opened = opened.map(Arc::new);
        if let Some(opened) = &opened {
            self.opened.insert(feature, opened.clone());
        }
        Ok(opened)
    }
}
