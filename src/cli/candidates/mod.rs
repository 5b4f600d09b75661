//! Names instead of ids: what a word means among things that have an id, a name and a label.
//!
//! In: a word and everything that it could mean. Out: what comes closest to it. `choices` finds the one thing that a
//! word means. It asks no server; the caller has the list.
//!
//! | Module | What |
//! |---|---|
//! | `records` | organizations, workspaces and templates as candidates |
//! | `words` | candidates that are words of this program: rules, names, values of options |

mod records;
mod words;

use serde_json::{Map, Value, json};
use tplkit::finding::suggest::likeness;
use tplkit::printable;

pub(crate) use records::{of_organizations, of_templates, of_workspaces, organization_word};
pub(crate) use words::{labelled, of_argument, of_rules, of_words};

/// How many candidates are listed when a word fits nothing.
pub(crate) const MAX_LISTED: usize = 20;

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
    /// The id of the workspace, of a table or a file.
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
    pub(crate) fn word(&self) -> &str {
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

/// What the document of an error has of candidates.
pub(crate) fn members(candidates: &[Candidate]) -> Map<String, Value> {
    let candidates = candidates.iter().map(Candidate::document).collect();
    Map::from_iter([("candidates".to_owned(), candidates)])
}

/// Those that resemble a word most, at most as many as are listed: the most alike first where some are left out, else
/// all in their order.
pub(crate) fn closest(word: &str, all: &[Candidate]) -> Vec<Candidate> {
    let mut found = all.to_vec();
    if found.len() > MAX_LISTED {
        let alike = |one: &Candidate| {
            let words = [
                Some(one.id.as_str()),
                one.name.as_deref(),
                one.label.as_deref(),
            ];
            let alike = words
                .into_iter()
                .flatten()
                .map(|known| likeness(word, known));
            alike.fold(0.0, f64::max)
        };
        found.sort_by(|one, other| alike(other).total_cmp(&alike(one)));
        found.truncate(MAX_LISTED);
    }
    found
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

#[cfg(test)]
mod tests {
    use super::{Candidate, lines};

    fn candidate(id: &str, name: &str, label: &str, organization: &str) -> Candidate {
        Candidate {
            id: id.to_owned(),
            name: Some(name.to_owned()),
            label: Some(label.to_owned()),
            organization: Some(organization.to_owned()),
            ..Candidate::default()
        }
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
