//! What a package holds, to compare the one of the catalog with the one that a job applied.
//!
//! In: the texts of two packages. Out: whether they hold the same. Both are put together from parts, each in its own way,
//! so the texts themselves are not compared.

use tplkit::apply::{content_digest, package_digest};
use tplkit::json::{Doc, Node};
use tplkit::package::canonical;

use super::manifest;
use super::package::unreadable;
use crate::refusal::Refusal;

/// Whether two packages hold the same manifest and the same payload entries. Who sees the template does not count, nor do
/// members next to these two, which a job does not keep; no `payloads` are as many as an empty list has.
///
/// # Errors
/// When what was checked cannot be read, which is a bug.
pub(super) fn is_same(one: &str, other: &str) -> Result<bool, Refusal> {
    Ok(digests(one)? == digests(other)?)
}

/// The digest of the manifest, then those of the entries in order.
fn digests(text: &str) -> Result<Vec<String>, Refusal> {
    let doc = Doc::parse_package(text).map_err(|error| unreadable(&error))?;
    let root = doc.root();
    let manifest = manifest::with(
        root.get("manifest").unwrap_or(root),
        &[("visibility", None)],
    );
    let mut digests = vec![content_digest(&format!("{{\"manifest\":{manifest}}}"))];
    for entry in root.get("payloads").into_iter().flat_map(Node::elements) {
        let entry = canonical::entry(entry).map_err(|error| unreadable(&error))?;
        digests.push(package_digest(&entry));
    }
    Ok(digests)
}

#[cfg(test)]
mod tests {
    use super::is_same;

    const MANIFEST: &str = r#""manifest": {"templateVersion": 2, "name": "a", "plan": {}}"#;

    fn compared(other: &str) -> bool {
        let one = format!("{{{MANIFEST}, \"payloads\": []}}");
        is_same(&one, other).expect("two packages")
    }

    #[test]
    fn how_a_package_is_put_together_does_not_count() {
        for other in [
            format!("{{{MANIFEST}}}"),
            format!("{{{MANIFEST}, \"payloads\": [], \"x\": 1}}"),
            r#"{"manifest":{"visibility":"public","plan":{},"name":"a","templateVersion":2}}"#
                .to_owned(),
        ] {
            assert!(compared(&other), "{other}");
        }
    }

    #[test]
    fn what_a_package_holds_counts() {
        let entry = r#"{"itemUid": "u_1", "columns": ["a"], "rows": []}"#;
        for other in [
            r#"{"manifest": {"templateVersion": 2, "name": "b", "plan": {}}}"#.to_owned(),
            r#"{"manifest": {"templateVersion": 1, "name": "a", "plan": {}}}"#.to_owned(),
            format!("{{{MANIFEST}, \"payloads\": [{entry}]}}"),
        ] {
            assert!(!compared(&other), "{other}");
        }
    }
}
