//! Asks on a terminal what an upgrade leaves to people.

use dialoguer::{Error, Select};
use tplkit::apply::{Preview, UpgradeTerms};
use tplkit::printable;
use tplkit::upgrade::{Conflict, Decision, RecordDecision, Side, Take};

use super::decision::{RecordNames, choices, decision_path};
use super::{counted_cells, sides};
use crate::cli::error::CliError;
use crate::cli::item_titles::ItemTitles;
use crate::cli::output::print_note;
use crate::cli::prompt_error::choice_error;

/// How to decide without prompts.
const HELP: &str = "decide in a resolutions file: `tplkit resolve init … --upgrade` writes one";

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PromptOutcome {
    /// Every conflict is decided.
    Everything,
    /// Some are left for later.
    Some,
}

/// What follows from a choice.
enum Choice {
    This(Take),
    /// For everything that is left and that no narrower word decides.
    Rest(Side),
    Later,
}

/// Asks about every conflict of a plan; what is decided goes into `terms`.
///
/// # Errors
/// When the prompts are interrupted.
pub(crate) fn decide_conflicts(
    preview: &Preview,
    titles: &ItemTitles,
    terms: &mut UpgradeTerms,
) -> Result<PromptOutcome, CliError> {
    let words = RecordNames::of(preview);
    let mut outcome = PromptOutcome::Everything;
    for conflict in &preview.conflicts {
        // What was decided for the rest covers it.
        if terms.conflicts.is_some() && conflict.code.takes_conflicts() {
            continue;
        }
        print_heading(conflict, titles);
        match chosen(conflict)? {
            Choice::This(take) => note(terms, conflict, words.decision(conflict, take)),
            Choice::Rest(side) => terms.conflicts = Some(side),
            Choice::Later => outcome = PromptOutcome::Some,
        }
    }
    Ok(outcome)
}

fn note(terms: &mut UpgradeTerms, conflict: &Conflict, decision: Decision) {
    let of = terms.decisions.entry(conflict.reference.clone());
    of.or_default()
        .insert(decision_path(conflict).to_owned(), decision);
}

/// What is asked about: a leaf, or the whole record.
fn title(conflict: &Conflict) -> &str {
    conflict.path.as_deref().unwrap_or("(whole)")
}

fn print_heading(conflict: &Conflict, titles: &ItemTitles) {
    let sides = sides(conflict).into_iter().flatten();
    let sides: Vec<String> = sides
        .map(|(side, value)| format!("\n  {side}: {value}"))
        .collect();
    let text = format!(
        "\n{} {} ({}){}{}",
        titles.with_word(&conflict.kind, &conflict.reference),
        title(conflict),
        conflict.code.as_str(),
        counted_cells(conflict),
        sides.concat()
    );
    print_note(&printable::lines(&text));
}

fn chosen(conflict: &Conflict) -> Result<Choice, CliError> {
    let mut offered: Vec<(&'static str, Choice)> = choices(conflict)
        .into_iter()
        .map(|take| (words(&take), Choice::This(take)))
        .collect();
    if conflict.code.takes_conflicts() {
        offered.extend([
            ("ours, here and for the rest", Choice::Rest(Side::Ours)),
            ("theirs, here and for the rest", Choice::Rest(Side::Theirs)),
        ]);
    }
    offered.push(("decide later", Choice::Later));
    let items: Vec<&str> = offered.iter().map(|(words, _)| *words).collect();
    let selected = Select::new()
        .with_prompt(title(conflict))
        .items(&items)
        .default(items.len() - 1)
        .interact();
    match selected {
        Ok(at) => Ok(offered.swap_remove(at).1),
        Err(Error::IO(error)) => Err(choice_error(&error, HELP)),
    }
}

fn words(take: &Take) -> &'static str {
    match take {
        Take::Side(Side::Ours) => "ours: keep what the workspace has",
        Take::Side(Side::Theirs) => "theirs: take what the package brings",
        Take::Word(RecordDecision::Adopt) => "adopt: what people made is it",
        Take::Word(RecordDecision::Create) => "create",
        Take::Word(RecordDecision::Leave) => "leave: it stays away",
        Take::Word(word) => word.as_str(),
        Take::Value(_) => "another value",
    }
}
