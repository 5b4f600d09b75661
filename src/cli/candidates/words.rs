//! Candidates that are words of this program: rules, names of schemas, values of options, refs of a package.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue};
use tplkit::finding::catalog::RULES;
use tplkit::finding::selection::UnknownSelector;
use tplkit::finding::suggest;

use super::{Candidate, closest};
use crate::cli::error::CliError;

/// Words that need no label.
pub(crate) fn of_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<Candidate> {
    words.into_iter().map(|word| labelled(word, None)).collect()
}

/// A word that is its own id.
pub(crate) fn labelled(word: &str, label: Option<&str>) -> Candidate {
    Candidate {
        id: word.to_owned(),
        name: Some(word.to_owned()),
        label: label.map(str::to_owned),
        ..Candidate::default()
    }
}

/// Every rule, by its code.
pub(crate) fn of_rules() -> Vec<Candidate> {
    let rules = RULES.iter().map(|rule| Candidate {
        id: rule.code.to_owned(),
        name: Some(rule.name.to_owned()),
        label: Some(rule.summary.to_owned()),
        ..Candidate::default()
    });
    rules.collect()
}

/// The error about a word that is none of the known ones: people read which of them was meant, and else what to
/// do; documents list them.
pub(crate) fn unknown_word(
    message: String,
    word: &str,
    known: &[Candidate],
    help: &str,
) -> CliError {
    let words = known
        .iter()
        .flat_map(|one| [Some(one.id.as_str()), one.name.as_deref()]);
    let meant = suggest::nearest(word, words.flatten());
    let meant = meant.map(|meant| format!("did you mean `{}`? ", meant.escape_debug()));
    CliError::UnknownWord {
        message,
        help: meant.unwrap_or_default() + help,
        candidates: closest(word, known),
    }
}

/// What an argument could have been that `clap` refuses.
pub(crate) fn of_argument(error: &clap::Error) -> Vec<Candidate> {
    let selector = error.source();
    let selector = selector.and_then(|source| source.downcast_ref::<UnknownSelector>());
    if let Some(unknown) = selector {
        return closest(&unknown.word, &of_rules());
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(words)) => closest(
            &text(ContextKind::InvalidValue),
            &of_words(words.iter().map(String::as_str)),
        ),
        _ => Vec::new(),
    }
}
