//! Lookups of an apply or a plan in a workspace, in addition to its structure.

use std::future::Future;

use super::{Id, Source, StoredRow};

/// A row of a table, whoever may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfilteredRow {
    /// The row.
    pub row: StoredRow,
    /// Whether it is hidden from whoever the job is for.
    pub hidden: bool,
}

/// What [`Lookup::fetch`] says of all these ids: of each row what is needed of it, before more are asked for.
///
/// # Errors
/// Those of the workspace.
pub async fn fetch_each<L: Lookup, R>(
    lookup: &L,
    feature: Id,
    ids: &[Id],
    mut keep: impl FnMut(Option<StoredRow>) -> R,
) -> Result<Vec<R>, L::Error> {
    let mut kept = Vec::with_capacity(ids.len());
    while kept.len() < ids.len() {
        let found = lookup.fetch(feature, &ids[kept.len()..]).await?;
        let (came, before) = (found.into_iter(), kept.len());
        kept.extend(came.map(&mut keep).take(ids.len() - before));
        if kept.len() == before {
            kept.push(keep(None));
        }
    }
    Ok(kept)
}

/// What [`Lookup::hidden`] says of all these ids, in the same way.
///
/// # Errors
/// Those of the workspace.
pub async fn hidden_each<L: Lookup>(
    lookup: &L,
    feature: Id,
    ids: &[Id],
) -> Result<Vec<Option<StoredRow>>, L::Error> {
    let mut kept = Vec::with_capacity(ids.len());
    while kept.len() < ids.len() {
        let found = lookup.hidden(feature, &ids[kept.len()..]).await?;
        let before = kept.len();
        kept.extend(found.into_iter().take(ids.len() - before));
        if kept.len() == before {
            kept.push(None);
        }
    }
    Ok(kept)
}

/// What [`Lookup::matching`] says of all these values, in the same way.
///
/// # Errors
/// Those of the workspace.
pub async fn match_each<L: Lookup, R>(
    lookup: &L,
    feature: Id,
    column: &str,
    values: &[String],
    mut keep: impl FnMut(Option<StoredRow>) -> R,
) -> Result<Vec<R>, L::Error> {
    let mut kept = Vec::with_capacity(values.len());
    while kept.len() < values.len() {
        let found = lookup.matching(feature, column, &values[kept.len()..]);
        let (came, before) = (found.await?.into_iter(), kept.len());
        kept.extend(came.map(&mut keep).take(values.len() - before));
        if kept.len() == before {
            kept.push(keep(None));
        }
    }
    Ok(kept)
}

/// A workspace in which rows are looked up by what they hold.
///
/// A plan needs no more than this, so a workspace that nobody may write to can be planned for.
///
/// Rows may be large. [`matching`](Lookup::matching), [`fetch`](Lookup::fetch) and [`hidden`](Lookup::hidden) return, in
/// order, results for as many of the first values or ids as may be held at once, and for one at least. The caller asks
/// again for the others ([`fetch_each`], [`match_each`]).
pub trait Lookup: Source {
    /// For each JSON value the first row, by ascending id, whose cell in `column` equals it
    /// ([`crate::rows::equal`]).
    fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> impl Future<Output = Result<Vec<Option<StoredRow>>, Self::Error>> + Send;

    /// The rows of these ids, as far as they exist.
    fn fetch(
        &self,
        feature: Id,
        rows: &[Id],
    ) -> impl Future<Output = Result<Vec<Option<StoredRow>>, Self::Error>> + Send;

    /// Says that these rows are fetched next, so that a workspace whose store is elsewhere can read them while the
    /// caller does something else. Nothing has to come of it.
    fn fetch_ahead(
        &self,
        feature: Id,
        rows: &[Id],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        let _ = (feature, rows);
        async { Ok(()) }
    }

    /// Of these rows those that exist and are kept from whoever the job is for: to compare them, never to show
    /// them. Nobody keeps rows from anybody unless a workspace says so.
    fn hidden(
        &self,
        feature: Id,
        rows: &[Id],
    ) -> impl Future<Output = Result<Vec<Option<StoredRow>>, Self::Error>> + Send {
        let _ = feature;
        let nothing = vec![None; rows.len()];
        async move { Ok(nothing) }
    }

    /// The next rows of a table by ascending id, hidden ones among them: to count them, never to show them. At the
    /// end there are none.
    fn with_hidden(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<UnfilteredRow>, Self::Error>> + Send {
        let rows = self.rows(feature, after, limit);
        async move {
            let rows = rows.await?.into_iter();
            let seen = |row| UnfilteredRow { row, hidden: false };
            Ok(rows.map(seen).collect())
        }
    }

    /// For each JSON value, as rows hold it, whether a row of the table holds it in that unique column: any
    /// row, also one that is hidden from whoever the job is for, because a row with the same value is
    /// refused all the same.
    fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> impl Future<Output = Result<Vec<bool>, Self::Error>> + Send;

    /// How many rows more may be written; nothing when there is no limit, or none that is known.
    fn row_capacity(&self) -> impl Future<Output = Result<Option<u64>, Self::Error>> + Send;

    /// The number that the next empty cell of a sequence column gets; nothing when it is not known.
    fn sequence(
        &self,
        feature: Id,
        column: Id,
    ) -> impl Future<Output = Result<Option<u64>, Self::Error>> + Send;
}
