//! An upgrade of a workspace that people set up by hand, from a package that the request names
//! (`upgrade` 3.1.3).
//!
//! In: that package, and the destination as the caller sees it. Out: the ledger of a job that would have found
//! everything there. It says what the package stands for at the destination and what
//! later upgrades start from; nothing is written, so that an undo leaves all of it.

use std::collections::HashSet;

use super::ledger_rows::{names, verified_key};
use super::resolve::{adopted, adopted_table};
use super::{ApplyError, BasePackage, Refusal, Request, Resolutions};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::package::model::Dependency;
use crate::package::payload::{RawEntry, RawRow};
use crate::problem::Code;
use crate::rows::{Cell, members};
use crate::workspace::ledger::{self, Entry, RecognisedRows};
use crate::workspace::{Id, Lookup, Progress, Structure, Target, Unit, match_each};

/// Keys per query.
const KEYS_PER_QUERY: usize = 500;
/// As many rows as one entry of the ledger holds.
const ROWS_PER_ENTRY: usize = 5000;

/// Refuses a base that is not an earlier form of a package: another `manifest.id`, and of one that has none
/// another name.
///
/// # Errors
/// `base_unrelated`.
pub fn check_base(package: &Checked<'_>, base: &Checked<'_>) -> Result<(), Refusal> {
    let [theirs, own] = [package, base].map(|one| &one.manifest.catalog);
    let same = match &own.id {
        Some(id) => theirs.id.as_ref() == Some(id),
        None => theirs.name == own.name,
    };
    if same {
        return Ok(());
    }
    let called = |id: &Option<String>, name: &Option<String>| match (id, name) {
        (Some(id), _) => format!("the id `{id}`"),
        (None, Some(name)) => format!("the name `{name}` and no id"),
        (None, None) => "neither id nor name".to_owned(),
    };
    let detail = format!(
        "`base` is another package than the one that it is upgraded to: it has {}, and that has {}. Give the package that the workspace was set up by.",
        called(&own.id, &own.name),
        called(&theirs.id, &theirs.name)
    );
    Err(Refusal::new(Code::BaseUnrelated, detail))
}

/// Refuses a base where the workspace knows what was applied.
pub fn base_exists() -> Refusal {
    let detail = "`base` is for what was set up by hand, and this template was applied here: an upgrade starts from that. Leave `base` out.";
    Refusal::new(Code::BaseExists, detail)
}

/// What was decided about the dependencies of a base: what is decided about those of the package, by ref,
/// else by kind and name.
pub fn base_resolutions(
    base: &Checked<'_>,
    package: &Checked<'_>,
    request: &Request,
) -> Resolutions {
    let theirs = || package.manifest.dependencies().iter();
    let decided = |own: &Dependency| {
        let same =
            |one: &&Dependency| one.kind == own.kind && one.identity.name == own.identity.name;
        let by_ref = theirs().find(|one| one.reference == own.reference);
        let one = by_ref.or_else(|| theirs().find(same))?;
        let decided = request.resolutions.get(&one.reference)?;
        Some((own.reference.clone(), decided.clone()))
    };
    let own = base.manifest.dependencies().iter();
    own.filter_map(decided).collect()
}

/// Finds at the destination what a package brings: records by kind, parent and name, rows by its verified key
/// column among all rows that are seen.
///
/// # Errors
/// Those of the workspace.
pub async fn adopt<T: Lookup>(
    lookup: &T,
    destination: &Structure,
    base: BasePackage<'_>,
    definitions: &Definitions,
) -> Result<Vec<Entry>, T::Error> {
    let request = Request {
        resolutions: base.resolutions.clone(),
        ..Request::default()
    };
    let found = adopted(base.package, &request, destination, definitions);
    let mut entries = Vec::new();
    let mut claimed = HashSet::new();
    for entry in &base.package.payloads {
        let Some(feature) = adopted_table(&found, &entry.feature_ref) else {
            continue;
        };
        let rows = rows(lookup, destination, entry, feature, &mut claimed).await?;
        for rows in rows.chunks(ROWS_PER_ENTRY) {
            let named = rows.iter().map(|(_, row)| *row);
            entries.push(Entry::Recognised(RecognisedRows {
                uid: entry.item_uid.clone(),
                feature,
                rows: rows.iter().map(|(id, _)| *id).collect(),
                names: names(entry, named),
                adopted: true,
            }));
        }
    }
    // Last: whoever is stopped before it looks at everything anew.
    entries.push(Entry::Structure(found));
    Ok(entries)
}

/// The rows of an entry that a table has.
async fn rows<'e, T: Lookup>(
    lookup: &T,
    destination: &Structure,
    entry: &'e RawEntry<'_>,
    feature: Id,
    claimed: &mut HashSet<Id>,
) -> Result<Vec<(Id, RawRow<'e>)>, T::Error> {
    let mut found = Vec::new();
    let table = destination.feature(feature);
    let is_there = |key: &&str| {
        let mut columns = table.into_iter().flat_map(|table| &table.columns);
        columns.any(|column| column.name == *key)
    };
    let Some(key) = verified_key(entry).filter(is_there) else {
        return Ok(found);
    };
    let keyed = |row: RawRow<'e>| {
        let mut cells = members(row.data);
        let cell = cells.find_map(|(name, cell)| name.is(key).then_some(cell))?;
        (!Cell::new(cell).is_empty()).then(|| (row, cell.to_owned()))
    };
    let mut keyed = entry.rows().filter_map(keyed);
    loop {
        let (rows, values): (Vec<RawRow<'e>>, Vec<String>) =
            keyed.by_ref().take(KEYS_PER_QUERY).unzip();
        if rows.is_empty() {
            return Ok(found);
        }
        let ids = match_each(lookup, feature, key, &values, |row| row.map(|row| row.id)).await?;
        let pairs = ids.into_iter().zip(rows);
        found.extend(pairs.filter_map(|(id, row)| {
            let id = id.filter(|id| claimed.insert(*id))?;
            Some((id, row))
        }));
    }
}

/// Whether a ledger says what was adopted.
pub fn is_adopted(ledger: &[Entry]) -> bool {
    let mut entries = ledger.iter();
    entries.any(|entry| {
        matches!(
            entry,
            Entry::Structure(ledger::WrittenStructure { adopted: true, .. })
        )
    })
}

/// Notes in the ledger of a job what it adopts, unless that is noted.
///
/// # Errors
/// Those of the workspace.
pub async fn note_adopted<T: Target>(
    target: &mut T,
    base: BasePackage<'_>,
    definitions: &Definitions,
) -> Result<(), ApplyError<T::Error>> {
    let own = target.ledger().await;
    if is_adopted(&own.map_err(ApplyError::store("reading the ledger"))?) {
        return Ok(());
    }
    let destination = target.structure().await;
    let destination = destination.map_err(ApplyError::store("reading the structure"))?;
    let found = adopt(&*target, &destination, base, definitions).await;
    for entry in found.map_err(ApplyError::store("looking for what was set up"))? {
        let unit = Unit {
            changes: Vec::new(),
            entry: Some(entry),
            progress: Progress {
                phase: "structure",
                ..Progress::default()
            },
            report: None,
        };
        let noted = target.commit(unit).await;
        noted.map_err(|error| ApplyError::commit("noting what was set up", error))?;
    }
    Ok(())
}
