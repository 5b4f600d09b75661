//! Lists that come in pages.

use std::marker::PhantomData;

use indexmap::IndexMap;
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::Client;
use super::error::Error;
use super::request::Request;
use super::response::ApiResponse;

/// The most that a page may hold.
const MAX_PAGE_SIZE: usize = 200;

/// A page.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The records.
    pub items: Vec<T>,
    /// Where the next page begins, if there is one.
    pub next_cursor: Option<String>,
    /// Columns of the question that the table does not have.
    pub unknown_columns: Vec<String>,
}

impl<T: DeserializeOwned> Page<T> {
    /// Reads a response. The specification does not name the member that holds the records: `items`
    /// here, the only list elsewhere; and a list may come without pages.
    pub fn read(request: &Request, result: &ApiResponse) -> Result<Page<T>, Error> {
        if result.body.trim_ascii_start().starts_with(b"[") {
            return Ok(Page {
                items: result.read(request)?,
                next_cursor: None,
                unknown_columns: unknown_columns(result),
            });
        }
        let members: IndexMap<String, Box<RawValue>> = result.read(request)?;
        let mut lists = members
            .iter()
            .filter(|(_, value)| value.get().starts_with('['));
        let list = match (members.get("items"), lists.next(), lists.next()) {
            (Some(items), ..) => items,
            (None, Some((_, only)), None) => only,
            _ => return Err(unreadable(request, "it is not a page")),
        };
        let items = serde_json::from_str(list.get());
        let items = items.map_err(|_| unreadable(request, "a record of it is incomplete"))?;
        let next_cursor = match members.get("next_cursor") {
            None => None,
            Some(cursor) => serde_json::from_str(cursor.get())
                .map_err(|_| unreadable(request, "its cursor is not text"))?,
        };
        Ok(Page {
            items,
            next_cursor,
            unknown_columns: unknown_columns(result),
        })
    }
}

fn unreadable(request: &Request, why: &str) -> Error {
    Error::Unreadable {
        request: request.to_string(),
        why: why.to_owned(),
    }
}

fn unknown_columns(result: &ApiResponse) -> Vec<String> {
    let header = result.header("x-unknown-columns").unwrap_or_default();
    header
        .split(',')
        .map(|name| {
            percent_decode_str(name.trim())
                .decode_utf8_lossy()
                .into_owned()
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// The pages of a list, one after the other. It ends after the first error.
#[derive(Debug)]
pub struct Pages<'c, T> {
    client: &'c Client,
    request: Request,
    cursor: Option<String>,
    /// How many records are still wanted; all without a number.
    wanted: Option<usize>,
    over: bool,
    records: PhantomData<T>,
}

impl<'c, T> Pages<'c, T> {
    pub(super) fn new(client: &'c Client, mut request: Request, wanted: Option<usize>) -> Self {
        request.unfold();
        Pages {
            client,
            request,
            cursor: None,
            wanted,
            over: wanted == Some(0),
            records: PhantomData,
        }
    }

    /// The request of the next page.
    fn next_request(&self) -> Request {
        let mut request = self.request.clone();
        let size = self.wanted.unwrap_or(MAX_PAGE_SIZE).min(MAX_PAGE_SIZE);
        // A size that was asked for is kept as long as it fits.
        let given = request.query.iter().any(|(name, _)| name == "limit");
        if !given {
            request = request.with("limit", size.to_string());
        }
        if let Some(cursor) = &self.cursor {
            request.query.retain(|(name, _)| name != "cursor");
            request = request.with("cursor", cursor.clone());
        }
        request
    }
}

impl<T: DeserializeOwned> Pages<'_, T> {
    fn fetch(&mut self) -> Result<Page<T>, Error> {
        let request = self.next_request();
        let result = self.client.call(&request)?;
        let mut page: Page<T> = Page::read(&request, &result)?;
        // For servers that give more than they are asked for.
        page.items.truncate(self.wanted.unwrap_or(usize::MAX));
        // Some servers give an empty cursor for none.
        let next = page.next_cursor.clone().filter(|next| !next.is_empty());
        if next.is_some() && next == self.cursor {
            return Err(unreadable(&request, "its next page is itself"));
        }
        let left = self
            .wanted
            .map(|wanted| wanted.saturating_sub(page.items.len()));
        self.over = next.is_none() || left == Some(0);
        self.wanted = left;
        self.cursor = next;
        Ok(page)
    }
}

impl<T: DeserializeOwned> Iterator for Pages<'_, T> {
    type Item = Result<Page<T>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let page = self.fetch();
        if page.is_err() {
            self.over = true;
        }
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::Page;
    use crate::client::{ApiResponse, Request};

    fn read(body: &str) -> Result<(Vec<String>, Option<String>), String> {
        let result = ApiResponse {
            status: 200,
            headers: vec![("x-unknown-columns".to_owned(), "a%2Cb, c".to_owned())],
            body: body.into(),
        };
        let page: Page<Box<RawValue>> =
            Page::read(&Request::get("/v1/x"), &result).map_err(|error| error.to_string())?;
        assert_eq!(page.unknown_columns, ["a,b", "c"]);
        let items = page.items.iter().map(|item| item.get().to_owned());
        Ok((items.collect(), page.next_cursor))
    }

    #[test]
    fn pages_are_read_whatever_their_list_is_called() {
        let one = Ok((vec!["1.10".to_owned()], Some("c".to_owned())));
        assert_eq!(read(r#"{"items": [1.10], "next_cursor": "c"}"#), one);
        assert_eq!(read(r#"{"next_cursor": "c", "results": [1.10]}"#), one);
        assert_eq!(
            read(r#"{"items": [1.10], "next_cursor": "c", "more": []}"#),
            one
        );
        assert_eq!(read(" [1.10]"), Ok((vec!["1.10".to_owned()], None)));
        let last = Ok((Vec::new(), None));
        assert_eq!(read(r#"{"items": []}"#), last);
        assert_eq!(read(r#"{"items": [], "next_cursor": null}"#), last);
    }

    #[test]
    fn what_is_not_page_is_reported() {
        for (body, why) in [
            ("", "it is empty"),
            ("<html>", "no JSON at line 1, column 1"),
            ("{}", "it is not a page"),
            (r#"{"a": [], "b": []}"#, "it is not a page"),
            (r#"{"items": {}}"#, "a record of it is incomplete"),
            (
                r#"{"items": [], "next_cursor": 7}"#,
                "its cursor is not text",
            ),
        ] {
            let error = read(body).expect_err(body);
            assert!(error.ends_with(why), "{error}");
        }
    }
}
