//! Names instead of ids: what a word means among things that have an id, a name and a label.
//!
//! In: a word and everything that it could mean. Out: the one thing, or an error that lists the candidates. It
//! asks no server; whoever calls it has the list.

use serde_json::{Value, json};
use tplkit::client::{Organization, Template, Workspace};
use tplkit::finding::suggest;
use tplkit::printable;

use super::error::CliError;

/// How many candidates are listed when a word fits nothing.
pub(crate) const MOST: usize = 20;

/// Something that a word could mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// What names it without doubt.
    pub(crate) id: String,
    /// The technical name.
    pub(crate) name: Option<String>,
    /// For people.
    pub(crate) label: Option<String>,
    /// The organization, as it is written before the slash of `ORG/NAME`: its label, or its id where several have
    /// the same label.
    pub(crate) organization: Option<String>,
    /// The version, of a template.
    pub(crate) semver: Option<String>,
    /// The id of the workspace, of a table.
    pub(crate) workspace: Option<String>,
}

impl Candidate {
    /// What documents say of it.
    pub(crate) fn document(&self) -> Value {
        let mut document = json!({"id": self.id, "name": self.name, "label": self.label});
        if let Some(organization) = &self.organization {
            document["organization"] = json!(organization);
        }
        let more = [("semver", &self.semver), ("workspace_id", &self.workspace)];
        for (name, value) in more {
            if let Some(value) = value {
                document[name] = json!(value);
            }
        }
        document
    }

    /// The word that people would type for it.
    fn word(&self) -> &str {
        self.name
            .as_deref()
            .or(self.label.as_deref())
            .unwrap_or(&self.id)
    }

    /// `acme/sales  "Sales"`.
    fn line(&self, with_id: bool, with_organization: bool) -> String {
        let word = match &self.organization {
            Some(organization) if with_organization => {
                format!("{organization}/{}", self.word())
            }
            _ => self.word().to_owned(),
        };
        let mut parts = vec![word];
        let label = self.label.as_deref();
        let label = label.filter(|label| *label != self.word());
        parts.extend(label.map(|label| format!("{label:?}")));
        parts.extend(self.semver.clone());
        if with_id && self.word() != self.id {
            let workspace = self.workspace.as_ref();
            let workspace = workspace.map(|id| format!(" (workspace {id})"));
            parts.push(format!("{}{}", self.id, workspace.unwrap_or_default()));
        }
        printable::line(&parts.join("  "))
    }
}

/// Candidates in words, a line each. Ids stand there only where nothing else tells two of them apart.
pub(crate) fn lines(candidates: &[Candidate]) -> Vec<String> {
    let alike = |one: &Candidate, other: &Candidate| {
        one.word() == other.word() && one.organization == other.organization
    };
    let with_id = candidates
        .iter()
        .enumerate()
        .any(|(at, one)| candidates[..at].iter().any(|other| alike(one, other)));
    let first = candidates.first().map(|one| &one.organization);
    let with_organization = candidates
        .iter()
        .any(|one| Some(&one.organization) != first);
    candidates
        .iter()
        .map(|one| one.line(with_id, with_organization))
        .collect()
}

/// What a word is looked up in.
pub(crate) struct Choices<'c> {
    /// What they are: `workspace`, `table`.
    pub(crate) noun: &'c str,
    /// What is said of a word that fits none, after the word; else that there is none.
    pub(crate) none: Option<&'c str>,
    pub(crate) all: &'c [Candidate],
    /// What to do when the word fits none of them.
    pub(crate) help: &'c str,
}

impl<'c> Choices<'c> {
    /// The one that a word means: an id, else an exact name, else an exact label, else `ORG/NAME`.
    ///
    /// # Errors
    /// It fits none of them, or several.
    pub(crate) fn find(&self, word: &str) -> Result<&'c Candidate, CliError> {
        let found = fitting(self.all, word);
        match found.as_slice() {
            [only] => Ok(only),
            [] => Err(self.nothing(word)),
            several => Err(self.several(word, several)),
        }
    }

    /// Whether a word fits one of them or several.
    pub(crate) fn fits(&self, word: &str) -> bool {
        !fitting(self.all, word).is_empty()
    }

    fn nothing(&self, word: &str) -> CliError {
        let (noun, shown) = (self.noun, word.escape_debug());
        let words: Vec<&str> = self.all.iter().map(Candidate::word).collect();
        let meant = suggest::nearest(word, words);
        let meant = meant.map(|meant| format!("Did you mean `{}`? ", meant.escape_debug()));
        CliError::Candidates {
            message: match self.none {
                Some(none) => format!("`{shown}` {none}"),
                None => format!("there is no {noun} `{shown}` that you may see"),
            },
            help: meant.unwrap_or_default() + self.help,
            candidates: self.all.iter().take(MOST).cloned().collect(),
            more: self.all.len().saturating_sub(MOST),
            path: None,
        }
    }

    fn several(&self, word: &str, several: &[&Candidate]) -> CliError {
        let organizations = several.iter().map(|one| &one.organization);
        let apart = several.iter().enumerate().all(|(at, one)| {
            let organization = one.organization.as_ref();
            organization.is_some()
                && organizations
                    .clone()
                    .take(at)
                    .all(|other| other.as_ref() != organization)
        });
        CliError::Candidates {
            message: format!(
                "`{}` names more than one {}",
                word.escape_debug(),
                self.noun
            ),
            help: if apart {
                "name the organization as well, as `ORG/NAME`, or give the id".to_owned()
            } else {
                "give the id".to_owned()
            },
            candidates: several.iter().map(|one| (*one).clone()).collect(),
            more: 0,
            path: None,
        }
    }
}

/// Those that a word fits as exactly as it fits any.
fn fitting<'c>(all: &'c [Candidate], word: &str) -> Vec<&'c Candidate> {
    let by_id: Vec<&Candidate> = all.iter().filter(|one| one.id == word).collect();
    if !by_id.is_empty() {
        return by_id;
    }
    let named = |word: &str, among: &dyn Fn(&Candidate) -> bool| -> Vec<&'c Candidate> {
        let of = |text: &dyn Fn(&Candidate) -> Option<String>| -> Vec<&'c Candidate> {
            let fits = |one: &&Candidate| among(one) && text(one).as_deref() == Some(word);
            all.iter().filter(fits).collect()
        };
        let by_name = of(&|one| one.name.clone());
        if by_name.is_empty() {
            of(&|one| one.label.clone())
        } else {
            by_name
        }
    };
    let found = named(word, &|_| true);
    if !found.is_empty() {
        return found;
    }
    // A slash may stand in the label of an organization, and in a name.
    let splits = word.match_indices('/').map(|(at, _)| word.split_at(at));
    splits
        .map(|(organization, name)| {
            named(&name[1..], &|one| {
                one.organization.as_deref() == Some(organization)
            })
        })
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// Organizations as candidates.
pub(crate) fn of_organizations(known: &[Organization]) -> Vec<Candidate> {
    let candidates = known.iter().map(|one| Candidate {
        id: one.id.clone(),
        label: one.label.clone(),
        ..Candidate::default()
    });
    candidates.collect()
}

/// The word for an organization before a slash.
pub(crate) fn organization_word(known: &[Organization], id: &str) -> String {
    let label = known.iter().find(|one| one.id == id);
    let label = label.and_then(|one| one.label.as_deref());
    let alone = |label: &&str| {
        let same = known
            .iter()
            .filter(|one| one.label.as_deref() == Some(*label));
        same.count() == 1
    };
    label.filter(alone).unwrap_or(id).to_owned()
}

/// Workspaces as candidates.
pub(crate) fn of_workspaces(all: &[Workspace], known: &[Organization]) -> Vec<Candidate> {
    let candidates = all.iter().map(|one| Candidate {
        id: one.id.clone(),
        name: one.name.clone(),
        label: one.label.clone(),
        organization: one
            .organization_id
            .as_deref()
            .map(|id| organization_word(known, id)),
        ..Candidate::default()
    });
    candidates.collect()
}

/// Templates as candidates.
pub(crate) fn of_templates(all: &[Template], known: &[Organization]) -> Vec<Candidate> {
    let candidates = all.iter().map(|one| Candidate {
        id: one.id.clone(),
        name: one.name.clone(),
        label: one.label.clone(),
        organization: one
            .organization_id
            .as_deref()
            .map(|id| organization_word(known, id)),
        semver: one.semver.clone(),
        workspace: None,
    });
    candidates.collect()
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Choices, lines};
    use crate::cli::error::CliError;

    fn candidate(id: &str, name: &str, label: &str, organization: &str) -> Candidate {
        Candidate {
            id: id.to_owned(),
            name: Some(name.to_owned()),
            label: Some(label.to_owned()),
            organization: Some(organization.to_owned()),
            ..Candidate::default()
        }
    }

    fn ids(all: &[Candidate], word: &str) -> Result<String, Vec<String>> {
        let choices = Choices {
            noun: "workspace",
            none: None,
            all,
            help: "list them",
        };
        match choices.find(word) {
            Ok(one) => Ok(one.id.clone()),
            Err(CliError::Candidates { candidates, .. }) => {
                Err(candidates.into_iter().map(|one| one.id).collect())
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn an_id_goes_before_a_name_a_name_before_a_label_and_a_label_before_an_organization() {
        let all = [
            candidate("1", "shop", "sales", "Acme"),
            candidate("2", "sales", "Shop", "Acme"),
            candidate("3", "a/b", "Slash", "Acme"),
            candidate("4", "shop", "Shop of B", "B/C"),
        ];
        let one = |word| ids(&all, word);
        assert_eq!(one("2"), Ok("2".to_owned()));
        assert_eq!(one("sales"), Ok("2".to_owned()));
        assert_eq!(one("Shop"), Ok("2".to_owned()));
        assert_eq!(one("a/b"), Ok("3".to_owned()));
        assert_eq!(one("shop"), Err(vec!["1".to_owned(), "4".to_owned()]));
        assert_eq!(one("Acme/shop"), Ok("1".to_owned()));
        assert_eq!(one("B/C/shop"), Ok("4".to_owned()));
        assert_eq!(one("B/C/Shop of B"), Ok("4".to_owned()));
        assert_eq!(one("SHOP").map_err(|all| all.len()), Err(4));
    }

    #[test]
    fn twenty_are_listed_where_a_word_fits_none() {
        let all: Vec<Candidate> = (0..25)
            .map(|at| candidate(&at.to_string(), &format!("w{at}"), "W", "A"))
            .collect();
        assert_eq!(ids(&all, "nope").map_err(|all| all.len()), Err(20));
    }

    #[test]
    fn lines_hold_what_tells_candidates_apart() {
        let acme = candidate("1", "shop", "Shop", "Acme");
        let other = candidate("2", "shop", "Shop", "Other");
        assert_eq!(
            lines(&[acme.clone(), other]),
            ["Acme/shop  \"Shop\"", "Other/shop  \"Shop\""]
        );
        let twin = candidate("3", "shop", "Shop", "Acme");
        assert_eq!(
            lines(&[acme, twin]),
            ["shop  \"Shop\"  1", "shop  \"Shop\"  3"]
        );
    }
}
