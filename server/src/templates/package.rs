//! Joins a package from its stored parts.

use std::ops::Range;

use tplkit::json::{Doc, Node};

use super::record::Record;
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx, Value};

/// A package as the store has it: its canonical text, put together as its parts are read, so that it is held
/// once.
#[derive(Debug)]
pub(crate) struct Package {
    text: String,
    /// Where its manifest stands.
    manifest: Range<usize>,
}

/// How many bytes of entries are read together. They are there once more until they are put into the package.
const TOGETHER: i64 = 2 << 20;

/// What is between two members of a package.
pub(super) const BETWEEN: &str = ",\n  ";

impl Package {
    /// Of its parts, each as it is written.
    pub(super) fn of(manifest: &str, entries: &[String], other_members: &str) -> Package {
        let length = entries.iter().map(String::len).sum();
        let mut writing = Writing::new(manifest, length, other_members);
        for entry in entries {
            writing.entry(entry);
        }
        writing.finish(other_members)
    }

    /// With another manifest.
    pub(super) fn with_manifest(mut self, manifest: &str) -> Package {
        let start = self.manifest.start;
        self.text.replace_range(self.manifest, manifest);
        self.manifest = start..start + manifest.len();
        self
    }

    /// Its manifest.
    pub(super) fn manifest(&self) -> &str {
        &self.text[self.manifest.clone()]
    }

    /// The canonical text of the whole file. The parts go as they are written.
    pub(crate) fn text(self) -> String {
        self.text
    }
}

/// A package that is being put together.
struct Writing {
    package: Package,
    entries: usize,
    /// Whether rows are to come.
    announces: bool,
}

impl Writing {
    /// Begins with the manifest. `length` is that of all entries.
    fn new(manifest: &str, length: usize, other_members: &str) -> Writing {
        const HEAD: &str = "{\n  \"manifest\": ";
        // Room for what is around entries is made as they come.
        let capacity = HEAD.len() + manifest.len() + length + other_members.len() + 64;
        let mut text = String::with_capacity(capacity);
        text.extend([HEAD, manifest]);
        let manifest = HEAD.len()..text.len();
        Writing {
            announces: announces_rows(&text[manifest.clone()]),
            package: Package { text, manifest },
            entries: 0,
        }
    }

    fn entry(&mut self, entry: &str) {
        let text = &mut self.package.text;
        if self.entries == 0 {
            text.extend([BETWEEN, "\"payloads\": [\n    "]);
        } else {
            text.push_str(",\n    ");
        }
        text.push_str(entry);
        self.entries += 1;
    }

    fn finish(mut self, other_members: &str) -> Package {
        let text = &mut self.package.text;
        match self.entries {
            // An empty list would say that the rows are lost; without one they did not come yet.
            0 if self.announces => {}
            0 => text.extend([BETWEEN, "\"payloads\": []"]),
            _ => text.push_str("\n  ]"),
        }
        if !other_members.is_empty() {
            text.extend([BETWEEN, other_members]);
        }
        text.push_str("\n}\n");
        self.package
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
    let length = usize::try_from(length).unwrap_or_default();
    let mut writing = Writing::new(&manifest, length, &other_members);
    for part in parts(&found) {
        part_of(tx, template, part, &mut writing).await?;
    }
    Ok(writing.finish(&other_members))
}

/// Entries that are read together: so many that they stay below the bound, and at least one.
fn parts(entries: &[(String, i64)]) -> impl Iterator<Item = &[(String, i64)]> {
    let mut rest = entries;
    std::iter::from_fn(move || {
        let mut bytes = 0_i64;
        let fits = rest.iter().take_while(|(_, length)| {
            bytes = bytes.saturating_add(*length);
            bytes <= TOGETHER
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
    writing: &mut Writing,
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
        writing.entry(&entry);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Package, TOGETHER, parts};

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
            assert_eq!(package.manifest(), manifest);
            let changed = Package::of("{ }", &entries, other_members).with_manifest(manifest);
            assert_eq!(changed.manifest(), manifest);
            assert_eq!(package.text(), text);
            if manifest != rows {
                assert_eq!(changed.text(), text);
            }
        }
    }

    #[test]
    fn entries_are_read_below_the_bound_and_at_least_one() {
        let half = TOGETHER / 2;
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
