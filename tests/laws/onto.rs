//! An export that goes on from an earlier one: what did not change keeps its bytes.

use tplkit::check::Checked;
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{ExportBase, PreviousPackage, Selection, export_onto};
use tplkit::json::Value;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{RowData, ready};

use crate::seeds::{Dice, Verdict, each, hold, same};
use crate::world::{everything, exported, selection, workspace};

/// The workspace once more, later and with other ids.
fn again(
    state: &State,
    (selection, selects): (&Selection, bool),
    old: &str,
) -> Result<String, String> {
    let checked = Checked::trusted(old).map_err(|error| error.to_string())?;
    let previous = PreviousPackage::new(old, checked);
    let onto = ExportBase {
        previous: &previous,
        selects,
    };
    let later = FixedClock("2026-04-05T06:07:08Z".parse().unwrap());
    let made = ready(export_onto(
        &Memory::new(state.clone()),
        selection,
        Some(onto),
        &later,
        &mut Seeded::new(2),
        Definitions::embedded(),
    ));
    made.map(|package| package.text)
        .map_err(|error| format!("the export failed: {error}"))
}

/// That a text is the same; else what differs apart from the time.
fn unchanged(what: &str, new: &str, old: &str) -> Verdict {
    let lines = new.lines().zip(old.lines()).enumerate();
    let mut differing = lines.filter(|(_, (new, old))| new != old && !new.contains("generatedAt"));
    match differing.next() {
        Some((at, (new, old))) => Err(format!("{what}, line {at}: {new}\nand should be {old}")),
        None => same(what, new, old),
    }
}

#[test]
fn an_unchanged_workspace_is_exported_to_the_same_bytes() {
    each(|seed| {
        let state = workspace(seed);
        let chosen = selection(seed, &state);
        let old = exported(&state, &chosen)?;
        unchanged("the second", &again(&state, (&chosen, false), &old)?, &old)?;
        let old = exported(&state, &everything())?;
        let asks_nothing = (&Selection::default(), true);
        unchanged("of everything", &again(&state, asks_nothing, &old)?, &old)?;
        // What it holds of some tables and modules is what travels.
        let some = Selection {
            views: None,
            rails: None,
            workflows: None,
            ..chosen
        };
        let old = exported(&state, &some)?;
        let config = old.contains("update_workspace");
        let whole = some.features.is_none() && some.modules.is_none();
        if config == (whole && !state.structure.workspace.config.is_empty()) {
            unchanged("of some", &again(&state, asks_nothing, &old)?, &old)?;
        }
        Ok(())
    });
}

#[test]
fn one_changed_cell_is_one_changed_line() {
    each(|seed| {
        let mut state = workspace(seed);
        let old = exported(&state, &everything())?;
        let mut dice = Dice::new(seed);
        let Some(()) = change_a_cell(&mut state, &old, &mut dice) else {
            return Ok(());
        };
        let new = again(&state, (&Selection::default(), true), &old)?;
        // A cell may make a key of its column, or end one: that is another line.
        if keys(&old)? == keys(&new)? {
            one_line(&old, &new)?;
        }
        Ok(())
    });
}

/// The key columns of a package.
fn keys(text: &str) -> Result<Vec<Option<String>>, String> {
    let checked = Checked::trusted(text).map_err(|error| error.to_string())?;
    let entries = checked.payloads.into_iter();
    Ok(entries.map(|entry| entry.key_column).collect())
}

fn one_line(old: &str, new: &str) -> Verdict {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.contains("generatedAt"));
        lines.map(str::to_owned).collect()
    };
    let (old, new) = (lines(old), lines(new));
    let differing = old.iter().zip(&new).filter(|(one, other)| one != other);
    let differing: Vec<_> = differing.collect();
    hold(old.len() == new.len() && differing.len() == 1, || {
        format!(
            "{} and {} lines, of which differ: {differing:#?}",
            old.len(),
            new.len()
        )
    })
}

/// Changes a text that is not a key and that no link points at.
fn change_a_cell(state: &mut State, old: &str, dice: &mut Dice) -> Option<()> {
    let checked = Checked::trusted(old).ok()?;
    let entries = &checked.payloads;
    let entry = entries.get(dice.below(entries.len()))?;
    let steps = checked.manifest.plan.steps.iter();
    let step = steps
        .into_iter()
        .find(|step| step.reference.as_ref() == Some(&entry.feature_ref))?;
    let name = step.args.get("name")?.as_str()?;
    let structure = &state.structure;
    let table = structure.features.iter().find(|one| one.name == name)?;
    let linked = |name: &str| {
        let columns = structure.features.iter().flat_map(|one| &one.columns);
        let mut names = columns.filter_map(|one| one.config.get("linkedValueColumn")?.as_str());
        names.any(|linked| linked == name)
    };
    let columns = table.columns.iter().filter(|one| {
        one.column_type == "text"
            && Some(&one.name) != entry.key_column.as_ref()
            && entry.columns.contains(&one.name)
            && !one.is_identity()
            && !linked(&one.name)
    });
    let columns: Vec<_> = columns.map(|one| one.name.clone()).collect();
    let column = columns.get(dice.below(columns.len()))?;
    let rows = state.rows.get_mut(&table.id)?;
    let count = rows.len();
    let row = rows.get_mut(dice.below(count))?;
    let Ok(Value::Object(mut data)) = Value::parse(row.data.as_str()) else {
        return None;
    };
    let before = data.get(column)?.clone();
    let after = Value::String(format!("changed {}", dice.below(3)));
    if before == after {
        return None;
    }
    data.insert(column.clone(), after);
    row.data = RowData::trusted(&Value::Object(data).write());
    Some(())
}
