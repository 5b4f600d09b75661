//! The one thing that a word means, or everything that it could mean.

use tplkit::finding::suggest;

use crate::cli::candidates::{Candidate, MAX_LISTED, closest};
use crate::cli::error::CliError;

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
            more: self.all.len().saturating_sub(MAX_LISTED),
            candidates: closest(word, self.all),
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
        let names: Vec<&str> = several.iter().map(|one| one.word()).collect();
        let named = (1..names.len()).all(|at| !names[..at].contains(&names[at]));
        CliError::Candidates {
            message: format!(
                "`{}` names more than one {}",
                word.escape_debug(),
                self.noun
            ),
            help: match (named, apart) {
                (true, _) => "give the name",
                (false, true) => "name the organization as well, as `ORG/NAME`, or give the id",
                (false, false) => "give the id",
            }
            .to_owned(),
            candidates: several.iter().map(|one| (*one).clone()).collect(),
            more: 0,
            path: None,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::Choices;
    use crate::cli::candidates::Candidate;
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
}
