//! Finds rows by the index of searched cells.
//!
//! The index gives candidates: rows whose cells have all the terms that a filter looks for. The filters are asked of
//! them again, so the index decides about nothing but speed. Nobody knows beforehand how many candidates there are. Up
//! to a number of them they are all read, and sorted; where there are more, the rows are gone through in their order,
//! as without the index.

use tplkit::rows::query::{CellTest, Column, Condition, Filter, Match, Sort};

use super::CursorPosition;
use super::composed::{Composed, SearchPass};
use super::composer::Composer;
use super::index_choice::{is_reached, slotted};
use super::order::SortedApart;
use super::selected_columns::{ROWS, TOO_MANY_COLUMN, VERSION, WHOSE};
use crate::rows::search_terms::{SearchedTerms, of_filter};
use crate::rows::{SearchIndex, Table};
use crate::store::{Dialect, Value};

/// How many candidates are read for a page that an index has in its order.
const MAX_CANDIDATES_IN_ORDER: i64 = 2_000;
/// How many for a page that has to be sorted at any rate.
const MAX_CANDIDATES_TO_SORT: i64 = 10_000;
/// How many for a number or a sum of all that is found.
const MAX_CANDIDATES_TO_COUNT: i64 = 100_000;

/// In so many rows, the first in their order, a page is looked for ahead: what is everywhere is found there, and the
/// index would have to be read for all of it.
const ROWS_AHEAD: i64 = 250;

/// The column in which the row of an aggregate says that there were too many candidates.
const TOO_MANY_AGGREGATE_COLUMN: usize = 2;

/// What is looked for in the index, and how many candidates are read.
#[derive(Debug, Clone)]
pub(super) struct Candidates {
    terms: SearchedTerms,
    most: i64,
}

impl Candidates {
    /// Those of a page.
    pub(super) fn of_page(
        table: &Table,
        filters: &[Filter],
        together: Match,
        sort: &Sort,
    ) -> Option<Candidates> {
        let sorted = match &sort.column {
            Column::Id | Column::CreatedAt => true,
            Column::UpdatedAt => false,
            Column::Key(key) => slotted(table, key),
        };
        let most = if sorted {
            MAX_CANDIDATES_IN_ORDER
        } else {
            MAX_CANDIDATES_TO_SORT
        };
        Candidates::of(table, filters, together, most)
    }

    /// Those of an aggregate.
    pub(super) fn of_all(table: &Table, filters: &[Filter], together: Match) -> Option<Candidates> {
        Candidates::of(table, filters, together, MAX_CANDIDATES_TO_COUNT)
    }

    /// Those of the filter that looks for most, where all filters have to hold.
    fn of(table: &Table, filters: &[Filter], together: Match, most: i64) -> Option<Candidates> {
        if together == Match::Any && filters.len() > 1 {
            return None;
        }
        let terms = filters.iter().filter_map(|filter| terms(table, filter));
        let terms = terms.max_by_key(|searched| searched.terms.len())?;
        Some(Candidates { terms, most })
    }
}

/// What a filter looks for, if the index has it.
fn terms(table: &Table, filter: &Filter) -> Option<SearchedTerms> {
    let Condition::Cell {
        key,
        test: CellTest::Search(search, value),
    } = &filter.condition
    else {
        return None;
    };
    let column = table.column(key)?;
    // What begins with a text is a range of the index of a slot, which has it in order.
    let passed_by = filter.negated || is_reached(table, filter);
    if passed_by || column.search != SearchIndex::Ready {
        return None;
    }
    of_filter(table, column.definition.id, *search, value)
}

impl Composer<'_> {
    /// The condition, on SQLite, that a row is a candidate.
    pub(super) fn is_candidate(&mut self, candidates: &Candidates) -> String {
        let wanted = self.value(candidates.terms.matched());
        // From the index on: the other way round, every row of the table would be looked for in it.
        format!(
            "id IN (SELECT known.row_id FROM search_terms AS words CROSS JOIN row_search AS known \
             ON known.number = words.rowid WHERE words.search_terms MATCH {wanted} \
             AND +known.organization_id = $1 AND +known.feature_id = $2)"
        )
    }

    /// The candidates, on PostgreSQL: `ids`, or nothing where there are too many of them. They are looked for once.
    fn candidates(&mut self, candidates: &Candidates) -> String {
        let Candidates { terms, most } = candidates;
        let (wanted, marker) = (
            self.value(Value::Ints(terms.terms.clone())),
            self.value(terms.marker),
        );
        format!(
            "(WITH known AS MATERIALIZED (SELECT search_rows($1, $2, {wanted}, {marker}, {most}) AS ids) \
             SELECT ids FROM known) AS candidates"
        )
    }

    /// The page out of the candidates, on PostgreSQL.
    pub(super) fn page_of_candidates(
        &mut self,
        found: &str,
        candidates: &Candidates,
        page: SortedApart,
        lookahead: i64,
    ) -> String {
        let SortedApart {
            cell,
            behind,
            order,
        } = page;
        let candidates = self.candidates(candidates);
        let behind = behind.map_or(String::new(), |behind| format!(" AND ({behind})"));
        let limit = self.limit(lookahead);
        format!(
            "SELECT {VERSION}, {ROWS}, is_many FROM (SELECT few.*, ids IS NULL AS is_many FROM {candidates} \
             LEFT JOIN LATERAL (SELECT id, created_at, updated_at, data{cell} FROM rows \
             WHERE {found} AND id = ANY (ids){behind}) AS few ON true) AS few ORDER BY {order} LIMIT {limit}"
        )
    }

    /// The statement of an aggregate out of the candidates, on either store. `select` makes it of the condition of the
    /// rows: one row of one column.
    pub(super) fn aggregate_of_candidates(
        mut self,
        found: &str,
        candidates: &Candidates,
        select: impl FnOnce(&mut Self, &str) -> String,
    ) -> SearchPass {
        if self.dialect == Dialect::Sqlite {
            let ahead = ahead(Composer::new(self.table, self.dialect), candidates);
            let found = format!("{found} AND {}", self.is_candidate(candidates));
            let select = select(&mut self, &found);
            let text = format!("SELECT {VERSION}, ({select})");
            return SearchPass::Counted {
                ahead,
                instead: self.finish(text),
                most: candidates.most,
            };
        }
        let from = self.candidates(candidates);
        let select = select(&mut self, &format!("{found} AND id = ANY (ids)"));
        let text = format!("SELECT {VERSION}, ({select}), ids IS NULL FROM {from}");
        SearchPass::Flagged {
            few: self.finish(text),
            column: TOO_MANY_AGGREGATE_COLUMN,
            walked: None,
        }
    }

    /// The page out of the first rows in their order, on PostgreSQL; nothing where no index has the order of all rows.
    pub(super) fn page_of_first(
        mut self,
        filters: &[Filter],
        sort: &Sort,
        after: Option<&CursorPosition>,
        lookahead: i64,
    ) -> Option<Composed> {
        let (behind, order) = self.along_an_index(sort, after)?;
        let behind = behind.map_or(String::new(), |behind| format!(" AND ({behind})"));
        let found = self.filters(filters, Match::All);
        let limit = self.limit(lookahead);
        let text = format!(
            "SELECT {VERSION}, {ROWS} FROM (SELECT * FROM rows WHERE {WHOSE}{behind} ORDER BY {order} LIMIT {ROWS_AHEAD}) \
             AS rows WHERE {found} ORDER BY {order} LIMIT {limit}"
        );
        let lookahead = usize::try_from(lookahead).unwrap_or(0);
        Some(self.finish_all(vec![text], lookahead))
    }

    /// The first pass of a page out of the candidates, composed apart from the page that it may be instead of, behind
    /// what is asked ahead of it on PostgreSQL.
    pub(super) fn search_pass(
        mut self,
        candidates: &Candidates,
        walked: Option<Composed>,
        compose: impl FnOnce(&mut Self) -> Vec<String>,
        lookahead: i64,
    ) -> SearchPass {
        let texts = compose(&mut self);
        let (table, dialect) = (self.table, self.dialect);
        let composed = self.finish_all(texts, usize::try_from(lookahead).unwrap_or(0));
        match dialect {
            Dialect::Sqlite => SearchPass::Counted {
                ahead: ahead(Composer::new(table, dialect), candidates),
                instead: composed,
                most: candidates.most,
            },
            Dialect::Postgres => SearchPass::Flagged {
                few: composed,
                column: TOO_MANY_COLUMN,
                walked,
            },
        }
    }
}

/// The statement that counts the candidates on SQLite, as far as it matters.
fn ahead(mut composer: Composer<'_>, candidates: &Candidates) -> Composed {
    let wanted = composer.value(candidates.terms.matched());
    let text = format!(
        "SELECT count(*) FROM (SELECT 1 FROM search_terms AS words \
         WHERE words.search_terms MATCH {wanted} AND {{tenant $1}} LIMIT {})",
        candidates.most + 1
    );
    composer.finish(text)
}
