//! A workspace as a package, read with the visibility of the caller.

use tplkit::definitions::Definitions;
use tplkit::export::{ExportError, Fault as Why, Selection, prepare};
use uuid::Uuid;

use super::refusals::refused;
use crate::context::RandomIds;
use crate::http::call::OperationContext;
use crate::http::problem::{Code, Fault, Problem};
use crate::http::spool::{Spool, no_room};
use crate::store::Tx;
use crate::workspace::{ReadError, Snapshot};

/// What is to travel, and from where.
#[derive(Debug)]
pub(crate) struct Export {
    workspace: Uuid,
    selection: Selection,
}

impl Export {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// 422 with everything that is wrong with it.
    pub(crate) fn read(workspace: Uuid, body: &str) -> Result<Export, Problem> {
        let selection = Selection::from_json(body).map_err(|faults| refused(&faults))?;
        Ok(Export {
            workspace,
            selection,
        })
    }

    /// Writes the package. Rows are read page by page, twice, and never held.
    ///
    /// # Errors
    /// 404 for a workspace that cannot be seen, 422 for a selection of what is not there.
    pub(crate) async fn write(
        tx: &mut Tx,
        asked: &OperationContext<Export>,
    ) -> Result<Spool, Problem> {
        let Export {
            workspace,
            selection,
        } = &asked.input;
        let source = Snapshot::new(tx, *workspace, &asked.tables);
        let clock = asked.context.clock();
        let definitions = Definitions::embedded();
        let draft = prepare(&source, selection, clock, &mut RandomIds, definitions).await;
        let draft = draft.map_err(problem)?;
        let mut spool = Spool::default();
        draft.write_to(&source, &mut spool).await.map_err(problem)?;
        Ok(spool)
    }
}

fn problem(error: ExportError<ReadError>) -> Problem {
    match error {
        ExportError::Source(error) => error.into(),
        ExportError::Write(error) => no_room(&error),
        ExportError::Fault(why) => fault(&why),
    }
}

fn fault(why: &Why) -> Problem {
    match why {
        Why::Unknown(unknown) => Problem::invalid(
            unknown
                .iter()
                .map(|unknown| {
                    let reported = format!("the workspace has no {}", unknown.id);
                    Fault::new(unknown.list, reported)
                })
                .collect(),
        ),
        Why::RowsWithoutTable(_) => Problem::fault("rows", why.to_string()),
        // The workspace holds what no package can.
        Why::UnfitNames(_) | Why::TooDeep { .. } => {
            Problem::new(Code::ValidationFailed, format!("{why}."))
        }
        why => {
            tracing::error!(error = %why, "an export failed");
            Problem::new(
                Code::Internal,
                "Something went wrong here; it has been recorded.",
            )
        }
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Problem {
        match error {
            ReadError::NoWorkspace(_) | ReadError::NoTable(_) => Problem::not_found(),
            ReadError::Forbidden => Problem::forbidden(format!("{error}.")),
            ReadError::Store(error) => error.into(),
        }
    }
}
