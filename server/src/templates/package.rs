//! Joins a package from its stored parts.

use std::io::Write as _;

use tplkit::json::{Doc, Node};

use super::manifest::{self, VERSION};
use super::record::Record;
use crate::refusal::Refusal;
use crate::release_memory;
use crate::spool::{Spool, SpooledText};
use crate::store::{StoreError, Tx, Value};

/// A package as the store has it: its canonical text, put together as its parts are read, so that it is held
/// once.
#[derive(Debug)]
pub(crate) struct Package {
    text: String,
}

/// How many bytes of entries are read together. They are there once more until they are put into the package.
const BYTES_PER_QUERY: i64 = 2 << 20;

/// What is between two members of a package.
pub(super) const BETWEEN: &str = ",\n  ";

impl Package {
    /// Of its parts, each as it is written.
    pub(super) fn of(manifest: &str, entries: &[String], other_members: &str) -> Package {
        let mut text = String::new();
        let mut writing = PackageWriter::new(manifest);
        for entry in entries {
            writing.entry(entry, &mut |part| text.push_str(part));
        }
        writing.finish(other_members, &mut |part| text.push_str(part));
        Package { text }
    }

    /// The canonical text of the whole file. The parts go as they are written.
    pub(crate) fn text(self) -> String {
        self.text
    }
}

/// Where the text of a package goes, part by part.
type PartSink<'p> = dyn FnMut(&str) + Send + 'p;

/// A package that is being put together.
struct PackageWriter<'m> {
    manifest: &'m str,
    entries: usize,
}

impl<'m> PackageWriter<'m> {
    /// Begins with the manifest.
    fn new(manifest: &'m str) -> PackageWriter<'m> {
        PackageWriter {
            manifest,
            entries: 0,
        }
    }

    fn begin(&self, put: &mut PartSink<'_>) {
        put("{\n  \"manifest\": ");
        put(self.manifest);
    }

    fn entry(&mut self, entry: &str, put: &mut PartSink<'_>) {
        if self.entries == 0 {
            self.begin(put);
            put(BETWEEN);
            put("\"payloads\": [\n    ");
        } else {
            put(",\n    ");
        }
        put(entry);
        self.entries += 1;
    }

    fn finish(self, other_members: &str, put: &mut PartSink<'_>) {
        if self.entries > 0 {
            put("\n  ]");
        } else {
            self.begin(put);
            // An empty list would say that the rows are lost; without one they did not come yet.
            if !announces_rows(self.manifest) {
                put(BETWEEN);
                put("\"payloads\": []");
            }
        }
        if !other_members.is_empty() {
            put(BETWEEN);
            put(other_members);
        }
        put("\n}\n");
    }
}

fn announces_rows(manifest: &str) -> bool {
    let Ok(doc) = Doc::parse(manifest) else {
        return false;
    };
    let items = doc.root().get("items").into_iter().flat_map(Node::elements);
    items
        .into_iter()
        .any(|item| item.get_str("kind") == Some("rows"))
}

/// Reads the package of a template that the caller sees, in a transaction that sees what was there at one
/// time.
///
/// # Errors
/// 404 when it is gone.
pub(crate) async fn read(tx: &mut Tx, template: &Record) -> Result<Package, Refusal> {
    let mut text = String::new();
    write_parts(tx, template, Ok, &mut |part| text.push_str(part)).await?;
    Ok(Package { text })
}

/// The same with another manifest.
///
/// # Errors
/// 404 when it is gone.
pub(super) async fn read_with(
    tx: &mut Tx,
    template: &Record,
    manifest: &str,
) -> Result<Package, Refusal> {
    let mut text = String::new();
    let other = |_| Ok(manifest.to_owned());
    write_parts(tx, template, other, &mut |part| text.push_str(part)).await?;
    Ok(Package { text })
}

/// The same where it is read where it lies, in its current version.
///
/// # Errors
/// 404 when it is gone, 503 when there is no room for it.
pub(crate) async fn read_spooled(tx: &mut Tx, template: &Record) -> Result<SpooledText, Refusal> {
    let mut spool = Spool::default();
    let mut written = Ok(());
    let mut put = |part: &str| {
        if written.is_ok() {
            written = spool.write_all(part.as_bytes());
        }
    };
    write_parts(tx, template, versioned, &mut put).await?;
    let text = written.and_then(|()| spool.into_text());
    text.map_err(|error| no_room_for_package(&error))
}

/// The refusal of a package that could not be written down.
pub(super) fn no_room_for_package(error: &std::io::Error) -> Refusal {
    tracing::warn!(%error, "a package could not be written to a temporary file");
    Refusal::unavailable("There is no room for the package at the moment.")
}

/// What lacks a version in the store is of the first (`contract` 2.5).
fn versioned(manifest: String) -> Result<String, Refusal> {
    let filled = {
        let doc = Doc::parse(&manifest).map_err(|error| unreadable(&error))?;
        let lacking = doc.root().get(VERSION).is_none();
        lacking.then(|| manifest::with(doc.root(), &[]))
    };
    Ok(filled.unwrap_or(manifest))
}

/// A package of the store that cannot be read.
pub(super) fn unreadable(error: &dyn std::error::Error) -> Refusal {
    Refusal::bug("a package of the store cannot be read", error)
}

/// Puts the parts of a template together.
async fn write_parts(
    tx: &mut Tx,
    template: &Record,
    manifest_as: impl FnOnce(String) -> Result<String, Refusal>,
    put: &mut PartSink<'_>,
) -> Result<(), Refusal> {
    let sql = "SELECT manifest, beside FROM templates \
         WHERE {catalog organization_id visibility} AND organization_id = $1 AND id = $2";
    let at = [template.organization_id.into(), template.id.into()];
    let row = tx.first(sql, &at).await?.ok_or_else(Refusal::not_found)?;
    let (manifest, other_members): (String, String) = (row.get(0)?, row.get(1)?);
    let sql = "SELECT item_uid, CAST(octet_length(entry) AS bigint) FROM template_payloads \
         WHERE {catalog organization_id visibility} AND organization_id = $1 AND template_id = $2 \
         ORDER BY position";
    let found = tx.query(sql, &at).await?;
    let found = found.iter().map(|row| Ok((row.get(0)?, row.get(1)?)));
    let found: Vec<(String, i64)> = found.collect::<Result<_, StoreError>>()?;
    let length = found.iter().map(|(_, length)| length).sum::<i64>();
    release_memory::before_large(usize::try_from(length).unwrap_or_default());
    let manifest = manifest_as(manifest)?;
    let mut writing = PackageWriter::new(&manifest);
    for part in parts(&found) {
        part_of(tx, template, part, &mut writing, &mut *put).await?;
    }
    writing.finish(&other_members, put);
    Ok(())
}

/// Entries that are read together: so many that they stay below the bound, and at least one.
fn parts(entries: &[(String, i64)]) -> impl Iterator<Item = &[(String, i64)]> {
    let mut rest = entries;
    std::iter::from_fn(move || {
        let mut bytes = 0_i64;
        let fits = rest.iter().take_while(|(_, length)| {
            bytes = bytes.saturating_add(*length);
            bytes <= BYTES_PER_QUERY
        });
        let count = fits.count().max(1).min(rest.len());
        let (part, behind) = rest.split_at_checked(count)?;
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

async fn part_of(
    tx: &mut Tx,
    template: &Record,
    part: &[(String, i64)],
    writing: &mut PackageWriter<'_>,
    put: &mut PartSink<'_>,
) -> Result<(), Refusal> {
    let sql = "SELECT entry FROM template_payloads \
         WHERE {catalog organization_id visibility} AND organization_id = $1 AND template_id = $2 \
         AND {any item_uid $3} ORDER BY position";
    let uids = part.iter().map(|(uid, _)| uid.clone()).collect();
    let parameters = [
        template.organization_id.into(),
        template.id.into(),
        Value::Texts(uids),
    ];
    for row in tx.query(sql, &parameters).await? {
        let entry: String = row.get(0)?;
        drop(row);
        writing.entry(&entry, put);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BYTES_PER_QUERY, Package, parts};

    #[test]
    fn a_package_is_put_together_of_its_parts() {
        let rows = "{\"items\": [{\"kind\": \"rows\"}]}";
        for (manifest, entries, other_members, text) in [
            (
                "{}",
                &["1", "2"][..],
                "\"x\": 3",
                "{\n  \"manifest\": {},\n  \"payloads\": [\n    1,\n    2\n  ],\n  \"x\": 3\n}\n",
            ),
            (
                "{}",
                &[],
                "",
                "{\n  \"manifest\": {},\n  \"payloads\": []\n}\n",
            ),
            (
                rows,
                &[],
                "",
                "{\n  \"manifest\": {\"items\": [{\"kind\": \"rows\"}]}\n}\n",
            ),
        ] {
            let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
            let package = Package::of(manifest, &entries, other_members);
            assert_eq!(package.text(), text);
        }
    }

    #[test]
    fn entries_are_read_below_the_bound_and_at_least_one() {
        let half = BYTES_PER_QUERY / 2;
        let entries = |lengths: &[i64]| -> Vec<(String, i64)> {
            lengths
                .iter()
                .map(|length| (String::new(), *length))
                .collect()
        };
        for (lengths, counts) in [
            (&[][..], &[][..]),
            (&[0, 1, 2], &[3]),
            (&[half, half, half], &[2, 1]),
            (&[3 * half, 1, 3 * half, half, half], &[1, 1, 1, 2]),
            (&[1, 3 * half], &[1, 1]),
        ] {
            let entries = entries(lengths);
            let read: Vec<usize> = parts(&entries).map(<[_]>::len).collect();
            assert_eq!(read, counts, "{lengths:?}");
        }
    }
}
