//! A prepared package whose rows are still at the source.

use std::io::Write;

use super::error::{ExportError, Fault};
use super::rows::{self, Table};
use super::{ExportResult, invariant};
use crate::json::Doc;
use crate::package::model::Package;
use crate::workspace::Source;

/// How much text is gathered before it is handed on.
const PIECE: usize = 64 * 1024;

/// A package that is decided, and whose rows are still at the source: what it holds of them are
/// their uids and the values that others link to.
#[derive(Debug)]
pub struct Draft {
    package: Package,
    /// The text around the rows of each entry: one more than there are tables.
    pieces: Vec<String>,
    tables: Vec<Table>,
}

impl Draft {
    pub(super) fn new(package: Package, tables: Vec<Table>) -> Result<Draft, Fault> {
        invariant::check(&package.manifest.plan)?;
        let pieces = package.write_around_rows();
        let pieces = pieces.map_err(|error| Fault::Unwritable {
            what: "the manifest".to_owned(),
            error,
        })?;
        if pieces.len() != tables.len() + 1 {
            return Err(Fault::Broken("a table has no payload entry".to_owned()));
        }
        if let Err(error) = Doc::parse(&pieces.concat()) {
            return Err(Fault::TooDeep {
                what: "the manifest".to_owned(),
                error,
            });
        }
        Ok(Draft {
            package,
            pieces,
            tables,
        })
    }

    /// The package; its payload entries say how many rows they have, and hold none.
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// Writes the canonical text, reading the rows a second time: they must not have changed.
    ///
    /// The text has not been checked; rows that a column no longer takes are in it. Whoever
    /// hands it on must provide its reader the findings of [`crate::check`], as [`super::export`] gives.
    pub async fn write_to<S: Source + Sync>(
        &self,
        source: &S,
        sink: &mut (dyn Write + Send),
    ) -> ExportResult<(), S> {
        let mut text = String::with_capacity(2 * PIECE);
        let mut pieces = self.pieces.iter();
        text.push_str(pieces.next().map_or("", String::as_str));
        for (table, piece) in self.tables.iter().zip(pieces) {
            let mut reading = rows::Reading::new(table.feature);
            let mut lines = rows::RowWriter::new(&self.tables, table);
            while let Some(page) = reading.next(source).await? {
                lines.write(&page, &mut text)?;
                if text.len() >= PIECE {
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
