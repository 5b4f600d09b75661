//! The rows of a table by ascending id, in portions that need not be pages.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::rows::RowQuery;
use crate::client::{Client, Error, Page, Request};
use crate::workspace::{Id, RowData, StoredRow};

/// The most that a page may hold.
const PAGE: &str = "200";

/// A row as servers return it.
#[derive(Deserialize)]
pub(super) struct RowRecord {
    id: Id,
    #[serde(default)]
    data: RowData,
}

impl From<RowRecord> for StoredRow {
    fn from(record: RowRecord) -> StoredRow {
        StoredRow {
            id: record.id,
            data: record.data,
        }
    }
}

/// A reading of a table that can be gone on with: servers promise order and completeness along
/// the cursors of one list, so they are kept.
pub(super) struct Stream {
    request: Request,
    cursor: Option<String>,
    waiting: VecDeque<StoredRow>,
    last: Option<Id>,
    over: bool,
}

impl Stream {
    /// A reading that begins behind a row.
    pub(super) fn after(feature: Id, after: Option<Id>) -> Stream {
        let question = RowQuery {
            filters: after.map(|id| format!("id:gt:{id}")).into_iter().collect(),
            sort: Some("id".to_owned()),
            ..RowQuery::default()
        };
        Stream {
            request: question.request(&feature.to_string()).with("limit", PAGE),
            cursor: None,
            waiting: VecDeque::new(),
            last: after,
            over: false,
        }
    }

    /// Whether what comes next is what is behind that row.
    pub(super) fn stands_at(&self, after: Option<Id>) -> bool {
        after.is_some() && self.last == after
    }

    /// The next rows; fewer than asked for only at the end.
    pub(super) fn take(&mut self, client: &Client, limit: usize) -> Result<Vec<StoredRow>, Error> {
        while self.waiting.len() < limit && !self.over {
            self.fetch(client)?;
        }
        let count = limit.min(self.waiting.len());
        let rows: Vec<StoredRow> = self.waiting.drain(..count).collect();
        self.last = rows.last().map(|row| row.id).or(self.last);
        Ok(rows)
    }

    fn fetch(&mut self, client: &Client) -> Result<(), Error> {
        let mut request = self.request.clone();
        if let Some(cursor) = &self.cursor {
            request = request.with("cursor", cursor.clone());
        }
        let response = client.call(&request)?;
        let unreadable = |why: &str| Error::Unreadable {
            request: request.to_string(),
            why: why.to_owned(),
        };
        let page: Page<Box<RawValue>> = Page::read(&request, &response)?;
        for item in &page.items {
            let record: RowRecord = serde_json::from_str(item.get())
                .map_err(|_| unreadable("a row has no id or data"))?;
            let before = self.waiting.back().map(|row| row.id).or(self.last);
            if before.is_some_and(|before| before >= record.id) {
                return Err(unreadable("its rows do not come by ascending id"));
            }
            self.waiting.push_back(record.into());
        }
        let next = page.next_cursor.filter(|next| !next.is_empty());
        if next.is_some() && next == self.cursor {
            return Err(unreadable("its next page is itself"));
        }
        self.over = next.is_none();
        self.cursor = next;
        Ok(())
    }
}
