//! Finds rows by id and by value.
//!
//! What is returned together is bounded in bytes, and so is what is read at once: of large rows only the first of
//! those that are wanted are returned.

use std::collections::{BTreeMap, HashMap, HashSet};

use tplkit::rows::{Cell, equal, sorted_to, text_form};
use tplkit::workspace::{Id, StoredRow};

use super::ReadError;
use super::rows::{BYTES_PER_QUERY, fitting, organization, read};
use crate::rows::{RowSizes, Tables, known_as, query};
use crate::store::{BOUND, Row, StoreError, Tx, Value};

/// Which of these rows the scope sees.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn which(tx: &mut Tx, feature: Id, ids: &[Id]) -> Result<HashSet<Id>, ReadError> {
    let organization = organization(tx, feature).await?;
    let sql = "SELECT id FROM rows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND {any id $3} {bounded}";
    let mut seen = HashSet::new();
    for ids in ids.chunks(BYTES_PER_QUERY) {
        let parameters = [
            organization.into(),
            feature.into(),
            Value::Ids(ids.to_vec()),
        ];
        for row in tx.query(sql, &parameters).await? {
            seen.insert(row.get(0)?);
        }
    }
    Ok(seen)
}

/// Rows per visibility query.
const IDS_PER_QUERY: usize = 10_000;

/// Whether some of these rows are there and kept from the scope.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn keeps_some(tx: &mut Tx, feature: Id, ids: &[Id]) -> Result<bool, ReadError> {
    for ids in ids.chunks(IDS_PER_QUERY) {
        let seen = which(tx, feature, ids).await?;
        let unseen = ids.iter().filter(|id| !seen.contains(id));
        let unseen: Vec<Id> = unseen.copied().collect();
        if unseen.is_empty() {
            continue;
        }
        let before = tx.set_guarded(Vec::new()).await?;
        let kept = which(tx, feature, &unseen).await?;
        tx.set_guarded(before).await?;
        if !kept.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Rows by their ids, as far as the scope sees them.
const BY_IDS: &str = "SELECT id, {text data} FROM rows WHERE {tenant organization_id} \
     AND {workspace workspace_id} AND {row feature_id created_by} \
     AND organization_id = $1 AND feature_id = $2 AND {any id $3} {bounded}";

/// The rows of the first of these ids, as far as the scope sees them, in the order asked: of as many as are
/// held at once, and of one at least.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn fetch(
    tx: &mut Tx,
    sizes: &RowSizes,
    feature: Id,
    ids: &[Id],
) -> Result<Vec<Option<StoredRow>>, ReadError> {
    let organization = organization(tx, feature).await?;
    let mut wanted = ids;
    let mut largest = sizes.of(feature);
    loop {
        wanted = readable_at_once(wanted, largest);
        let parameters = by_ids(organization, feature, wanted);
        let rows = tx.query(BY_IDS, &parameters).await?;
        largest = largest_of(&rows);
        sizes.note_looked_up(feature, largest);
        if let Some(found) = in_order(wanted, &rows)? {
            return Ok(found);
        }
        // Some may be unread: fewer are asked for.
        wanted = &wanted[..wanted.len() - 1];
    }
}

/// Rows that are read before somebody asks for them.
pub(crate) struct RowsAhead {
    feature: Id,
    ids: Vec<Id>,
    /// How many of the first of them are read.
    wanted: usize,
}

impl RowsAhead {
    /// Begins to read rows that are fetched next, where a store can do that meanwhile.
    ///
    /// # Errors
    /// As [`fetch`].
    pub(crate) async fn send(
        tx: &mut Tx,
        sizes: &RowSizes,
        feature: Id,
        ids: &[Id],
    ) -> Result<Option<RowsAhead>, ReadError> {
        let organization = organization(tx, feature).await?;
        let wanted = readable_at_once(ids, sizes.of(feature));
        let parameters = by_ids(organization, feature, wanted);
        let sent = tx.send_ahead(BY_IDS, &parameters).await?;
        Ok(sent.then(|| RowsAhead {
            feature,
            ids: ids.to_vec(),
            wanted: wanted.len(),
        }))
    }

    /// Whether these are the rows that are fetched.
    pub(crate) fn are(&self, feature: Id, ids: &[Id]) -> bool {
        self.feature == feature && self.ids == ids
    }

    /// What [`fetch`] returns; nothing where the rows turned out too large to be read together.
    ///
    /// # Errors
    /// As [`fetch`].
    pub(crate) async fn receive(
        self,
        tx: &mut Tx,
        sizes: &RowSizes,
    ) -> Result<Option<Vec<Option<StoredRow>>>, ReadError> {
        let Some(rows) = tx.receive().await? else {
            return Ok(None);
        };
        sizes.note_looked_up(self.feature, largest_of(&rows));
        Ok(in_order(&self.ids[..self.wanted], &rows)?)
    }
}

fn by_ids(organization: Id, feature: Id, ids: &[Id]) -> [Value; 3] {
    [
        organization.into(),
        feature.into(),
        Value::Ids(ids.to_vec()),
    ]
}

/// As many of the first of these ids as are looked up together, where rows are so large.
fn readable_at_once(ids: &[Id], largest: usize) -> &[Id] {
    &ids[..fitting(BYTES_PER_QUERY, largest, ids.len()).min(ids.len())]
}

fn largest_of(rows: &[Row]) -> usize {
    rows.iter().map(Row::bytes).max().unwrap_or_default()
}

/// The rows of the first of these ids, as many as are held at once; nothing where some of several may be unread.
fn in_order(ids: &[Id], rows: &[Row]) -> Result<Option<Vec<Option<StoredRow>>>, StoreError> {
    let bytes: usize = rows.iter().map(Row::bytes).sum();
    if bytes > BOUND && ids.len() > 1 {
        return Ok(None);
    }
    let mut found: HashMap<Id, StoredRow> = HashMap::with_capacity(rows.len());
    for row in rows {
        let row = read(row)?;
        found.insert(row.id, row);
    }
    let mut bytes = 0;
    let fits = ids.iter().take_while(|id| {
        bytes += found.get(id).map_or(0, |row| row.data.as_str().len());
        bytes <= BYTES_PER_QUERY
    });
    let count = fits.count().max(1).min(ids.len());
    let found = ids[..count].iter().map(|id| found.get(id).cloned());
    Ok(Some(found.collect()))
}

/// For each of the first of these JSON values the first row whose cell in the column equals it: for as many as
/// are held at once, and for one at least.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn matching(
    tx: &mut Tx,
    tables: &Tables,
    feature: Id,
    column: &str,
    values: &[String],
) -> Result<Vec<Option<StoredRow>>, ReadError> {
    let table = tables.read(tx, feature).await?;
    let table = table.ok_or(ReadError::NoTable(feature))?;
    let values = &values
        [..fitting(BYTES_PER_QUERY, tables.sizes.of(feature), values.len()).min(values.len())];
    let mut wanted = WantedValues::of(column, values);
    if wanted.forms.is_empty() {
        return Ok(wanted.found);
    }
    if table
        .column(column)
        .is_none_or(|known| known.slot.is_none())
    {
        tables.hot.note(feature, column);
    }
    let (mut behind, mut largest) = (None, 0);
    loop {
        let forms = wanted.forms.keys().cloned().collect();
        let rows = query::holding(tx, &table, column, forms, behind).await?;
        let mut came = 0;
        for row in rows {
            came += row.bytes();
            largest = largest.max(row.bytes());
            let row = read(&row)?;
            behind = Some(row.id);
            wanted.note(&row);
        }
        if came <= BOUND || wanted.is_complete() {
            break;
        }
    }
    tables.sizes.note_looked_up(feature, largest);
    Ok(wanted.found)
}

/// Values that rows are looked for.
struct WantedValues<'v> {
    column: &'v str,
    values: &'v [String],
    /// Which of the values have a text form: equal values have equal ones, and the values themselves decide.
    forms: BTreeMap<String, Vec<usize>>,
    /// The first row of each; of no more than are held at once.
    found: Vec<Option<StoredRow>>,
    /// The bytes of these rows.
    bytes: usize,
}

impl<'v> WantedValues<'v> {
    fn of(column: &'v str, values: &'v [String]) -> WantedValues<'v> {
        let mut forms: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, value) in values.iter().enumerate() {
            let form = match Cell::new(value) {
                Cell::Null => None,
                _ => text_form(value),
            };
            if let Some(form) = form {
                forms.entry(form.into_owned()).or_default().push(at);
            }
        }
        WantedValues {
            column,
            values,
            forms,
            found: vec![None; values.len()],
            bytes: 0,
        }
    }

    /// Notes a row, behind those with lower ids.
    fn note(&mut self, row: &StoredRow) {
        let Some(cell) = row.data.cell(self.column) else {
            return;
        };
        let form = text_form(cell);
        let places = form.and_then(|form| self.forms.get(form.as_ref()));
        let mut first = false;
        for at in places.into_iter().flatten() {
            if let Some(found @ None) = self.found.get_mut(*at)
                && equal(cell, &self.values[*at])
            {
                *found = Some(row.clone());
                first = true;
            }
        }
        if first {
            self.bytes += row.data.as_str().len();
        }
        while self.bytes > BYTES_PER_QUERY && self.found.len() > 1 {
            // It is asked for once more. Several values may have had the row.
            if let Some(Some(row)) = self.found.pop()
                && !self.found.iter().flatten().any(|other| other.id == row.id)
            {
                self.bytes -= row.data.as_str().len();
            }
        }
    }

    /// Whether no row that comes later is the first of any value.
    fn is_complete(&self) -> bool {
        let mut places = self.forms.values().flatten();
        places.all(|at| self.found.get(*at).is_none_or(Option::is_some))
    }
}

/// For each JSON value, as rows hold it, whether a row holds it in the unique column, whoever sees that
/// row.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn taken(
    tx: &mut Tx,
    tables: &Tables,
    feature: Id,
    column: &str,
    values: &[String],
) -> Result<Vec<bool>, ReadError> {
    let table = tables.read(tx, feature).await?;
    let table = table.ok_or(ReadError::NoTable(feature))?;
    let Some(column) = table.column(column).filter(|column| column.is_unique) else {
        return Ok(vec![false; values.len()]);
    };
    let known: Vec<Option<[u8; 32]>> = values.iter().map(|value| as_kept(value)).collect();
    let rows = known.iter().flatten().map(|value| -> Vec<Value> {
        vec![
            table.organization.into(),
            table.id.into(),
            column.definition.id.into(),
            (*value).into(),
        ]
    });
    let sql = "SELECT row_id FROM row_values WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND feature_id = $2 \
         AND column_id = $3 AND value = $4";
    let found = tx.each(sql, &rows.collect::<Vec<_>>()).await?;
    let mut found = found.iter().map(|rows| !rows.is_empty());
    let taken = known.iter();
    Ok(taken
        .map(|value| value.is_some() && found.next().unwrap_or_default())
        .collect())
}

/// What a value that a row is to hold is known by.
fn as_kept(value: &str) -> Option<[u8; 32]> {
    let mut kept = String::with_capacity(value.len());
    sorted_to(&mut kept, value);
    // Ids of files do not travel, and other texts of such a column are as they are.
    known_as(&kept, false)
}

/// How many rows more the organization of a workspace may have, if there is a limit.
///
/// # Errors
/// Those of the store.
pub(crate) async fn row_capacity(tx: &mut Tx, workspace: Id) -> Result<Option<u64>, ReadError> {
    let sql = "SELECT o.id, o.row_quota FROM organizations o \
         JOIN workspaces w ON w.organization_id = o.id \
         WHERE {tenant o.id} AND {workspace w.id} AND w.id = $1";
    let Some(row) = tx.first(sql, &[workspace.into()]).await? else {
        return Ok(None);
    };
    let (organization, quota): (Id, Option<i64>) = (row.get(0)?, row.get(1)?);
    let Some(quota) = quota else {
        return Ok(None);
    };
    let sql = "SELECT CAST(coalesce(sum(count), 0) AS bigint) FROM row_counts \
         WHERE {tenant organization_id} AND organization_id = $1";
    let row = tx.first(sql, &[organization.into()]).await?;
    let present: i64 = row.map_or(Ok(0), |row| row.get(0))?;
    let room = quota.saturating_sub(present);
    Ok(Some(u64::try_from(room).unwrap_or_default()))
}
