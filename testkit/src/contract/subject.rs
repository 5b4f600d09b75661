//! One workspace under test, with short ways to say what is done to it and what must be true.

use tplkit::json::{Object, Value};
use tplkit::problem::Code;
use tplkit::workspace::ledger::{Entry, RowDigest};
use tplkit::workspace::{
    Change, Column, CommitError, Feature, Id, New, Progress, Refused, Removal, RowData, RowWrite,
    StoredRow, Structure, Target, Unit, View,
};

use super::{CaseResult, Workspaces};
use crate::random::Dice;

/// A workspace under test.
pub(super) struct Subject<T> {
    pub(super) target: T,
    pub(super) dice: Dice,
}

/// What was expected, when it is not so.
pub(super) fn hold(fits: bool, message: impl FnOnce() -> String) -> CaseResult {
    if fits { Ok(()) } else { Err(message()) }
}

/// That two things are the same.
pub(super) fn same<T: PartialEq + std::fmt::Debug>(what: &str, is: &T, expected: &T) -> CaseResult {
    hold(is == expected, || {
        format!("{what} is {is:?} and should be {expected:?}")
    })
}

impl<T: Target + Send + Sync> Subject<T> {
    pub(super) async fn new<W: Workspaces<Target = T>>(workspaces: &W) -> Subject<T> {
        Subject {
            target: workspaces.fresh().await,
            dice: Dice::new(workspaces.seed()),
        }
    }

    /// An id greater than all before it.
    pub(super) fn id(&mut self) -> Id {
        self.dice.id()
    }

    /// Rows of these data, with ascending ids.
    pub(super) fn rows(&mut self, data: &[&str]) -> Vec<StoredRow> {
        let rows = data.iter().map(|data| row(self.dice.id(), data));
        rows.collect()
    }

    /// A table without columns.
    pub(super) fn feature(&mut self, name: &str) -> Feature {
        Feature {
            id: self.id(),
            name: name.to_owned(),
            label: name.to_uppercase(),
            config: Object::new(),
            is_shared: false,
            columns: Vec::new(),
            views: Vec::new(),
        }
    }

    /// A text column.
    pub(super) fn column(&mut self, name: &str, order: i64) -> Column {
        Column {
            id: self.id(),
            name: name.to_owned(),
            label: name.to_uppercase(),
            column_type: "text".to_owned(),
            default_component: "textfield".to_owned(),
            order,
            config: Object::new(),
        }
    }

    /// A table view.
    pub(super) fn view(&mut self, name: &str, order: i64) -> View {
        View {
            id: self.id(),
            name: name.to_owned(),
            label: name.to_uppercase(),
            view_type: "table".to_owned(),
            order,
            config: Object::new(),
        }
    }

    /// A table with these text columns, written; a star marks a unique one.
    pub(super) async fn table(&mut self, name: &str, columns: &[&str]) -> Result<Feature, String> {
        let mut feature = self.feature(name);
        let mut changes = vec![Change::Create(New::Feature(feature.clone()))];
        for (written, order) in columns.iter().zip(1..) {
            let mut column = self.column(written.trim_end_matches('*'), order);
            if written.ends_with('*') {
                column.config.insert("unique".to_owned(), true.into());
            }
            changes.push(Change::Create(New::Column {
                feature: feature.id,
                column: column.clone(),
            }));
            feature.columns.push(column);
        }
        self.write(changes).await?;
        Ok(feature)
    }

    /// Writes a unit that must be accepted.
    pub(super) async fn write(&mut self, changes: Vec<Change>) -> CaseResult {
        self.commit(changes, None).await
    }

    /// Writes a unit with its entry.
    pub(super) async fn commit(
        &mut self,
        changes: Vec<Change>,
        entry: Option<Entry>,
    ) -> CaseResult {
        let committed = self.target.commit(unit(changes, entry)).await;
        committed.map_err(|error| format!("a good unit was not written: {error}"))
    }

    /// Writes rows.
    pub(super) async fn insert(&mut self, feature: Id, data: &[&str]) -> Result<Vec<Id>, String> {
        let rows = self.rows(data);
        let ids = rows.iter().map(|row| row.id).collect();
        self.write(vec![Change::InsertRows { feature, rows }])
            .await?;
        Ok(ids)
    }

    /// Writes a unit that must be refused with that code, and hands the refusal out.
    pub(super) async fn refused(
        &mut self,
        code: Code,
        changes: Vec<Change>,
    ) -> Result<Refused, String> {
        let shown = format!("{changes:?}");
        let entry = Some(Entry::Completed);
        match self.target.commit(unit(changes, entry)).await {
            Err(CommitError::Refused(refused)) if refused.code == code => Ok(refused),
            Err(CommitError::Refused(refused)) => Err(format!(
                "refused with {} instead of {}: {shown}",
                refused.code.as_str(),
                code.as_str()
            )),
            Err(error) => Err(format!("failed instead of refusing: {error}: {shown}")),
            Ok(()) => Err(format!(
                "written instead of refused ({}): {shown}",
                code.as_str()
            )),
        }
    }

    pub(super) async fn structure(&self) -> Result<Structure, String> {
        let read = self.target.structure().await;
        read.map_err(|error| format!("the structure cannot be read: {error}"))
    }

    pub(super) async fn ledger(&self) -> Result<Vec<Entry>, String> {
        let read = self.target.ledger().await;
        read.map_err(|error| format!("the ledger cannot be read: {error}"))
    }

    pub(super) async fn page(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, String> {
        let read = self.target.rows(feature, after, limit).await;
        read.map_err(|error| format!("rows cannot be read: {error}"))
    }

    /// Ids and digests of all rows of a table.
    pub(super) async fn digests(&self, feature: Id) -> Result<Vec<(Id, RowDigest)>, String> {
        let rows = self.page(feature, None, 10_000).await?;
        let held = rows.iter().map(|row| (row.id, RowDigest::of(&row.data)));
        Ok(held.collect())
    }

    pub(super) async fn sequence(&self, feature: Id, column: Id) -> Result<u64, String> {
        let read = self.target.sequence(feature, column).await;
        let known = read.map_err(|error| format!("the sequence cannot be read: {error}"))?;
        known.ok_or_else(|| "the sequence is not known".to_owned())
    }
}

/// A unit of rows.
pub(super) fn unit(changes: Vec<Change>, entry: Option<Entry>) -> Unit {
    Unit {
        changes,
        entry,
        progress: Progress {
            phase: "rows",
            done: 1,
            total: 2,
        },
        report: None,
    }
}

pub(super) fn row(id: Id, data: &str) -> StoredRow {
    StoredRow {
        id,
        data: RowData::trusted(data),
    }
}

/// A write that leaves other cells alone.
pub(super) fn merge(id: Id, cells: &str) -> RowWrite {
    RowWrite {
        id,
        cells: RowData::trusted(cells),
        replace: false,
        digest: None,
    }
}

/// Rows that go, whatever they hold.
pub(super) fn removals(ids: &[Id]) -> Vec<Removal> {
    let removals = ids.iter().map(|id| Removal {
        id: *id,
        digest: None,
    });
    removals.collect()
}

pub(super) fn digest(data: &str) -> RowDigest {
    RowDigest::of(&RowData::trusted(data))
}

/// A config of one member.
pub(super) fn config(key: &str, value: impl Into<Value>) -> Value {
    Value::Object(Object::from_iter([(key.to_owned(), value.into())]))
}
