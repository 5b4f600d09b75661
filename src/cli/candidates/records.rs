//! Records of a server as candidates.

use tplkit::client::{Organization, Template, Workspace};

use super::Candidate;

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
