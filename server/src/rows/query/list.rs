//! A page of rows.

use std::sync::Arc;

use axum::http::{HeaderName, StatusCode};
use tplkit::rows::query::{Column, Sort};
use tplkit::rows::text_form;

use super::ask::{ask, current};
use super::composer::{Composed, Composer, First, WHOSE};
use super::fields::project;
use super::place::{At, Place, hash};
use super::question::{Question, UNKNOWN_COLUMNS};
use super::way::{Way, look_ahead, open_filters, plan_is_open};
use crate::http::page::PageRequest;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::rows::{Stored, Table, Tables, write_row};
use crate::store::{Dialect, Tx};

/// Which page of which rows.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Which rows.
    pub question: Question,
    /// In which order.
    pub sort: Sort,
    /// The keys of the data that are answered, when not all are.
    pub fields: Option<Vec<String>>,
    /// Which of the pages.
    pub page: PageRequest,
    /// Where it begins, if it is not the first.
    pub after: Option<Place>,
}

/// Answers with a page of rows.
///
/// # Errors
/// 404 for a table that the caller does not see, 422 for a cursor whose row is gone, and those of the
/// store.
pub async fn list(tx: &mut Tx, tables: &Tables, listing: &Listing) -> Result<Reply, Problem> {
    let (table, rows) = rows(tx, tables, listing).await?;
    let body = listing.body(rows);
    let reply = Reply::written(StatusCode::OK, body.into_bytes());
    let fields = listing.fields.iter().flatten();
    let named = fields
        .map(|name| Column::of(name))
        .chain([listing.sort.column.clone()]);
    Ok(match listing.question.unknown(&table, named) {
        Some(unknown) => reply.with(HeaderName::from_static(UNKNOWN_COLUMNS), unknown),
        None => reply,
    })
}

/// The rows of a page, and one more if another page follows.
///
/// # Errors
/// As [`list`].
pub async fn rows(
    tx: &mut Tx,
    tables: &Tables,
    listing: &Listing,
) -> Result<(Arc<Table>, Vec<Stored>), Problem> {
    let Question { feature, .. } = listing.question;
    let after = listing.after.clone();
    let after = match after {
        Some(place) => Some(found_again(tx, tables, listing, place).await?),
        None => None,
    };
    let compose = |table: &Table, dialect| listing.compose(table, dialect, after.as_ref());
    let (table, rows) = ask(tx, tables, feature, compose).await?;
    listing
        .question
        .note(tables, &table, Some(&listing.sort.column));
    let rows = rows.iter().map(|row| Stored::read_from(row, 1));
    Ok((table, rows.collect::<Result<_, _>>()?))
}

/// The place with its text, which was too long for the cursor and stands in its row.
async fn found_again(
    tx: &mut Tx,
    tables: &Tables,
    listing: &Listing,
    place: Place,
) -> Result<Place, Problem> {
    let (At::Long(known), Some(key)) = (&place.at, listing.sort.column.key()) else {
        return Ok(place);
    };
    let table = current(tx, tables, listing.question.feature).await?;
    let mut composer = Composer::new(&table, tx.dialect()?);
    let id = composer.value(place.id);
    let text = format!("SELECT {{text data}} FROM rows WHERE {WHOSE} AND id = {id}");
    let composed = composer.finish(text);
    let rows = composed.ask(tx).await?;
    let data: Option<String> = rows.first().map(|row| row.get(0)).transpose()?;
    let cell = data
        .as_deref()
        .and_then(|data| tplkit::rows::member(data, key));
    match cell.and_then(text_form).filter(|text| hash(text) == *known) {
        Some(text) => Ok(Place {
            id: place.id,
            at: At::Text(text.into_owned()),
        }),
        None => Err(PageRequest::refused(
            "The row at which the page before ended has changed, and its text was too long to be \
             kept in the cursor: begin with the first page.",
        )),
    }
}

impl Listing {
    fn compose(&self, table: &Table, dialect: Dialect, after: Option<&Place>) -> Composed {
        let Question {
            filters, together, ..
        } = &self.question;
        let open = open_filters(table, filters, *together, &self.sort);
        let compose = |way| {
            let mut composer = Composer::new(table, dialect);
            composer.way = way;
            let found = composer.found(filters, *together);
            let look = self.page.look();
            let texts = composer.page(&found, &self.sort, after, look);
            composer.finish_all(texts, usize::try_from(look).unwrap_or(0))
        };
        if open.is_empty() {
            let mut composed = compose(Way::Either);
            if plan_is_open(table, filters, *together) {
                composed.plan_anew();
            }
            return composed;
        }
        match dialect {
            Dialect::Sqlite => {
                let ahead = look_ahead(Composer::new(table, dialect), &open);
                let mut composed = compose(Way::Sort);
                composed.first = Some(Box::new(First::Look(ahead, compose(Way::Filters))));
                composed
            }
            Dialect::Postgres => {
                let mut composed = compose(Way::Either);
                composed.plan_anew();
                composed.first = Some(Box::new(First::Few(compose(Way::Filters))));
                composed
            }
        }
    }

    fn body(&self, rows: Vec<Stored>) -> String {
        let (rows, last) = self.page.cut(rows);
        let size = rows.iter().map(|row| row.data.len() + 192).sum::<usize>();
        let mut out = String::with_capacity(size + 128);
        let mut data = String::new();
        out.push_str("{\"items\":[");
        for (position, row) in rows.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            let shown = match &self.fields {
                None => &row.data,
                Some(keys) => {
                    data.clear();
                    project(&mut data, &row.data, keys);
                    &data
                }
            };
            let ids = (row.id, self.question.feature);
            write_row(&mut out, ids, (row.created_at, row.updated_at), shown);
        }
        out.push_str("],\"next_cursor\":");
        match last.then(|| rows.last()).flatten() {
            Some(row) => {
                let place = Place::of(&self.sort, row);
                out.push('"');
                out.push_str(&self.page.cursor(row.id, &place.bytes()));
                out.push('"');
            }
            None => out.push_str("null"),
        }
        out.push('}');
        out
    }
}
