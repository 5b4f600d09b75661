//! Packages of whole workspaces: their structure and all their rows.
//!
//! The same workspace gives the same package each time: the clock stands, and uids come from a number.

use tplkit::check::Checked;
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{ExportBase, PreviousPackage, RowsSelection, Selection, export_onto};
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::ready;

/// The first version.
///
/// # Errors
///
/// What the export says.
pub fn packaged(state: State) -> Result<String, String> {
    exported(state, None, 1)
}

/// The version after the one in `old`: what stays keeps its uids and refs.
///
/// # Errors
///
/// What reading `old` or the export says.
pub fn packaged_onto(state: State, old: &str) -> Result<String, String> {
    let checked = Checked::trusted(old).map_err(|error| error.to_string())?;
    let previous = PreviousPackage::new(old, checked);
    let onto = ExportBase {
        previous: &previous,
        selects: false,
    };
    exported(state, Some(onto), 2)
}

fn exported(state: State, onto: Option<ExportBase<'_>>, seed: u64) -> Result<String, String> {
    let now = "2026-03-01T09:30:00Z".parse();
    let now = FixedClock(now.map_err(|_| "no instant")?);
    let everything = Selection {
        rows: RowsSelection::All,
        ..Selection::default()
    };
    let (source, mut ids) = (Memory::new(state), Seeded::new(seed));
    let definitions = Definitions::embedded();
    let made = export_onto(&source, &everything, onto, &now, &mut ids, definitions);
    let made = ready(made).map_err(|error| format!("the export failed: {error}"))?;
    Ok(made.text)
}
