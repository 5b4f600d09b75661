//! The query for the rows of a table.

use super::request::Request;

/// A question about the rows of a table, in the words of the API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowQuery {
    /// `column:op:value`, as often as wanted.
    pub filters: Vec<String>,
    /// Whether one filter that holds is enough.
    pub any: bool,
    /// A column; with a hyphen before it, the other way round.
    pub sort: Option<String>,
    /// The columns to return; all when there is none.
    pub fields: Vec<String>,
}

impl RowQuery {
    /// The request for rows of that table.
    pub(super) fn request(&self, feature: &str) -> Request {
        let request = Request::get(format!("/v1/features/{}/rows", segment(feature)));
        let mut request = self.filtered(request);
        if let Some(sort) = &self.sort {
            request = request.with("sort", sort);
        }
        if !self.fields.is_empty() {
            request = request.with("fields", self.fields.join(","));
        }
        request
    }

    /// The request, with what rows have to fulfil.
    pub(super) fn filtered(&self, mut request: Request) -> Request {
        for filter in &self.filters {
            request = request.with("filter", filter);
        }
        if self.any {
            request = request.with("match", "any");
        }
        request
    }
}

/// An id as one segment of a path, whatever it holds.
pub(super) fn segment(id: &str) -> String {
    percent_encoding::utf8_percent_encode(id, percent_encoding::NON_ALPHANUMERIC)
        .to_string()
        .replace("%2D", "-")
}

#[cfg(test)]
mod tests {
    use super::RowQuery;

    #[test]
    fn a_question_becomes_parameters() {
        let question = RowQuery {
            filters: vec!["a:eq:1".to_owned(), "b:is:null".to_owned()],
            any: true,
            sort: Some("-a".to_owned()),
            fields: vec!["a".to_owned(), "b".to_owned()],
        };
        let request = question.request("0198-a/../x");
        assert_eq!(request.path, "/v1/features/0198-a%2F%2E%2E%2Fx/rows");
        let query: Vec<String> = request
            .query
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            query,
            [
                "filter=a:eq:1",
                "filter=b:is:null",
                "match=any",
                "sort=-a",
                "fields=a,b"
            ]
        );
        assert!(RowQuery::default().request("x").query.is_empty());
    }
}
