//! The cell that a file is uploaded for: a row, and a column of files in its table.
//!
//! It is looked for before anything is uploaded. What is refused afterwards takes the file away again.

use serde_json::value::RawValue;
use tplkit::client::{Client, Error, FileRecord};
use tplkit::printable;
use tplkit::problem::Code;

use crate::cli::client_error;
use crate::cli::error::CliError;

/// The type of columns whose cells name files.
const OF_FILES: &str = "file";

/// A cell of a row that is there.
#[derive(Debug)]
pub(super) struct Cell {
    feature: String,
    row: String,
    column: String,
}

impl Cell {
    /// The cell of a row in the tables of a workspace that have such a column, by its name or label.
    ///
    /// # Errors
    /// There is none, or its column is none of files; or the server does not respond.
    pub(super) fn find(
        client: &Client,
        workspace: &str,
        row: &str,
        column: &str,
    ) -> Result<Cell, CliError> {
        let mut any = false;
        for page in client.features(Some(workspace)) {
            for feature in page?.items {
                let columns = client.columns(&feature.id)?;
                let by_name = columns.iter().find(|one| one.name == column);
                let by_label = || {
                    columns
                        .iter()
                        .find(|one| one.label.as_deref() == Some(column))
                };
                let Some(found) = by_name.or_else(by_label) else {
                    continue;
                };
                any = true;
                match client.row(&feature.id, row) {
                    Ok(_) => {}
                    Err(error) if error.status() == Some(404) => continue,
                    Err(error) => return Err(error.into()),
                }
                let kind = found.column_type.as_deref().unwrap_or(OF_FILES);
                if kind != OF_FILES {
                    return Err(of_another_kind(column, kind));
                }
                return Ok(Cell {
                    feature: feature.id,
                    row: row.to_owned(),
                    column: found.name.clone(),
                });
            }
        }
        Err(missing(any, row, column))
    }

    /// Writes the id of a file into the cell; gives the row, where the server's response had it. A file that the row does
    /// not take is deleted again.
    ///
    /// # Errors
    /// The row refuses it, or the server does not respond.
    pub(super) fn write(
        &self,
        client: &Client,
        file: &FileRecord,
    ) -> Result<Option<Box<RawValue>>, CliError> {
        let written = client.write_cell(&self.feature, &self.row, &self.column, &file.id);
        let error = match written {
            Ok(row) => return Ok(Some(row)),
            Err(error) => error,
        };
        let help = client_error::help(&error);
        let help = match client.delete_file(&file.id, false) {
            Ok(()) => format!("{help}; the file is deleted again"),
            // The response got lost, not the write.
            Err(deleting) if is_used(&deleting) => return Ok(None),
            Err(_) => format!(
                "{help}; the file is still there: `tplkit files rm {} --yes` deletes it",
                printable::line(&file.id)
            ),
        };
        Err(CliError::NotAttached {
            source: Box::new(error),
            help,
        })
    }
}

fn is_used(error: &Error) -> bool {
    matches!(error, Error::Refused(problem) if problem.is(Code::NotEmpty))
}

fn of_another_kind(column: &str, kind: &str) -> CliError {
    CliError::Impossible {
        message: format!(
            "column `{}` is of type `{}`, and only one of type `{OF_FILES}` uses files; nothing was uploaded",
            column.escape_debug(),
            kind.escape_debug()
        ),
        help: "name a column of files with `--column`".to_owned(),
    }
}

fn missing(any: bool, row: &str, column: &str) -> CliError {
    let (row, column) = (row.escape_debug(), column.escape_debug());
    let (message, help) = if any {
        (
            format!(
                "no table of the workspace has column `{column}` and a row `{row}` that you may see"
            ),
            "check the id of the row: `tplkit rows list TABLE` shows rows",
        )
    } else {
        (
            format!("no table of the workspace has a column `{column}`"),
            "check the name of the column, and the workspace",
        )
    };
    CliError::Impossible {
        message: message + "; nothing was uploaded",
        help: help.to_owned(),
    }
}
