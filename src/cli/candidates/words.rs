//! Candidates that are words of this program: rules, names of schemas, values of options, refs of a package.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue};
use tplkit::finding::catalog::RULES;
use tplkit::finding::selection::UnknownSelector;

use super::{Candidate, closest};

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
