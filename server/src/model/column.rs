//! Specifics of columns: component, identity, uniqueness, slot, search.

use tplkit::definitions::{ColumnType, Definitions, Storage};
use tplkit::json::Value as Json;

use super::feature::touch;
use super::input::RecordInput;
use super::record::Record;
use crate::refusal::{Fault, Refusal};
use crate::rows::{file_uses, row_values, slot_allocation};
use crate::store::Tx;

/// The component of identities.
const IDENTITY: &str = "id";

/// The key of a column whose cells are searched by an index.
const SEARCH: &str = "search";

/// Why a column of that component cannot have a name.
pub(super) fn refused_name(name: &str, component: &str) -> Option<&'static str> {
    match name {
        "created_at" | "updated_at" => Some("is the name of a field that every row has"),
        "id" if component != IDENTITY => Some("is kept for columns with the component id"),
        _ => None,
    }
}

/// A column whose values must not be repeated, as rows know it.
pub(super) fn unique_column(column: &Record) -> row_values::UniqueColumn {
    row_values::UniqueColumn {
        organization: column.organization(),
        workspace: column.workspace(),
        feature: column.parent(),
        id: column.id,
        name: column.name.clone(),
        of_files: is_of_files(column),
    }
}

/// Whether its cells name files.
fn is_of_files(column: &Record) -> bool {
    column_type(column).is_some_and(|known| known.file)
}

fn column_type(column: &Record) -> Option<&'static ColumnType> {
    Definitions::embedded()
        .column_types
        .get(column.text("type"))
}

/// Chooses the component of a column that names none, and sees to it that it fits the type.
///
/// # Errors
/// 422 when it does not.
pub(super) fn complete(
    column: &mut Record,
    written: &RecordInput,
    before: Option<&Record>,
) -> Result<(), Refusal> {
    let Some(column_type) = column_type(column) else {
        return Ok(());
    };
    if before.is_none() && !written.sets("default_component") {
        column.set("default_component", column_type.default_component.as_str());
    }
    let component = column.text("default_component");
    if !column_type
        .components
        .iter()
        .any(|known| known == component)
    {
        return Err(Refusal::fault(
            "default_component",
            format!(
                "{component} does not fit the type {}, which takes {}",
                column.text("type"),
                column_type.components.join(", ")
            ),
        ));
    }
    if before.is_some()
        && let Some(why) = refused_name(&column.name, component)
    {
        return Err(Refusal::fault(
            "default_component",
            format!("the name of the column {why}"),
        ));
    }
    Ok(())
}

/// What is wrong with a config whose keys are as they are declared: where a cell is required that stores nothing, nobody
/// could enter a row. Records of a template job come as they are.
pub(super) fn config_fault(column: &Record) -> Option<Fault> {
    let stores_nothing = column_type(column).is_some_and(|known| known.storage == Storage::None);
    let config = Json::parse(&column.config).unwrap_or_default();
    let required = config.get("required").and_then(Json::as_bool) == Some(true);
    (stores_nothing && required).then(|| {
        let kind = column.text("type");
        let message = format!("cannot be true: a cell of the type {kind} stores nothing");
        Fault::new("config.required", message)
    })
}

/// What of a column decides how its cells are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ColumnProperties {
    sequence: bool,
    unique: bool,
    numeric: bool,
}

fn properties(column: &Record) -> Result<ColumnProperties, Refusal> {
    let config = Json::parse(&column.config).unwrap_or_default();
    let identity = column.text("default_component") == IDENTITY;
    let numeric = column_type(column).is_some_and(|known| known.storage.is_number());
    let sequence = identity && config.get("idType").and_then(Json::as_str) == Some("sequence");
    if identity && numeric != sequence {
        let message = if numeric {
            "has to be sequence for an identity of numbers"
        } else {
            "has to be uuid for an identity of texts"
        };
        return Err(Refusal::fault("config.idType", message));
    }
    let unique = config.get("unique").and_then(Json::as_bool) == Some(true);
    Ok(ColumnProperties {
        sequence,
        unique: identity || unique,
        numeric,
    })
}

/// Whether what the cells of a column contain is to be in an index.
fn is_searched(column: &Record) -> bool {
    let can_be = column_type(column).is_some_and(|known| known.config.contains_key(SEARCH));
    let config = Json::parse(&column.config).unwrap_or_default();
    can_be && config.get(SEARCH).and_then(Json::as_bool) == Some(true)
}

/// Completes a column of a table that has no rows and that nobody else knows; says whether it takes the
/// slot that is offered.
///
/// # Errors
/// 422 for an identity that cannot be.
pub(super) fn complete_new(column: &mut Record, slot: Option<i64>) -> Result<bool, Refusal> {
    let now = properties(column)?;
    column.set("is_unique", now.unique);
    let searched = is_searched(column);
    column.set("is_searched", searched);
    column.set("search_ready", searched);
    let link = column_type(column).is_some_and(|known| known.link);
    let takes = slot.is_some() && (now.unique || link);
    if takes {
        column.set("slot", slot);
        column.set("slot_ready", true);
    }
    Ok(takes)
}

/// Completes a column whose config has been checked: from now on it is unique or not, has a slot or
/// not. The feature is locked, so that no row enters by the old rules meanwhile.
///
/// # Errors
/// 422 for an identity that cannot be, 409 when a value is in two rows of a column that is to be unique.
pub(super) async fn complete_config(
    tx: &mut Tx,
    column: &mut Record,
    before: Option<&Record>,
) -> Result<(), Refusal> {
    let now = properties(column)?;
    let was = match before {
        // What is stored was checked when it came.
        Some(before) => properties(before).unwrap_or_default(),
        None => ColumnProperties::default(),
    };
    let named_files = before.is_some_and(is_of_files);
    if named_files && !is_of_files(column) {
        // For good: were it one again, nobody would have checked its cells.
        file_uses::end_column(tx, column.organization(), column.id, column.updated_at).await?;
    }
    let rows = slot_allocation::has_rows(tx, column.organization(), column.parent()).await?;
    column.set("is_unique", now.unique);
    let searched = is_searched(column);
    if searched != column.flag("is_searched") {
        // What is there is filled in later, and what is not wanted any more is removed later.
        column.set("is_searched", searched);
        column.set("search_ready", searched && !rows);
    }
    // Ids of files are known by another form than texts.
    let known_otherwise = before.is_some() && named_files != is_of_files(column);
    let newly_unique = now.unique && (!was.unique || known_otherwise);
    let newly_counted = now.sequence && !was.sequence;
    let of = unique_column(column);
    if was.unique && (!now.unique || known_otherwise) {
        row_values::forget(tx, &of).await?;
    }
    if rows && (newly_unique || newly_counted) {
        let after = row_values::enter(tx, &of, newly_unique).await?;
        if let Some(next) = after.filter(|_| newly_counted) {
            let known = column.integer("next_number").unwrap_or(1);
            column.set("next_number", next.max(known));
        }
    }
    let link = column_type(column).is_some_and(|known| known.link);
    if column.integer("slot").is_none() && (now.unique || link) {
        let slot = slot_allocation::free(tx, column.organization(), column.parent()).await?;
        column.set("slot", slot);
        column.set("slot_ready", slot.is_some() && !rows);
        column.set("slot_long", false);
    } else if before.is_some() && was.numeric != now.numeric && column.integer("slot").is_some() {
        // Numbers are in a slot in another form than everything else.
        column.set("slot_ready", !rows);
        column.set("slot_long", false);
    }
    Ok(touch(tx, column.organization(), column.parent()).await?)
}
