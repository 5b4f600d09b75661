//! Splits a package into its stored parts: the manifest, each payload entry, and the rest.

use std::borrow::Cow;
use std::ops::Range;

use tplkit::check::{CheckOptions, check_text};
use tplkit::json::{Doc, Node, write_string};
use tplkit::package::canonical;

use super::identity::Identity;
use super::manifest::{self, Member, VERSION};
use super::package::BETWEEN;
use super::package_refusal;
use crate::jobs::PackedPart;
use crate::json_body;
use crate::refusal::{Code, Refusal};
use crate::release_memory;
use crate::store::StoreError;

/// Where a package comes from: a file has to say its version, what is put into the store need not
/// (`contract` 2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file that is imported.
    File,
    /// The store's own form.
    Store,
}

/// A package without errors, ready to be kept.
#[derive(Debug)]
pub(crate) struct PackageParts {
    pub(super) identity: Identity,
    /// Visible to its organization, as everything begins.
    pub(super) manifest: String,
    /// Members that no version of the format knows.
    pub(super) other_members: String,
    /// The package as it came, of which entries may be parts.
    text: String,
    entries: Vec<PayloadText>,
}

/// A payload entry in canonical form.
#[derive(Debug)]
struct PayloadText {
    item_uid: String,
    row_count: i64,
    written: EntryText,
}

/// Where its text is. A package is large, so it is held once.
#[derive(Debug)]
enum EntryText {
    /// In the package as it came: most are written by an exporter.
    Here(Range<usize>),
    /// It came otherwise.
    Anew(PackedPart),
}

/// A payload entry as it is kept.
#[derive(Debug)]
pub(super) struct StoredEntry<'p> {
    pub(super) item_uid: &'p str,
    pub(super) row_count: i64,
    pub(super) text: String,
}

impl PackageParts {
    /// Checks a package and takes it apart. It may be an envelope or a bare manifest.
    ///
    /// # Errors
    /// 422 with every rule that is broken as an error.
    pub(crate) fn read(text: String, origin: Origin) -> Result<PackageParts, Refusal> {
        let mut parts = {
            let doc = Doc::parse_package(&text).ok();
            let Some(doc) = doc.filter(|doc| doc.anomalies().is_empty()) else {
                return Err(unreadable(&text));
            };
            let root = doc.root();
            let manifest = root.get("manifest").unwrap_or(root);
            let versioned = manifest.get(VERSION).is_some();
            if versioned || origin == Origin::File || !manifest.is_object() {
                package_refusal::accept(&check_text(&text, &CheckOptions::default()))?;
            } else {
                let filled = if manifest == root {
                    manifest::with(manifest, &[])
                } else {
                    envelope(root, manifest, &[], payloads(root, manifest))
                };
                package_refusal::accept(&check_text(&filled, &CheckOptions::default()))?;
            }
            PackageParts::cut(root, manifest, versioned)?
        };
        release_memory::between_steps(&text);
        if parts.entries.iter().any(PayloadText::is_here) {
            parts.text = text;
        }
        Ok(parts)
    }

    /// Takes a checked package apart. What its entries point into is not there yet.
    fn cut(root: Node<'_>, manifest: Node<'_>, versioned: bool) -> Result<PackageParts, Refusal> {
        let org = [("visibility", Some("\"org\"".to_owned()))];
        let text = envelope(root, manifest, &org, "[]");
        let text = canonical::write(&text).map_err(|error| unwritable(&error))?;
        let doc = Doc::parse_package(&text).map_err(|error| unwritable(&error))?;
        let whole = doc.root();
        let members = other_members(whole)
            .map(|(key, value)| format!("{}: {}", write_string(key), value.raw()));
        let members: Vec<String> = members.collect();
        let (stored, identity) =
            manifest::stored(whole.get("manifest").unwrap_or(whole), versioned);
        let entries = root.get("payloads").filter(|_| manifest != root);
        let entries = entries.into_iter().flat_map(Node::elements);
        Ok(PackageParts {
            identity,
            manifest: stored,
            other_members: members.join(BETWEEN),
            text: String::new(),
            entries: entries.map(PayloadText::of).collect::<Result<_, _>>()?,
        })
    }

    /// The payload entries, in order.
    pub(super) fn entries(&self) -> impl Iterator<Item = Result<StoredEntry<'_>, StoreError>> {
        self.entries.iter().map(|entry| {
            Ok(StoredEntry {
                item_uid: &entry.item_uid,
                row_count: entry.row_count,
                text: match &entry.written {
                    EntryText::Here(span) => self.text[span.clone()].to_owned(),
                    EntryText::Anew(part) => part.unpack()?,
                },
            })
        })
    }
}

impl PayloadText {
    fn of(entry: Node<'_>) -> Result<PayloadText, Refusal> {
        let written = match canonical::entry(entry).map_err(|error| unwritable(&error))? {
            Cow::Borrowed(_) => EntryText::Here(entry.span()),
            Cow::Owned(text) => EntryText::Anew(PackedPart::pack(&text)),
        };
        Ok(PayloadText {
            item_uid: entry.get_str("itemUid").unwrap_or_default().to_owned(),
            row_count: row_count(entry),
            written,
        })
    }

    fn is_here(&self) -> bool {
        matches!(self.written, EntryText::Here(_))
    }
}

/// How many rows an entry says it has.
fn row_count(entry: Node<'_>) -> i64 {
    entry.get("count").and_then(Node::as_i64).unwrap_or(0)
}

/// The members of an envelope next to its two halves.
fn other_members(root: Node<'_>) -> impl Iterator<Item = (&str, Node<'_>)> {
    let members = root
        .members()
        .filter_map(|member| Some((member.key()?, member)));
    let envelope = root.get("manifest").is_some();
    members.filter(move |(key, _)| envelope && !["manifest", "payloads"].contains(key))
}

/// The payloads of a package as they are written.
fn payloads<'d>(root: Node<'d>, manifest: Node<'_>) -> &'d str {
    let payloads = root.get("payloads").filter(|_| manifest != root);
    payloads.map_or("[]", Node::raw)
}

/// The envelope with another manifest, and these payloads.
fn envelope(root: Node<'_>, manifest: Node<'_>, changes: &[Member<'_>], payloads: &str) -> String {
    let manifest = manifest::with(manifest, changes);
    let mut text = format!("{{\"manifest\":{manifest},\"payloads\":{payloads}");
    for (key, value) in other_members(root) {
        text.extend([",", &write_string(key), ":", value.raw()]);
    }
    text.push('}');
    text
}

/// The refusal of a text that can be read in no way, or in two.
fn unreadable(text: &str) -> Refusal {
    let report = check_text(text, &CheckOptions::default());
    let mut refusal = match package_refusal::accept(&report) {
        Err(refusal) => refusal,
        Ok(()) => match json_body::read(text) {
            Err(refusal) => refusal,
            Ok(_) => Refusal::new(Code::InvalidJson, "this is no package that can be read"),
        },
    };
    refusal.code = Code::InvalidJson;
    refusal
}

/// What was checked can be written; anything else is a bug.
fn unwritable(error: &dyn std::error::Error) -> Refusal {
    Refusal::bug("a checked package has no canonical form", error)
}

/// The canonical text of one entry as it is in a package, checked as far as it speaks of itself
/// alone, and how many rows it says it has.
///
/// # Errors
/// 422 with every rule that is broken as an error, pointers from the entry.
pub(super) fn entry(text: &str, item_uid: &str) -> Result<(i64, String), Refusal> {
    let unread = Doc::parse(text).ok();
    let Some(doc) = unread.filter(|doc| doc.anomalies().is_empty()) else {
        return Err(unreadable(text));
    };
    if !doc.root().is_object() {
        return Err(json_body::not_an_object());
    }
    let found = doc.root().get("itemUid").and_then(Node::as_str);
    let same = found.is_none_or(|found| found == item_uid);
    drop(doc);
    let envelope = format!("{{\"manifest\":{{\"templateVersion\":1}},\"payloads\":[{text}]}}");
    let mut report = check_text(&envelope, &CheckOptions::default());
    let within = "/payloads/0";
    report.findings.retain(|finding| {
        let pointer = &finding.place.pointer;
        pointer.starts_with(within) && !OF_THE_WHOLE.contains(&finding.rule.code)
    });
    for finding in &mut report.findings {
        finding.place.pointer.replace_range(..within.len(), "");
    }
    package_refusal::accept(&report)?;
    if !same {
        return Err(Refusal::fault("itemUid", "is not the uid in the path"));
    }
    let doc = Doc::parse_package(&envelope).map_err(|error| unwritable(&error))?;
    let payloads = doc.root().get("payloads");
    let entry = payloads.and_then(|payloads| payloads.elements().next());
    let entry = entry.ok_or_else(Refusal::not_found)?;
    let canonical = canonical::entry(entry).map_err(|error| unwritable(&error))?;
    Ok((row_count(entry), canonical.into_owned()))
}

/// Rules that hold an entry against the rest of its package: a part that is sent alone may disagree
/// with the manifest until a promotion measures it (`rest` 6.1).
const OF_THE_WHOLE: [&str; 14] = [
    "R002", "R005", "R008", "R011", "R012", "R014", "R017", "R018", "R019", "R020", "R023", "R024",
    "R025", "R026",
];

#[cfg(test)]
mod tests {
    use super::{Origin, PackageParts, entry};

    fn code(text: &str, origin: Origin) -> String {
        let refused = PackageParts::read(text.to_owned(), origin).expect_err(text);
        format!("{refused:?}")
    }

    #[test]
    fn only_the_store_takes_a_manifest_without_a_version() {
        let text = r#"{"manifest": {"name": "a", "label": "A", "plan": {}}}"#;
        assert!(code(text, Origin::File).contains("J003"));
        // It is checked as version 1: its plan lacks everything.
        let refused = code(text, Origin::Store);
        assert!(
            refused.contains("J006") && refused.contains("/manifest/plan"),
            "{refused}"
        );
        assert!(code(text, Origin::Store).contains("ValidationFailed"));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_no_json() {
        for text in [
            "{",
            r#"{"manifest": {"templateVersion": 1, "templateVersion": 2}}"#,
            r#"{"manifest": {"a": 1, "a": 2}}"#,
            r#"{"manifest": {"name": "\u0000", "templateVersion": 1}}"#,
        ] {
            for origin in [Origin::File, Origin::Store] {
                assert!(code(text, origin).contains("InvalidJson"), "{text}");
            }
        }
    }

    #[test]
    fn an_entry_alone_is_checked_by_what_it_says() {
        let uid = "u_00000000-0000-4000-8000-000000000001";
        let with = |count: u8, rows: &str| {
            format!(
                r#"{{"featureRef":"f_x","itemUid":"{uid}","count":{count},"keyColumn":null,"keyUnique":false,"columns":["a"],"rows":{rows}}}"#
            )
        };
        let row = r#"[{"uid":"u_00000000-0000-4000-8000-000000000002","data":{"a":1.10}}]"#;
        let (count, text) = entry(&with(1, row), uid).expect("fine");
        assert_eq!(count, 1);
        assert!(text.contains("1.10"), "{text}");
        for (bad, why) in [
            (with(2, row), "R003"),
            ("{}".to_owned(), "J006"),
            ("[]".to_owned(), "has to be an object"),
        ] {
            let refused = format!("{:?}", entry(&bad, uid).expect_err(&bad));
            assert!(refused.contains(why), "{refused}");
        }
        let other = "u_00000000-0000-4000-8000-000000000009";
        let refused = format!("{:?}", entry(&with(1, row), other).expect_err("another"));
        assert!(refused.contains("itemUid"), "{refused}");
    }
}
