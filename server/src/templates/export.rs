//! A workspace as a package, read with the visibility of the caller.

use std::borrow::Cow;

use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::export::onto::to_version_2;
use tplkit::export::{
    ExportBase, ExportError, ExportRequest, Fault as Why, PreviousPackage, prepare_onto,
};
use uuid::Uuid;

use super::apply::{LoadedPackage, spooled};
use super::apply_refusal::refused;
use super::package::unreadable;
use super::{find, read_spooled};
use crate::context::{Context, RandomIds};
use crate::refusal::{Code, Fault, Refusal};
use crate::rows::Tables;
use crate::spool::{Spool, SpooledText, disk_full};
use crate::store::Tx;
use crate::workspace::{ReadError, Snapshot};

/// What is to travel, and from where.
#[derive(Debug)]
pub(crate) struct Export {
    workspace: Uuid,
    request: ExportRequest,
    earlier: Option<EarlierPackage>,
}

/// A package whose identity is taken over: without errors, of version 2.
#[derive(Debug)]
pub(crate) struct EarlierPackage(SpooledText);

impl EarlierPackage {
    /// A package of the store.
    ///
    /// # Errors
    /// 422 when it has errors: it may have come in parts that do not go together.
    pub(crate) fn of(package: SpooledText) -> Result<EarlierPackage, Refusal> {
        let (package, fit) = LoadedPackage::of(package);
        fit?;
        let text = to_version_2(package.text(), Definitions::embedded(), &mut RandomIds);
        let migrated = match text.map_err(|error| unreadable(&error))? {
            Cow::Owned(migrated) => Some(migrated),
            Cow::Borrowed(_) => None,
        };
        Ok(EarlierPackage(match migrated {
            Some(migrated) => spooled(migrated)?,
            None => package.into_text(),
        }))
    }
}

/// Reads the package of the template that an export goes on from.
///
/// # Errors
/// 422 for a template that the caller does not see.
pub(crate) async fn earlier(tx: &mut Tx, template: Uuid) -> Result<SpooledText, Refusal> {
    let record = find(tx, template).await.map_err(|refusal| {
        if refusal.code == Code::NotFound {
            return Refusal::fault("onto", format!("there is no template {template}"));
        }
        refusal
    })?;
    read_spooled(tx, &record).await
}

impl Export {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// 422 with everything that is wrong with it.
    pub(crate) fn read(workspace: Uuid, body: &str) -> Result<Export, Refusal> {
        let request = ExportRequest::from_json(body).map_err(|faults| refused(&faults))?;
        Ok(Export {
            workspace,
            request,
            earlier: None,
        })
    }

    /// The template that it goes on from.
    pub(crate) fn onto(&self) -> Option<Uuid> {
        self.request.onto
    }

    /// With the package of that template.
    pub(crate) fn going_on_from(self, earlier: EarlierPackage) -> Export {
        Export {
            earlier: Some(earlier),
            ..self
        }
    }

    /// Writes the package. Rows are read page by page, twice, and never held.
    ///
    /// # Errors
    /// 404 for a workspace that cannot be seen, 422 for a selection of what is not there.
    pub(crate) async fn write(
        tx: &mut Tx,
        export: &Export,
        tables: &Tables,
        context: &Context,
    ) -> Result<Spool, Refusal> {
        let Export {
            workspace,
            request,
            earlier,
        } = export;
        let previous = match earlier {
            Some(EarlierPackage(text)) => {
                let checked = Checked::trusted(text).map_err(|error| unreadable(&error))?;
                Some(PreviousPackage::new(text, checked))
            }
            None => None,
        };
        let onto = previous.as_ref().map(|previous| ExportBase {
            previous,
            selects: !request.chosen,
        });
        let definitions = Definitions::embedded();
        let source = Snapshot::new(tx, *workspace, tables);
        let clock = context.clock();
        let selection = &request.selection;
        let mut ids = RandomIds;
        let draft = prepare_onto(&source, selection, onto, clock, &mut ids, definitions).await;
        let draft = draft.map_err(refusal)?;
        let mut spool = Spool::default();
        draft.write_to(&source, &mut spool).await.map_err(refusal)?;
        Ok(spool)
    }
}

fn refusal(error: ExportError<ReadError>) -> Refusal {
    match error {
        ExportError::Source(error) => error.into(),
        ExportError::Write(error) => disk_full(&error),
        ExportError::Fault(why) => fault(&why),
    }
}

fn fault(why: &Why) -> Refusal {
    match why {
        Why::Unknown(unknown) => Refusal::invalid(
            unknown
                .iter()
                .map(|unknown| {
                    let message = format!("the workspace has no {}", unknown.id);
                    Fault::new(unknown.list, message)
                })
                .collect(),
        ),
        Why::RowsWithoutTable(_) => Refusal::fault("rows", why.to_string()),
        // The workspace holds what no package can.
        Why::UnfitNames(_) | Why::TooDeep { .. } => {
            Refusal::new(Code::ValidationFailed, format!("{why}."))
        }
        why => {
            tracing::error!(error = %why, "an export failed");
            Refusal::new(
                Code::Internal,
                "Something went wrong here; it has been recorded.",
            )
        }
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Refusal {
        match error {
            ReadError::NoWorkspace(_) | ReadError::NoTable(_) => Refusal::not_found(),
            ReadError::Forbidden | ReadError::RightsChanged => {
                Refusal::forbidden(format!("{error}."))
            }
            ReadError::Store(error) => error.into(),
        }
    }
}
