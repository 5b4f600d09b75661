//! A prepared package whose rows are still at the source.

use std::io::Write;

use super::error::{ExportError, Fault};
use super::onto::{Before, PreviousPackage};
use super::rows::{self, ExportedTable};
use super::{ExportResult, invariant};
use crate::json::Doc;
use crate::package::canonical::CommonPrefix;
use crate::package::model::{Contents, Manifest, Package};
use crate::workspace::Source;

/// How much text is gathered before it is handed on.
const CHUNK_BYTES: usize = 64 * 1024;

/// A package that is decided, and whose rows are still at the source: what it holds of them are
/// their uids and the values that others link to.
#[derive(Debug)]
pub struct Draft<'p> {
    package: Package,
    /// The text around the rows of each entry: one more than there are tables.
    pieces: Vec<String>,
    tables: Vec<ExportedTable>,
    /// An earlier package that this one may be equal to.
    before: Option<Before<'p>>,
}

impl<'p> Draft<'p> {
    pub(super) fn new(
        package: Package,
        tables: Vec<ExportedTable>,
        previous: Option<&PreviousPackage<'p>>,
    ) -> Result<Draft<'p>, Fault> {
        invariant::check(&package.manifest.plan)?;
        let pieces = pieces(&package)?;
        if pieces.len() != tables.len() + 1 {
            return Err(Fault::Broken("a table has no payload entry".to_owned()));
        }
        if let Err(error) = Doc::parse(&pieces.concat()) {
            return Err(Fault::TooDeep {
                what: "the manifest".to_owned(),
                error,
            });
        }
        let unchanged = tables.iter().all(ExportedTable::unchanged);
        let before = previous.filter(|_| unchanged);
        let before = before.and_then(|previous| {
            let mut dated = package.clone();
            date(&mut dated.manifest, &previous.manifest);
            Some(Before {
                pieces: self::pieces(&dated).ok()?,
                text: previous.canonical()?,
            })
        });
        Ok(Draft {
            package,
            pieces,
            tables,
            before,
        })
    }

    /// The package; its payload entries say how many rows they have, and hold none.
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// Writes the canonical text, reading the rows a second time: they must not have changed. When
    /// nothing but the time differs from an earlier package, that one is written.
    ///
    /// The text has not been checked; rows that a column no longer takes are in it. Whoever
    /// hands it on must provide its reader the findings of [`crate::check`], as [`super::export`] gives.
    pub async fn write_to<S: Source + Sync>(
        &self,
        source: &S,
        sink: &mut (dyn Write + Send),
    ) -> ExportResult<(), S> {
        if let Some(before) = &self.before {
            let mut same = CommonPrefix(before.text.as_bytes());
            let written = self.write(source, &before.pieces, &mut same).await;
            match written {
                Ok(()) if same.0.is_empty() => {
                    let written = sink.write_all(before.text.as_bytes());
                    return written.map_err(ExportError::Write);
                }
                // Something else differs.
                Ok(()) | Err(ExportError::Write(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.write(source, &self.pieces, sink).await
    }

    /// Writes the rows between these pieces.
    async fn write<S: Source + Sync>(
        &self,
        source: &S,
        pieces: &[String],
        sink: &mut (dyn Write + Send),
    ) -> ExportResult<(), S> {
        let mut text = String::with_capacity(2 * CHUNK_BYTES);
        let mut pieces = pieces.iter();
        text.push_str(pieces.next().map_or("", String::as_str));
        for (table, piece) in self.tables.iter().zip(pieces) {
            let mut reading = rows::Reading::new(table.feature);
            let mut lines = rows::RowWriter::new(&self.tables, table);
            while let Some(page) = reading.next(source).await? {
                lines.write(&page, &mut text)?;
                if text.len() >= CHUNK_BYTES {
                    sink.write_all(text.as_bytes())
                        .map_err(ExportError::Write)?;
                    text.clear();
                }
            }
            lines.finish()?;
            text.push_str(piece);
        }
        sink.write_all(text.as_bytes()).map_err(ExportError::Write)
    }
}

fn pieces(package: &Package) -> Result<Vec<String>, Fault> {
    package
        .write_around_rows()
        .map_err(|error| Fault::Unwritable {
            what: "the manifest".to_owned(),
            error,
        })
}

/// Gives a manifest the times of another.
fn date(manifest: &mut Manifest, other: &Manifest) {
    let written = &other.plan.metadata.generated_at;
    manifest.plan.metadata.generated_at.clone_from(written);
    if let (Contents::Version2(layers), Some(other)) = (&mut manifest.contents, other.layers()) {
        let written = &other.source.generated_at;
        layers.source.generated_at.clone_from(written);
    }
}
