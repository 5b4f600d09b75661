//! A table for readers and writers of its rows: its workspace and its columns.
//!
//! It is immutable: a changed table has a new `version` and is read again.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value as Json};
use tplkit::rows::{Identity, Rule};
use tplkit::workspace;
use uuid::Uuid;

use super::subscription::Subscription;
use crate::store::{BulkInsert, EachStatement, Row, RowValue, StoreError, Tx};

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Whose it is.
    pub organization: Uuid,
    /// Where it is.
    pub workspace: Uuid,
    /// The feature.
    pub id: Uuid,
    /// Goes up with every change of what is here.
    pub version: i64,
    /// Whether editors and viewers see the rows that they created, and no others.
    pub own_rows: bool,
    /// The automations that wait for what happens to its rows.
    pub watchers: Vec<Subscription>,
    /// Its columns, in display order.
    pub columns: Vec<Column>,
    /// Positions of the columns in the order of their names.
    pub(super) by_name: Vec<usize>,
    /// Positions of the columns that have a slot, in the order of the slots.
    pub(super) slotted: Vec<usize>,
    /// Of each column its position among those.
    pub(super) slot_of: Vec<Option<usize>>,
    /// The statement that inserts rows with these slots.
    pub(super) insert: BulkInsert,
    /// The statement that replaces rows with these slots.
    update: EachStatement,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its row: id, names, type, config.
    pub definition: workspace::Column,
    /// What it asks of its cells.
    pub rule: Rule<'static>,
    /// Whether it orders as numbers do.
    pub is_number: bool,
    /// Whether no two rows hold the same value.
    pub is_unique: bool,
    /// Where its cells stand once more, sorted.
    pub slot: Option<Slot>,
    /// Whether what its cells contain is in an index.
    pub search: SearchIndex,
}

/// The index of what the cells of a column contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchIndex {
    /// There is none.
    None,
    /// It lacks rows that were there before it.
    Unready,
    /// It has every row.
    Ready,
}

/// One of the slots of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// 1 to 16: `s1` to `s16`.
    pub number: i64,
    /// Whether every row has it filled.
    pub ready: bool,
    /// Whether some cell was too long for it.
    pub long: bool,
}

impl Slot {
    /// Whether queries may use it.
    pub fn is_usable(self) -> bool {
        self.ready && !self.long
    }
}

impl Column {
    fn read(row: &Row, definitions: &Definitions) -> Result<Column, StoreError> {
        let config: String = row.get(6)?;
        let definition = workspace::Column {
            id: row.get(0)?,
            name: row.get(1)?,
            label: row.get(2)?,
            column_type: row.get(3)?,
            default_component: row.get(4)?,
            order: row.get(5)?,
            config: match Json::parse(&config) {
                Ok(Json::Object(config)) => config,
                _ => Object::new(),
            },
        };
        let slot: Option<i64> = row.get(8)?;
        let (ready, long) = (row.get(9)?, row.get(10)?);
        let kind = definitions.column_types.get(&definition.column_type);
        Ok(Column {
            rule: Rule::of(&definition, definitions).into_owned(),
            is_number: kind.is_some_and(|kind| kind.storage.is_number()),
            is_unique: row.get(7)?,
            slot: slot.map(|number| Slot {
                number,
                ready,
                long,
            }),
            search: match (row.get(11)?, row.get(12)?) {
                (false, _) => SearchIndex::None,
                (true, false) => SearchIndex::Unready,
                (true, true) => SearchIndex::Ready,
            },
            definition,
        })
    }

    /// The technical name: the key in row data.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Whether writers keep what its cells contain in an index.
    pub fn is_searched(&self) -> bool {
        self.search != SearchIndex::None
    }

    /// Whether an empty cell gets the next number.
    pub fn is_sequence(&self) -> bool {
        self.rule.identity == Some(Identity::Sequence)
    }
}

/// A table without its columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) organization: Uuid,
    pub(super) workspace: Uuid,
    pub(super) id: Uuid,
    pub(super) version: i64,
    pub(super) own_rows: bool,
}

impl Table {
    /// Reads the columns of a table whose head was read in the same transaction.
    pub(super) async fn load(tx: &mut Tx, head: Head) -> Result<Table, StoreError> {
        let sql = "SELECT id, name, label, type, default_component, position, config, is_unique, \
             slot, slot_ready, slot_long, is_searched, search_ready FROM columns WHERE {tenant organization_id} \
             AND {workspace workspace_id} AND organization_id = $1 AND feature_id = $2 \
             ORDER BY position, id";
        let rows = tx
            .query(sql, &[head.organization.into(), head.id.into()])
            .await?;
        let definitions = Definitions::embedded();
        let columns = rows.iter().map(|row| Column::read(row, definitions));
        let mut table = Table::of(head, columns.collect::<Result<_, _>>()?);
        let sql = "SELECT workflow_id, version, modes, columns FROM workflow_watchers \
             WHERE {tenant organization_id} AND organization_id = $1 AND feature_id = $2 \
             ORDER BY workflow_id";
        let rows = tx
            .query(sql, &[head.organization.into(), head.id.into()])
            .await?;
        table.watchers = rows
            .iter()
            .map(Subscription::read)
            .collect::<Result<_, _>>()?;
        Ok(table)
    }

    fn of(head: Head, columns: Vec<Column>) -> Table {
        let mut by_name: Vec<usize> = (0..columns.len()).collect();
        by_name.sort_by_key(|at| columns[*at].name());
        let number = |at: &usize| columns[*at].slot.map(|slot| slot.number);
        let mut slotted: Vec<usize> = (0..columns.len()).collect();
        slotted.retain(|at| number(at).is_some());
        slotted.sort_by_key(number);
        let slot_of = (0..columns.len()).map(|at| slotted.iter().position(|other| *other == at));
        let slot_of = slot_of.collect();
        let numbers: Vec<i64> = slotted.iter().filter_map(number).collect();
        Table {
            organization: head.organization,
            workspace: head.workspace,
            id: head.id,
            version: head.version,
            own_rows: head.own_rows,
            watchers: Vec::new(),
            insert: insert_with(&numbers),
            update: update_with(&numbers),
            columns,
            by_name,
            slotted,
            slot_of,
        }
    }

    /// A table of these columns, of which those with a number are in that slot: for tests of what is
    /// composed of a table.
    #[cfg(test)]
    pub(super) fn sample(columns: &[(&str, &str, Option<i64>)]) -> Table {
        let definitions = Definitions::embedded();
        let column = |(name, kind, slot): &(&str, &str, Option<i64>)| {
            let definition = workspace::Column {
                id: Uuid::nil(),
                name: (*name).to_owned(),
                label: (*name).to_owned(),
                column_type: (*kind).to_owned(),
                default_component: String::new(),
                order: 0,
                config: Object::new(),
            };
            Column {
                rule: Rule::of(&definition, definitions).into_owned(),
                is_number: definitions.column_types[*kind].storage.is_number(),
                is_unique: false,
                slot: slot.map(|number| Slot {
                    number,
                    ready: true,
                    long: false,
                }),
                search: SearchIndex::None,
                definition,
            }
        };
        let head = Head {
            organization: Uuid::nil(),
            workspace: Uuid::nil(),
            id: Uuid::nil(),
            version: 1,
            own_rows: false,
        };
        Table::of(head, columns.iter().map(column).collect())
    }

    /// Whether what cells of some column contain is in an index.
    pub(super) fn is_searched(&self) -> bool {
        self.columns.iter().any(Column::is_searched)
    }

    /// Gives a table another version, because its row or a column changes in this transaction. Never
    /// one that it had before, not even in a transaction that was undone: what others remember of a
    /// version stays true.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn changed(
        tx: &mut Tx,
        organization: Uuid,
        feature: Uuid,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE main.features \
             SET version = CASE WHEN version < $3 THEN $3 ELSE version + 1 END \
             WHERE {tenant organization_id} AND {workspace workspace_id} \
             AND organization_id = $1 AND id = $2";
        tx.query(sql, &[organization.into(), feature.into(), now.into()])
            .await
            .map(drop)
    }

    /// The statement that replaces rows and these of their slots, by position.
    pub(super) fn update(&self, slots: Range<usize>) -> Cow<'_, EachStatement> {
        if slots == (0..self.slotted.len()) {
            return Cow::Borrowed(&self.update);
        }
        let slots = self.slotted[slots].iter();
        let numbers: Vec<i64> = slots.filter_map(|at| self.number(*at)).collect();
        Cow::Owned(update_with(&numbers))
    }

    fn number(&self, column: usize) -> Option<i64> {
        self.columns[column].slot.map(|slot| slot.number)
    }

    /// The column of that technical name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.position(name).map(|at| &self.columns[at])
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let found = self
            .by_name
            .binary_search_by(|at| self.columns[*at].name().cmp(name));
        found.ok().map(|at| self.by_name[at])
    }
}

/// All share $1 organization, $2 workspace, $3 feature, $4 creator, $5 now; of each row come its id, its
/// data, then the slots.
fn insert_with(slots: &[i64]) -> BulkInsert {
    let (mut names, mut values) = (String::new(), String::new());
    for (number, parameter) in slots.iter().zip(3..) {
        // Writing to a String cannot fail.
        let _ = write!(names, ", s{number}");
        let _ = write!(values, ", @{parameter}");
    }
    BulkInsert {
        head: format!(
            "INSERT INTO main.rows {{into $1}} (organization_id, workspace_id, feature_id, \
             created_by, created_at, updated_at, id, data{names})"
        ),
        row: format!("$1, $2, $3, $4, $5, $5, @1, {{json @2}}{values}"),
        tail: String::new(),
        own: own_with(slots),
    }
}

/// All share $1 organization, $2 feature, $3 now; of each row come its id, its data, then the slots.
fn update_with(slots: &[i64]) -> EachStatement {
    let mut values = String::new();
    for (number, parameter) in slots.iter().zip(3..) {
        let _ = write!(values, ", s{number} = @{parameter}");
    }
    EachStatement {
        text: format!(
            "UPDATE main.rows SET updated_at = $3, data = {{json @2}}{values} @rows \
             WHERE {{tenant organization_id}} AND {{workspace workspace_id}} \
             AND {{row feature_id created_by}} \
             AND organization_id = $1 AND feature_id = $2 AND id = @1"
        ),
        own: own_with(slots),
    }
}

fn own_with(slots: &[i64]) -> Vec<RowValue> {
    let slots = slots.iter().map(|_| RowValue::Text);
    [RowValue::Id, RowValue::Text]
        .into_iter()
        .chain(slots)
        .collect()
}
