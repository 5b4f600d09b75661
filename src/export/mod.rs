//! The exporter: a selection of a workspace goes in, a package comes out (`service`: template
//! package, `contract` 2).
//!
//! | Stage | Module |
//! |---|---|
//! | what travels | `selection`, read from a body by `request` |
//! | configs in one order, whatever the store | `members` |
//! | what it refers to, and what cannot travel | `workspace_index`, `verdict`, `leak`, `secret`, `read` |
//! | refs, order, steps, dependencies | `record`, `order`, `external`, `plan` |
//! | what an earlier package called all of it | [`onto`] |
//! | rows: read twice, never held | `rows` |
//! | the package, proved before it is handed out | `manifest`, `invariant`, `draft` |
//! | what the check says of it | `exported` |
//!
//! Only [`prepare`] and [`Draft::write_to`] wait for a [`Source`]; everything between is pure. The
//! same workspace, time and ids give the same bytes, in canonical form. The definitions registry
//! declares which fields hold references or secrets. Nothing is lost silently: `unresolved` and
//! `redacted` list what could not be exported.

mod draft;
mod error;
mod exported;
mod external;
#[cfg(feature = "schemas")]
mod identity_document;
mod invariant;
mod leak;
mod manifest;
mod members;
pub mod onto;
mod order;
mod plan;
mod read;
mod record;
mod request;
mod rows;
mod selection;
mod step_ids;
mod taken_refs;
mod verdict;
mod workspace_index;

use crate::context::{Clock, Ids};
use crate::definitions::Definitions;
use crate::workspace::Source;
use manifest::Collected;
use onto::Identities;

pub use draft::Draft;
pub use error::{ExportError, ExportResult, Fault, UnknownId};
pub use exported::Exported;
pub use onto::{ExportBase, PreviousPackage};
pub use request::ExportRequest;
pub use selection::{RowsSelection, Selection};

/// Reads the structure and, once, the rows that travel: everything of the package is decided then.
pub async fn prepare<S: Source + Sync>(
    source: &S,
    selection: &Selection,
    clock: &(dyn Clock + Sync),
    ids: &mut (dyn Ids + Send),
    definitions: &Definitions,
) -> ExportResult<Draft<'static>, S> {
    prepare_onto(source, selection, None, clock, ids, definitions).await
}

/// Like [`prepare`], on top of an earlier package: records that still exist keep its uids and refs (`upgrade` 1.1).
pub async fn prepare_onto<'p, S: Source + Sync>(
    source: &S,
    selection: &Selection,
    onto: Option<ExportBase<'p>>,
    clock: &(dyn Clock + Sync),
    ids: &mut (dyn Ids + Send),
    definitions: &Definitions,
) -> ExportResult<Draft<'p>, S> {
    let mut structure = source.structure().await.map_err(ExportError::Source)?;
    members::in_order(&mut structure);
    let previous = onto.map(|onto| onto.previous);
    let (chosen, whole) = match onto.filter(|onto| onto.selects) {
        Some(onto) => {
            let (held, whole) = onto.previous.selection(&structure);
            (held.choose(&structure)?, whole)
        }
        None => (selection.choose(&structure)?, selection.takes_workspace()),
    };
    let mut known = Identities::of(previous);
    let records = record::read(&structure, &chosen, definitions, &mut known, ids)?;
    let plan_id = previous.map(|previous| previous.manifest.plan.id.clone());
    let plan_id = plan_id.unwrap_or_else(|| ids.uid());
    let written = plan::write(&records, whole, definitions, &plan_id, &mut known, ids);
    let mut tables = rows::tables(&chosen, &records, definitions, previous, &known, ids);
    for table in 0..tables.len() {
        rows::scan(source, &mut tables, table, previous, ids).await?;
    }
    let now = clock.now();
    let collected = Collected {
        structure: &structure,
        selection,
        records: &records,
        written,
        tables: &tables,
        plan_id,
        previous,
    };
    let package = manifest::package(collected, now, definitions);
    Ok(Draft::new(package, tables, previous)?)
}

/// The whole package as one text, with what the check says of it: an export reports the truth about
/// its source, and the source may hold what no destination takes.
///
/// ```
/// use tplkit::context::{FixedClock, Seeded};
/// use tplkit::definitions::Definitions;
/// use tplkit::export::{Selection, export};
/// use tplkit::workspace::memory::{Memory, State};
/// use tplkit::workspace::{Id, ready};
///
/// let workspace = Memory::new(State::empty(Id::from_u128(1), Id::from_u128(2), "sales", "Sales"));
/// let now = FixedClock("2026-03-01T09:30:00Z".parse()?);
/// let exported = ready(export(
///     &workspace, &Selection::default(), &now, &mut Seeded::new(1), Definitions::embedded(),
/// ))?;
/// assert!(exported.text.contains("\"templateVersion\": 2"));
/// assert!(exported.is_fit());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn export<S: Source + Sync>(
    source: &S,
    selection: &Selection,
    clock: &(dyn Clock + Sync),
    ids: &mut (dyn Ids + Send),
    definitions: &Definitions,
) -> ExportResult<Exported, S> {
    export_onto(source, selection, None, clock, ids, definitions).await
}

/// Like [`export`], on top of an earlier package. An unchanged workspace gives that package byte for byte, its time
/// included (`upgrade` 1.1, 1.2).
pub async fn export_onto<S: Source + Sync>(
    source: &S,
    selection: &Selection,
    onto: Option<ExportBase<'_>>,
    clock: &(dyn Clock + Sync),
    ids: &mut (dyn Ids + Send),
    definitions: &Definitions,
) -> ExportResult<Exported, S> {
    let draft = prepare_onto(source, selection, onto, clock, ids, definitions).await?;
    let mut text = Vec::new();
    draft.write_to(source, &mut text).await?;
    let text = String::from_utf8(text);
    let text = text.map_err(|_| Fault::Broken("the package is not UTF-8".to_owned()))?;
    Ok(Exported::new(text, definitions))
}
