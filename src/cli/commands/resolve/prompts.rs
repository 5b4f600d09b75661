//! Prompts for each dependency.

use dialoguer::{Error, Input, Select};
use indexmap::IndexMap;
use tplkit::apply::{Candidate, Resolution, proposed, suggest};
use tplkit::check::Checked;
use tplkit::package::model::{Dependency, DependencyForm};
use tplkit::workspace::{Id, Structure};

use crate::cli::error::CliError;
use crate::cli::output::print_note;
use crate::cli::prompt_error::choice_error;

/// How to decide without prompts.
const HELP: &str = "give `--no-input` and edit the file";

/// Something that can be chosen, with the words for it.
struct Choice {
    words: String,
    outcome: Outcome,
}

/// What follows from a choice.
enum Outcome {
    Decided(Resolution),
    /// The id has to be typed.
    TypedId,
    /// The name has to be typed.
    TypedName,
    Open,
}

/// Asks about every dependency; what is left open is absent.
pub(super) fn ask_all(
    package: &Checked<'_>,
    destination: Option<&Structure>,
) -> Result<IndexMap<String, Resolution>, CliError> {
    let suggestions = destination.map(|destination| suggest(package, destination));
    let suggestions = suggestions.unwrap_or_default();
    let mut decided = IndexMap::new();
    for dependency in package.manifest.dependencies() {
        let found = suggestions
            .iter()
            .find(|found| found.reference == dependency.reference);
        let candidates = found.map_or(&[][..], |found| &found.candidates);
        let mut choices = choices(dependency, candidates);
        print_heading(dependency);
        let words: Vec<&str> = choices.iter().map(|choice| choice.words.as_str()).collect();
        let chosen = Select::new()
            .with_prompt(dependency.reference.as_str())
            .items(&words)
            .default(preselected(dependency, &choices))
            .interact()
            .map_err(|Error::IO(error)| choice_error(&error, HELP))?;
        let resolution = match choices.swap_remove(chosen).outcome {
            Outcome::Open => continue,
            Outcome::Decided(resolution) => resolution,
            Outcome::TypedId => typed_id()?,
            Outcome::TypedName => typed_name(&dependency.identity.name)?,
        };
        decided.insert(dependency.reference.clone(), resolution);
    }
    Ok(decided)
}

fn typed_id() -> Result<Resolution, CliError> {
    let id: String = Input::new()
        .with_prompt("id")
        .validate_with(|id: &String| match Id::parse_str(id) {
            Ok(_) => Ok(()),
            Err(_) => Err("an id is a UUID with hyphens"),
        })
        .interact_text()
        .map_err(|Error::IO(error)| choice_error(&error, HELP))?;
    Ok(Resolution::Map {
        id,
        columns: IndexMap::new(),
        leave_empty: Vec::new(),
    })
}

fn typed_name(proposed: &str) -> Result<Resolution, CliError> {
    let name: String = Input::new()
        .with_prompt("name")
        .with_initial_text(proposed)
        .interact_text()
        .map_err(|Error::IO(error)| choice_error(&error, HELP))?;
    Ok(Resolution::Map {
        id: name,
        columns: IndexMap::new(),
        leave_empty: Vec::new(),
    })
}

/// What is asked about, shown above the choices: a prompt that is longer than a line is drawn anew
/// line by line.
fn print_heading(dependency: &Dependency) {
    let identity = &dependency.identity;
    let label = identity.label.as_deref().unwrap_or(&identity.name);
    let required = if dependency.required {
        "required"
    } else {
        "optional"
    };
    print_note(&format!(
        "\n{} {label:?}, {required}. {}",
        dependency.kind.noun(),
        dependency.description
    ));
}

/// What whoever presses return takes: what the package proposes, as without a terminal; where it
/// proposes nothing, to decide later. A likeness of names decides nothing.
fn preselected(dependency: &Dependency, choices: &[Choice]) -> usize {
    let wanted = proposed(dependency);
    let is_wanted = |choice: &Choice| match (&choice.outcome, &wanted) {
        (Outcome::Decided(resolution), Some(wanted)) => resolution == wanted,
        (Outcome::Open, None) => true,
        _ => false,
    };
    choices.iter().position(is_wanted).unwrap_or_default()
}

/// The likeliest first.
fn choices(dependency: &Dependency, candidates: &[Candidate]) -> Vec<Choice> {
    let mapped = candidates.iter().map(|candidate| Choice {
        words: format!(
            "map to {:?} ({} of 100: {})",
            candidate.name, candidate.score, candidate.reason
        ),
        outcome: Outcome::Decided(Resolution::Map {
            id: candidate.id.clone(),
            columns: candidate.columns.clone(),
            leave_empty: Vec::new(),
        }),
    });
    let mut choices: Vec<Choice> = mapped.collect();
    let is_there = |candidate: &Candidate| candidate.id == dependency.identity.name;
    if dependency.form == DependencyForm::Name && !candidates.iter().any(is_there) {
        let name = &dependency.identity.name;
        choices.push(Choice {
            words: format!("map to {name:?}, by its name"),
            outcome: Outcome::Decided(Resolution::Map {
                id: name.clone(),
                columns: IndexMap::new(),
                leave_empty: Vec::new(),
            }),
        });
    }
    if dependency.form == DependencyForm::Name {
        choices.push(Choice {
            words: "map to another name, which you type".to_owned(),
            outcome: Outcome::TypedName,
        });
    }
    if dependency.blueprint.is_some() {
        choices.push(Choice {
            words: "import: create it, empty, from its blueprint".to_owned(),
            outcome: Outcome::Decided(Resolution::Import),
        });
    }
    // The columns of a table are too many to type: they are written into the file.
    let columns = dependency.identity.columns.as_deref().unwrap_or_default();
    if dependency.form == DependencyForm::Uuid && columns.is_empty() {
        choices.push(Choice {
            words: "map to an id that you type".to_owned(),
            outcome: Outcome::TypedId,
        });
    }
    choices.push(Choice {
        words: "decide later, in the file".to_owned(),
        outcome: Outcome::Open,
    });
    choices.push(Choice {
        words: "skip: empty every field that uses it".to_owned(),
        outcome: Outcome::Decided(Resolution::Skip),
    });
    choices
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use tplkit::apply::Candidate;
    use tplkit::check::Checked;
    use tplkit::package::model::{Dependency, DependencyForm};

    use super::{choices, preselected};

    fn dependencies() -> Vec<Dependency> {
        let text = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/cases/valid/base-links.json"
        ));
        let package = Checked::trusted(text).expect("a package");
        package.manifest.dependencies().to_vec()
    }

    fn candidate(name: &str) -> Candidate {
        Candidate {
            id: name.to_owned(),
            name: name.to_owned(),
            label: None,
            score: 67,
            reason: "little in common by name".to_owned(),
            columns: IndexMap::new(),
        }
    }

    fn taken(dependency: &Dependency, candidates: &[Candidate]) -> String {
        let choices = choices(dependency, candidates);
        choices[preselected(dependency, &choices)].words.clone()
    }

    #[test]
    fn return_takes_what_the_package_proposes_whatever_the_destination_has() {
        let mut seen = 0;
        for dependency in dependencies() {
            for candidates in [vec![], vec![candidate("customers"), candidate("suppliers")]] {
                let taken = taken(&dependency, &candidates);
                let wanted = match dependency.blueprint {
                    Some(_) => "import",
                    None => "decide later",
                };
                assert!(taken.starts_with(wanted), "{taken}");
                seen += 1;
            }
        }
        assert!(seen >= 4, "{seen}");
    }

    #[test]
    fn what_is_known_by_name_is_proposed_by_its_name() {
        let mut dependency = dependencies().swap_remove(0);
        dependency.blueprint = None;
        dependency.form = DependencyForm::Name;
        "mail".clone_into(&mut dependency.identity.name);
        for (candidates, wanted) in [
            (vec![], "map to \"mail\", by its name"),
            (vec![candidate("mails")], "map to \"mail\", by its name"),
            (
                vec![candidate("mails"), candidate("mail")],
                "map to \"mail\" (67",
            ),
        ] {
            let taken = taken(&dependency, &candidates);
            assert!(taken.starts_with(wanted), "{taken}");
        }
    }
}
