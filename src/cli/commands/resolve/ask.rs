//! Asking a person, dependency by dependency.

use std::io;

use dialoguer::{Error, Select};
use indexmap::IndexMap;
use tplkit::apply::{Candidate, Resolution, suggest};
use tplkit::check::Checked;
use tplkit::package::model::{Dependency, DependencyForm};
use tplkit::workspace::Structure;

use crate::cli::error::CliError;

/// Something that can be chosen, with the words for it.
struct Choice {
    words: String,
    resolution: Option<Resolution>,
}

/// Asks about every dependency; what is left open is absent.
pub(super) fn all(
    package: &Checked<'_>,
    destination: Option<&Structure>,
) -> Result<IndexMap<String, Resolution>, CliError> {
    let suggestions = destination.map(|destination| suggest(package, destination));
    let suggestions = suggestions.unwrap_or_default();
    let mut decided = IndexMap::new();
    let layers = package.manifest.layers();
    for dependency in layers.map_or(&[][..], |layers| &layers.dependencies) {
        let found = suggestions
            .iter()
            .find(|found| found.reference == dependency.reference);
        let candidates = found.map_or(&[][..], |found| &found.candidates);
        let mut choices = choices(dependency, candidates);
        let words: Vec<&str> = choices.iter().map(|choice| choice.words.as_str()).collect();
        let chosen = Select::new()
            .with_prompt(question(dependency))
            .items(&words)
            .default(0)
            .interact()
            .map_err(|Error::IO(error)| interrupted(&error))?;
        if let Some(resolution) = choices.swap_remove(chosen).resolution {
            decided.insert(dependency.reference.clone(), resolution);
        }
    }
    Ok(decided)
}

fn question(dependency: &Dependency) -> String {
    let identity = &dependency.identity;
    let label = identity.label.as_deref().unwrap_or(&identity.name);
    let required = if dependency.required {
        "required"
    } else {
        "optional"
    };
    format!(
        "{} {label:?} ({}, {required}): {}",
        dependency.kind.as_str(),
        dependency.reference,
        dependency.description
    )
}

/// The likeliest first: whoever presses return takes it.
fn choices(dependency: &Dependency, candidates: &[Candidate]) -> Vec<Choice> {
    let mapped = candidates.iter().map(|candidate| Choice {
        words: format!(
            "map to {:?} ({} of 100: {})",
            candidate.name, candidate.score, candidate.reason
        ),
        resolution: Some(Resolution::Map {
            id: candidate.id.clone(),
            columns: candidate.columns.clone(),
        }),
    });
    let mut choices: Vec<Choice> = mapped.collect();
    if dependency.form == DependencyForm::Name && candidates.is_empty() {
        let name = &dependency.identity.name;
        choices.push(Choice {
            words: format!("map to {name:?}, by its name"),
            resolution: Some(Resolution::Map {
                id: name.clone(),
                columns: IndexMap::new(),
            }),
        });
    }
    if dependency.blueprint.is_some() {
        choices.push(Choice {
            words: "import: create it, empty, from its blueprint".to_owned(),
            resolution: Some(Resolution::Import),
        });
    }
    choices.push(Choice {
        words: "decide later, in the file".to_owned(),
        resolution: None,
    });
    choices.push(Choice {
        words: "skip: empty every field that uses it".to_owned(),
        resolution: Some(Resolution::Skip),
    });
    choices
}

fn interrupted(error: &io::Error) -> CliError {
    CliError::Usage {
        message: format!("nothing could be asked: {error}"),
        help: "give `--no-input` and edit the file".to_owned(),
    }
}
