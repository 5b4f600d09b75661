//! A page of rows.

use std::sync::Arc;

use tplkit::rows::query::Column;
use tplkit::rows::text_form;
use uuid::Uuid;

use super::chosen_index::IndexChoice;
use super::composed::{Composed, FirstPass};
use super::composer::Composer;
use super::cursor::{CursorPosition, SortKey, hash};
use super::execute::{current, execute};
use super::index_choice::{look_ahead, open_filters, plan_is_open};
use super::list_request::RowListRequest;
use super::page::{Page, large};
use super::row_filter::RowFilter;
use super::search::Candidates;
use super::selected_columns::WHOSE;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::rows::{StoredRow, Table, Tables};
use crate::store::{BOUND, Dialect, Tx};

/// A page whose rows are written.
#[derive(Debug)]
pub struct RowPage {
    /// The cursor of the page behind, if one follows.
    pub next_cursor: Option<String>,
    /// The columns that the query names and the table does not have.
    pub unknown_columns: Vec<String>,
}

/// Finds a page of rows, and appends their documents to `out`, with commas between them.
///
/// # Errors
/// 404 for a table that the caller does not see, 422 for a cursor whose row is gone or whose column sorts
/// otherwise now, and those of the store.
pub async fn list(
    tx: &mut Tx,
    tables: &Tables,
    listing: &RowListRequest,
    out: &mut String,
) -> Result<RowPage, Refusal> {
    let feature = listing.filter.feature;
    let mut after = begin(tx, tables, listing).await?;
    let mut page = Page::new(listing, out, tables.sizes.of(feature));
    let table = loop {
        let look = page.lookahead();
        let compose =
            |table: &Table, dialect| listing.compose_part(table, dialect, after.as_ref(), look);
        let (table, rows) = execute(tx, tables, feature, compose).await?;
        page.take(rows, look)?;
        if page.is_done() {
            break table;
        }
        after = page.behind(&table).or(after);
    };
    tables.sizes.note(feature, page.expect());
    listing
        .filter
        .note(tables, &table, Some(&listing.sort.column));
    let fields = listing.fields.iter().flatten();
    let named = fields
        .map(|name| Column::of(name))
        .chain([listing.sort.column.clone()]);
    Ok(RowPage {
        unknown_columns: listing.filter.unknown(&table, named),
        next_cursor: page.next_cursor(&table),
    })
}

/// Where the page begins.
async fn begin(
    tx: &mut Tx,
    tables: &Tables,
    listing: &RowListRequest,
) -> Result<Option<CursorPosition>, Refusal> {
    match listing.after.clone() {
        Some(place) => Ok(Some(with_text_of_row(tx, tables, listing, place).await?)),
        None => Ok(None),
    }
}

/// Rows for internal callers.
#[derive(Debug)]
pub struct RowSlice {
    /// Their table.
    pub table: Arc<Table>,
    /// The rows: at most one more than a page has, and fewer where they are large.
    pub rows: Vec<StoredRow>,
    /// Whether others may follow.
    pub more: bool,
}

/// The rows of a page, or the first of them: they end behind the store's bound.
///
/// # Errors
/// As [`list`].
pub async fn rows(
    tx: &mut Tx,
    tables: &Tables,
    listing: &RowListRequest,
) -> Result<RowSlice, Refusal> {
    let RowFilter { feature, .. } = listing.filter;
    let after = begin(tx, tables, listing).await?;
    let look = listing.page.lookahead();
    let compose =
        |table: &Table, dialect| listing.compose_part(table, dialect, after.as_ref(), look);
    let (table, found) = execute(tx, tables, feature, compose).await?;
    listing
        .filter
        .note(tables, &table, Some(&listing.sort.column));
    let more = i64::try_from(found.len()).is_ok_and(|count| count >= look);
    let (mut bytes, mut largest) = (0, 0);
    let mut rows = Vec::with_capacity(found.len());
    // Each is let go once it is read: they may be large.
    for row in found {
        bytes += row.bytes();
        largest = largest.max(row.bytes());
        rows.push(StoredRow::read_from(&row, 1)?);
    }
    tables.sizes.note(feature, large(largest));
    Ok(RowSlice {
        table,
        rows,
        more: more || bytes > BOUND,
    })
}

/// The place with its text, which was too long for the cursor and is in its row.
async fn with_text_of_row(
    tx: &mut Tx,
    tables: &Tables,
    listing: &RowListRequest,
    place: CursorPosition,
) -> Result<CursorPosition, Refusal> {
    let (SortKey::Long(known), Some(key)) = (&place.at, listing.sort.column.key()) else {
        return Ok(place);
    };
    let table = current(tx, tables, listing.filter.feature).await?;
    let composed = data_of_row(&table, tx.dialect()?, place.id);
    let rows = composed.execute(tx).await?;
    let data: Option<String> = rows.first().map(|row| row.get(0)).transpose()?;
    let cell = data
        .as_deref()
        .and_then(|data| tplkit::rows::member(data, key));
    match cell.and_then(text_form).filter(|text| hash(text) == *known) {
        Some(text) => Ok(CursorPosition {
            id: place.id,
            at: SortKey::Text(text.into_owned()),
            order: place.order,
        }),
        None => Err(PageRequest::refused(
            "The row at which the page before ended has changed, and its text was too long to be \
             kept in the cursor: begin with the first page.",
        )),
    }
}

/// The statement that finds the data of a row.
pub(super) fn data_of_row(table: &Table, dialect: Dialect, id: Uuid) -> Composed {
    let mut composer = Composer::new(table, dialect);
    let id = composer.value(id);
    let text = format!("SELECT {{text data}} FROM rows WHERE {WHOSE} AND id = {id}");
    composer.finish(text)
}

impl RowListRequest {
    /// The statements that find a part of the page.
    ///
    /// # Errors
    /// 422 where the table sorts otherwise than when the rows before the part were found.
    fn compose_part(
        &self,
        table: &Table,
        dialect: Dialect,
        after: Option<&CursorPosition>,
        look: i64,
    ) -> Result<Composed, Refusal> {
        if after.is_some_and(|after| !after.is_in(&self.sort, table)) {
            return Err(PageRequest::refused(
                "The column that the list is sorted by has another type since, or is gone: begin with \
                 the first page.",
            ));
        }
        let mut composed = self.compose(table, dialect, after, look);
        composed.bound();
        Ok(composed)
    }

    pub(super) fn compose(
        &self,
        table: &Table,
        dialect: Dialect,
        after: Option<&CursorPosition>,
        look: i64,
    ) -> Composed {
        let RowFilter {
            filters, matching, ..
        } = &self.filter;
        let mut composed = self.compose_scan(table, dialect, after, look);
        if let Some(candidates) = Candidates::of_page(table, filters, *matching, &self.sort) {
            let mut composer = Composer::new(table, dialect);
            composer.index_choice = IndexChoice::Ids;
            let compose = |composer: &mut Composer<'_>| {
                let found = composer.where_clause(filters, *matching);
                match dialect {
                    Dialect::Sqlite => {
                        let found = format!("{found} AND {}", composer.is_candidate(&candidates));
                        composer.page(&found, &self.sort, after, look)
                    }
                    Dialect::Postgres => {
                        let page = composer.sorted_apart(&self.sort, after);
                        vec![composer.page_of_candidates(&found, &candidates, page, look)]
                    }
                }
            };
            let walked = match dialect {
                Dialect::Sqlite => None,
                Dialect::Postgres => {
                    Composer::new(table, dialect).page_of_first(filters, &self.sort, after, look)
                }
            };
            let search = composer.search_pass(&candidates, walked, compose, look);
            composed.search = Some(Box::new(search));
        }
        composed
    }

    /// The statements that find the page without the index of searched cells.
    fn compose_scan(
        &self,
        table: &Table,
        dialect: Dialect,
        after: Option<&CursorPosition>,
        look: i64,
    ) -> Composed {
        let RowFilter {
            filters,
            matching: together,
            ..
        } = &self.filter;
        let open = open_filters(table, filters, *together, &self.sort);
        let compose = |way| {
            let mut composer = Composer::new(table, dialect);
            composer.index_choice = way;
            let found = composer.where_clause(filters, *together);
            let texts = composer.page(&found, &self.sort, after, look);
            composer.finish_all(texts, usize::try_from(look).unwrap_or(0))
        };
        if open.is_empty() {
            let mut composed = compose(IndexChoice::Either);
            if plan_is_open(table, filters, *together) {
                composed.plan_anew();
            }
            return composed;
        }
        match dialect {
            Dialect::Sqlite => {
                let ahead = look_ahead(Composer::new(table, dialect), &open);
                let mut composed = compose(IndexChoice::Sort);
                composed.first = Some(Box::new(FirstPass::Lookahead(
                    ahead,
                    compose(IndexChoice::Filters),
                )));
                composed
            }
            Dialect::Postgres => {
                let mut composed = compose(IndexChoice::Either);
                composed.plan_anew();
                composed.first = Some(Box::new(FirstPass::Few(compose(IndexChoice::Filters))));
                composed
            }
        }
    }
}
