//! Packages as folders: nothing is lost, and a change of one thing changes its files alone.

use tplkit::json::Object;
use tplkit::layout::{Files, pack, unpack};
use tplkit::workspace::RowData;
use tplkit::workspace::memory::State;

use crate::seeds::{Dice, Verdict, each, hold, same};
use crate::world::{everything, exported, selection, workspace};

fn unpacked(text: &str) -> Result<Files, String> {
    let mut files = Files::new();
    unpack(text, &mut files).map_err(|error| error.to_string())?;
    Ok(files)
}

#[test]
fn an_export_comes_back_from_its_folder() {
    each(|seed| {
        let state = workspace(seed);
        let text = exported(&state, &selection(seed, &state))?;
        let files = unpacked(&text)?;
        let mut bytes = Vec::new();
        pack(&files, &mut bytes).map_err(|error| format!("{error:?}"))?;
        let back = String::from_utf8(bytes).map_err(|error| error.to_string())?;
        same("what was packed", &back, &text)
    });
}

#[test]
fn a_change_of_one_thing_changes_its_files() {
    each(|seed| {
        let mut state = workspace(seed);
        let before = unpacked(&exported(&state, &everything())?)?;
        let Some(what) = relabel(&mut Dice::new(seed), &mut state) else {
            return Ok(());
        };
        let after = unpacked(&exported(&state, &everything())?)?;
        only_its_files(what, &before, &after)
    });
}

#[test]
fn a_change_of_one_config_or_row_changes_one_file() {
    each(|seed| {
        let mut state = workspace(seed);
        let before = unpacked(&exported(&state, &everything())?)?;
        let Some(folder) = alter(&mut Dice::new(seed ^ 0xA17), &mut state) else {
            return Ok(());
        };
        let after = unpacked(&exported(&state, &everything())?)?;
        hold(before.keys().eq(after.keys()), || "other files".to_owned())?;
        let changed = after.iter();
        let changed = changed.filter(|(name, bytes)| before.get(*name) != Some(bytes));
        let changed: Vec<&str> = changed.map(|(name, _)| name.as_str()).collect();
        let alone = matches!(changed[..], [only] if only.starts_with(folder));
        hold(alone, || {
            format!("a change among the {folder} changed {changed:?}")
        })
    });
}

/// Changes a config that points nowhere, or a cell that nothing points at; says in which folder it
/// stands.
fn alter(dice: &mut Dice, state: &mut State) -> Option<&'static str> {
    let structure = &mut state.structure;
    let at = dice.below(structure.features.len());
    let feature = structure.features.get_mut(at)?;
    match dice.below(3) {
        0 => {
            let icon = "another icon";
            feature.config.insert("icon".to_owned(), icon.into());
            Some("features/")
        }
        1 => {
            let mut columns = feature.columns.iter_mut();
            let column = columns.find(|one| one.column_type == "currency")?;
            column.config.insert("currency".to_owned(), "XTS".into());
            Some("columns/")
        }
        _ => {
            let mut columns = feature.columns.iter();
            let column = columns.find(|one| one.column_type == "boolean")?;
            for row in state.rows.get_mut(&feature.id)? {
                let now = match row.data.cell(&column.name) {
                    Some("true") => false,
                    Some("false") => true,
                    _ => continue,
                };
                let cell = Object::from_iter([(column.name.clone(), now.into())]);
                row.data = row.data.written(&RowData::of(&cell), false);
                return Some("rows/");
            }
            None
        }
    }
}

/// Gives something another label; says in which folder it stands.
fn relabel(dice: &mut Dice, state: &mut State) -> Option<&'static str> {
    let structure = &mut state.structure;
    let at = dice.below(structure.features.len());
    let feature = structure.features.get_mut(at)?;
    let (what, label) = match dice.below(5) {
        0 => ("features", &mut feature.label),
        1 => {
            let at = dice.below(feature.columns.len());
            ("columns", &mut feature.columns.get_mut(at)?.label)
        }
        2 => {
            let at = dice.below(feature.views.len());
            ("views", &mut feature.views.get_mut(at)?.label)
        }
        3 => {
            let at = dice.below(structure.modules.len());
            ("modules", &mut structure.modules.get_mut(at)?.label)
        }
        _ => {
            let at = dice.below(structure.modules.len());
            let rails = &mut structure.modules.get_mut(at)?.rails;
            let at = dice.below(rails.len());
            ("rails", &mut rails.get_mut(at)?.label)
        }
    };
    "Another label".clone_into(label);
    Some(what)
}

fn only_its_files(what: &str, before: &Files, after: &Files) -> Verdict {
    hold(before.keys().eq(after.keys()), || {
        "the change of a label made other files".to_owned()
    })?;
    let changed = after.iter();
    let changed = changed.filter(|(name, bytes)| before.get(*name) != Some(bytes));
    let changed: Vec<&str> = changed.map(|(name, _)| name.as_str()).collect();
    let stem = |name: &str| {
        let file = name.rsplit('/').next().unwrap_or_default();
        file.split('.').next().unwrap_or_default().to_owned()
    };
    let first = changed.first().map(|name| stem(name)).unwrap_or_default();
    let alone = changed.iter().all(|name| {
        let own = stem(name) == first && name.starts_with(what);
        // The rows of a table carry its label, and the summary counts them by it.
        let rows = stem(name) == first && name.starts_with("rows/");
        // What could not be carried over is reported with the label of its target.
        let text = after.get(*name).map(|bytes| String::from_utf8_lossy(bytes));
        let reported = text.is_some_and(|text| text.contains("\"sourceLabel\": \"Another label\""));
        own || reported || what == "features" && (rows || *name == "template.json")
    });
    hold(!changed.is_empty() && alone, || {
        format!("a change among the {what} changed {changed:?}")
    })
}
