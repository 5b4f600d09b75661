//! The base address of a server: the part before `/v1`.

use std::fmt;

use reqwest::Url;

/// The address of a server, with or without a path before `/v1`.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// An address that cannot be one of a server. It does not repeat the address: a password may
/// are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It cannot be read.
    #[error("is not a URL")]
    Unreadable,
    /// Neither `http` nor `https`.
    #[error("does not begin with http:// or https://")]
    Scheme,
    /// A user or a password is in it.
    #[error("carries a user name or password")]
    Credential,
    /// A query or a fragment is in it.
    #[error("carries a query or fragment")]
    Query,
}

impl BaseUrl {
    /// Reads an address; a last `/v1`, which every route has anyway, is left out.
    pub fn parse(text: &str) -> Result<BaseUrl, AddressError> {
        let mut url = Url::parse(text.trim()).map_err(|_| AddressError::Unreadable)?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err(AddressError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credential);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::Query);
        }
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/v1").unwrap_or(path).to_owned();
        url.set_path(path.trim_end_matches('/'));
        Ok(BaseUrl(url))
    }

    /// The address of a path that begins with `/`, which may bring its own query.
    ///
    /// Nothing if the path leads out of the server, or cannot be read.
    pub(super) fn join(&self, path: &str, query: &[(String, String)]) -> Option<Url> {
        let text = format!("{self}{path}");
        let mut url = Url::parse(&text).ok().filter(|_| path.starts_with('/'))?;
        let inside = url
            .path()
            .strip_prefix(self.0.path().trim_end_matches('/'))
            .is_some_and(|rest| rest.starts_with('/'));
        if !self.leads_to(&url) || !inside || url.fragment().is_some() {
            return None;
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Some(url)
    }

    /// Whether that is the same scheme, host and port.
    pub(super) fn leads_to(&self, url: &Url) -> bool {
        self.0.origin() == url.origin()
    }

    /// Whether what is sent can be read on the way: plain HTTP to another machine.
    pub fn is_open_to_readers(&self) -> bool {
        if self.0.scheme() == "https" {
            return false;
        }
        let host = self.0.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let loopback = bare
            .parse()
            .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        !loopback && host != "localhost" && !host.ends_with(".localhost")
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// An address for texts: without query, fragment and user.
pub(super) fn display_url(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.set_username("").ok();
    url.set_password(None).ok();
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::{AddressError, BaseUrl};

    #[test]
    fn the_version_and_last_slashes_belong_to_no_address() {
        for (given, kept) in [
            ("https://a.test", "https://a.test"),
            ("https://a.test/", "https://a.test"),
            (" https://A.test:443/v1/ ", "https://a.test"),
            ("http://a.test:8080/api/v1", "http://a.test:8080/api"),
            ("http://a.test/v1/v1", "http://a.test/v1"),
            ("http://a.test/api//", "http://a.test/api"),
        ] {
            let base = BaseUrl::parse(given).map(|base| base.to_string());
            assert_eq!(base.as_deref(), Ok(kept), "{given}");
        }
    }

    #[test]
    fn what_is_not_address_is_reported_without_repeating_it() {
        for (given, error) in [
            ("", AddressError::Unreadable),
            ("a.test", AddressError::Unreadable),
            ("localhost:8080", AddressError::Scheme),
            ("ftp://a.test", AddressError::Scheme),
            ("https://me:pass@a.test", AddressError::Credential),
            ("https://me@a.test", AddressError::Credential),
            ("https://a.test?x=1", AddressError::Query),
            ("https://a.test#x", AddressError::Query),
        ] {
            assert_eq!(BaseUrl::parse(given), Err(error), "{given}");
        }
    }

    #[test]
    fn paths_stay_inside() {
        let base = BaseUrl::parse("http://a.test/api").expect("an address");
        let query = [("filter".to_owned(), "a:eq:b&c d".to_owned())];
        let url = base.join("/v1/me?x=1", &query).expect("inside");
        assert_eq!(
            url.as_str(),
            "http://a.test/api/v1/me?x=1&filter=a%3Aeq%3Ab%26c+d"
        );
        for outside in [
            "v1/me",
            "/../v1/me",
            "/v1/../../secret",
            "/v1/me#x",
            "@b.test/v1/me",
            ":81/v1/me",
            "",
        ] {
            assert_eq!(base.join(outside, &[]), None, "{outside}");
        }
        let bare = BaseUrl::parse("http://a.test").expect("an address");
        assert_eq!(bare.join(":81/x", &[]), None);
        assert_eq!(bare.join(".evil.test/x", &[]), None);
        let double = bare.join("//b.test/x", &[]).expect("a path");
        assert_eq!(double.host_str(), Some("a.test"));
    }

    #[test]
    fn plain_http_is_for_this_machine() {
        for (given, open) in [
            ("http://a.test", true),
            ("https://a.test", false),
            ("http://localhost:1", false),
            ("http://app.localhost", false),
            ("http://127.0.0.1:1", false),
            ("http://127.8.8.8", false),
            ("http://[::1]:1", false),
            ("http://10.0.0.1", true),
            ("http://[::2]", true),
        ] {
            let base = BaseUrl::parse(given).expect("an address");
            assert_eq!(base.is_open_to_readers(), open, "{given}");
        }
    }
}
