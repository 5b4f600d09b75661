//! `file:` URIs and paths.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What a path segment may hold unescaped.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The path of a `file:` URI.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // A host other than this machine is not ours to read.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let path = path.split(['?', '#']).next()?;
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let drive = decoded.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive {
        decoded.trim_start_matches('/')
    } else {
        &decoded
    }))
}

/// The URI of an absolute path.
pub(super) fn of(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", utf8_percent_encode(&text, ESCAPED))
}

/// The last part of the path of any URI.
pub(super) fn name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{name, of, path};

    #[test]
    fn paths_go_there_and_back() {
        for text in ["/a/b c/é.json", "/100%/x#y?.json"] {
            let there = of(&PathBuf::from(text));
            assert_eq!(path(&there), Some(PathBuf::from(text)), "{there}");
        }
        assert_eq!(
            path("file:///c%3A/a.json"),
            Some(PathBuf::from("c:/a.json"))
        );
        assert_eq!(path("untitled:Untitled-1"), None);
        assert_eq!(path("file://elsewhere/a.json"), None);
        assert_eq!(name("untitled:/a/b%20c.tplkit.json?x"), "b c.tplkit.json");
    }
}
