//! Conditions on the tag of what is there (RFC 9110, section 13). The tag is a strong one.

use axum::http::{HeaderMap, HeaderName, header};

/// What the conditions of a request come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The request is carried out.
    Go,
    /// The client has it already.
    NotModified,
    /// Something else is there than the client expects.
    Failed,
}

/// Looks at `If-Match` and `If-None-Match`, in this order.
pub fn verdict(headers: &HeaderMap, tag: &str) -> Verdict {
    let given = |name: &HeaderName| headers.contains_key(name);
    if given(&header::IF_MATCH) && !any(headers, &header::IF_MATCH, |known| known == tag) {
        return Verdict::Failed;
    }
    let same = |known: &str| known.strip_prefix("W/").unwrap_or(known) == tag;
    if given(&header::IF_NONE_MATCH) && any(headers, &header::IF_NONE_MATCH, same) {
        return Verdict::NotModified;
    }
    Verdict::Go
}

/// Whether the response may be a part: `If-Range` is not there, or names this very tag.
pub fn may_be_part(headers: &HeaderMap, tag: &str) -> bool {
    let mut given = headers.get_all(header::IF_RANGE).iter();
    match (given.next(), given.next()) {
        (None, _) => true,
        (Some(known), None) => known.to_str().is_ok_and(|known| known.trim() == tag),
        _ => false,
    }
}

fn any(headers: &HeaderMap, name: &HeaderName, same: impl Fn(&str) -> bool) -> bool {
    let values = headers.get_all(name).iter();
    let mut tags = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','));
    // Tags of ours hold no comma.
    tags.any(|tag| tag.trim() == "*" || same(tag.trim()))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue};

    use super::{Verdict, may_be_part, verdict};

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let lines = lines.iter();
        let lines = lines.map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name, value);
        }
        headers
    }

    #[test]
    fn tags_are_compared_strongly_or_weakly() {
        use Verdict::{Failed, Go, NotModified};
        for (lines, expected) in [
            (&[][..], Go),
            (&[("if-match", "\"a\"")], Go),
            (&[("if-match", "\"b\", \"a\"")], Go),
            (&[("if-match", "*")], Go),
            (&[("if-match", "W/\"a\"")], Failed),
            (&[("if-match", "\"b\"")], Failed),
            (&[("if-match", "\"b\""), ("if-match", "\"a\"")], Go),
            (&[("if-none-match", "\"a\"")], NotModified),
            (&[("if-none-match", "W/\"a\"")], NotModified),
            (&[("if-none-match", "*")], NotModified),
            (&[("if-none-match", "\"b\"")], Go),
            (&[("if-match", "\"b\""), ("if-none-match", "\"a\"")], Failed),
            (
                &[("if-match", "\"a\""), ("if-none-match", "\"a\"")],
                NotModified,
            ),
        ] {
            assert_eq!(verdict(&headers(lines), "\"a\""), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_part_is_of_what_the_client_has_begun() {
        for (lines, fine) in [
            (&[][..], true),
            (&[("if-range", "\"a\"")], true),
            (&[("if-range", "W/\"a\"")], false),
            (&[("if-range", "\"b\"")], false),
            (&[("if-range", "Wed, 21 Oct 2015 07:28:00 GMT")], false),
            (&[("if-range", "\"a\""), ("if-range", "\"a\"")], false),
        ] {
            assert_eq!(may_be_part(&headers(lines), "\"a\""), fine, "{lines:?}");
        }
    }
}
