//! Packages as folders: nothing is lost, and a change of one thing changes its files alone.

use tplkit::layout::{Files, pack, unpack};
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
        let Some(what) = change(&mut Dice::new(seed), &mut state) else {
            return Ok(());
        };
        let after = unpacked(&exported(&state, &everything())?)?;
        only_its_files(what, &before, &after)
    });
}

/// Gives something another label; says in which folder it stands.
fn change(dice: &mut Dice, state: &mut State) -> Option<&'static str> {
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
        // What could not be carried over is told with the label of its target.
        let text = after.get(*name).map(|bytes| String::from_utf8_lossy(bytes));
        let told = text.is_some_and(|text| text.contains("\"sourceLabel\": \"Another label\""));
        own || told || what == "features" && (rows || *name == "template.json")
    });
    hold(!changed.is_empty() && alone, || {
        format!("a change among the {what} changed {changed:?}")
    })
}
