//! What is exported is a package without mistakes, in canonical form.

use std::collections::BTreeMap;

use tplkit::check::{CheckOptions, check_text};
use tplkit::export::RowsSelection;
use tplkit::package::canonical;

use crate::seeds::{Verdict, each, hold, same};
use crate::world::{everything, exported, selection, workspace};

/// What reports the source, and of no mistake of an exporter.
const MIRRORED: [&str; 6] = [
    // Graphs and branches without steps, chains that deliver nothing.
    "A004", "A012", "A013", // A workspace without a label.
    "M007", // Config keys that the definitions no longer have.
    "S018", // Rows that are older than the demand to fill a cell.
    "R019",
];

#[test]
fn what_is_exported_has_no_mistakes() {
    each(|seed| {
        let state = workspace(seed);
        fit(&exported(&state, &selection(seed, &state))?)?;
        fit(&exported(&state, &everything())?)
    });
}

fn fit(text: &str) -> Verdict {
    let options = CheckOptions {
        promotion: true,
        ..CheckOptions::default()
    };
    let report = check_text(text, &options);
    let mut wrong: BTreeMap<&str, String> = BTreeMap::new();
    for finding in &report.findings {
        let mirrored = MIRRORED.contains(&finding.rule.code);
        if !mirrored {
            let message = format!("{} at {}", finding.message, finding.place.pointer);
            wrong.entry(finding.rule.code).or_insert(message);
        }
    }
    hold(wrong.is_empty(), || format!("findings: {wrong:#?}"))?;
    let verdicts = report.promotion.unwrap_or_default();
    hold(verdicts.len() == 5, || "no five verdicts".to_owned())?;
    let broken = verdicts.iter().filter(|verdict| !verdict.passed);
    let broken: Vec<&str> = broken.map(|verdict| verdict.rule.code).collect();
    hold(broken.is_empty(), || format!("not promoted: {broken:?}"))
}

#[test]
fn what_is_exported_is_canonical() {
    each(|seed| {
        let state = workspace(seed);
        let text = exported(&state, &selection(seed, &state))?;
        let canonical = canonical::write(&text).map_err(|error| error.to_string())?;
        same("the export", &text, &canonical)
    });
}

#[test]
fn the_same_again_is_the_same() {
    each(|seed| {
        let state = workspace(seed);
        let selection = selection(seed, &state);
        let text = exported(&state, &selection)?;
        same("the second export", &exported(&state, &selection)?, &text)
    });
}

#[test]
fn rows_that_are_not_chosen_do_not_travel() {
    each(|seed| {
        let state = workspace(seed);
        let mut chosen = selection(seed, &state);
        chosen.rows = RowsSelection::None;
        let text = exported(&state, &chosen)?;
        hold(!text.contains("\"rows\": [\n"), || {
            "there are rows".to_owned()
        })?;
        fit(&text)
    });
}
