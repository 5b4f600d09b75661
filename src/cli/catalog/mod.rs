//! The template of the catalog that a pushed package replaces (`upgrade` 1.1), and whether its version
//! rose.
//!
//! A package with a `manifest.id` replaces the template of its organization with the same id, whatever
//! both are called. One without replaces the template of its name that has no id either, and a name alone
//! needs a yes.

mod file;
mod version;

use serde_json::{Value, json};
use tplkit::check::Checked;
use tplkit::client::{Client, Template};
use tplkit::package::model::Catalog;

use super::error::CliError;
use super::remote::subject;

pub(crate) use file::{CatalogMatch, FileTemplate};
pub(crate) use version::{VersionBump, compare};

/// A template that is replaced, or may be.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) id: String,
    name: Option<String>,
    label: Option<String>,
    semver: Option<String>,
}

/// Which template a push means.
#[derive(Debug)]
pub(crate) enum PushTarget {
    /// None that is there.
    New,
    /// The one with the same id in its manifest.
    ById(Candidate),
    /// The one with the same name, which may be a coincidence.
    ByName(Candidate),
}

impl Candidate {
    fn of(record: Template) -> Candidate {
        Candidate {
            id: record.id,
            name: record.name,
            label: record.label,
            semver: record.semver,
        }
    }

    /// What documents say of it.
    pub(crate) fn document(&self) -> Value {
        json!({"id": self.id, "name": self.name, "label": self.label, "semver": self.semver})
    }

    /// It in one line, for people.
    fn summary(&self) -> String {
        let clean =
            |text: &Option<String>| text.as_deref().unwrap_or("-").escape_debug().to_string();
        let (name, label) = (clean(&self.name), clean(&self.label));
        format!("{} ({name}, \"{label}\", {})", self.id, clean(&self.semver))
    }
}

/// Finds out which template of an organization a package replaces.
///
/// # Errors
/// Several could be meant.
pub(crate) fn meant(
    client: &Client,
    organization: Option<&str>,
    package: &Checked<'_>,
) -> Result<PushTarget, CliError> {
    let catalog = &package.manifest.catalog;
    let mut found = Vec::new();
    for page in client.templates(None, None) {
        for template in page?.items {
            let record = template.record;
            let theirs = record.organization_id.as_deref();
            let own = theirs.is_none() || organization.is_none() || theirs == organization;
            if own && could_be(catalog, &record) && is_meant(client, catalog, &record)? {
                found.push(Candidate::of(record));
            }
        }
    }
    let mut found = found.into_iter();
    let Some(first) = found.next() else {
        return Ok(PushTarget::New);
    };
    let rest: Vec<Candidate> = found.collect();
    if !rest.is_empty() {
        let candidates: Vec<Candidate> = std::iter::once(first).chain(rest).collect();
        return Err(ambiguous(&candidates));
    }
    Ok(if catalog.id.is_some() {
        PushTarget::ById(first)
    } else {
        PushTarget::ByName(first)
    })
}

/// Whether a record alone leaves it open.
fn could_be(catalog: &Catalog, record: &Template) -> bool {
    catalog.id.is_some() || (catalog.name.is_some() && catalog.name == record.name)
}

/// Whether its manifest has the same id, or no id either.
fn is_meant(client: &Client, catalog: &Catalog, record: &Template) -> Result<bool, CliError> {
    /// A template as far as its manifest says who it is.
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(default)]
        manifest: Head,
    }
    #[derive(serde::Deserialize, Default)]
    struct Head {
        #[serde(default)]
        id: Option<Value>,
    }
    let known = match client.template(&record.id) {
        Ok(template) => {
            let named: Result<Named, _> = serde_json::from_str(template.document.get());
            named.ok().and_then(|named| named.manifest.id)
        }
        // It went meanwhile, or the server shows no manifests.
        Err(error) if subject::lacks_route(&error) => None,
        Err(error) => return Err(error.into()),
    };
    let known = known.as_ref().and_then(Value::as_str);
    Ok(catalog.id.as_deref() == known)
}

fn ambiguous(candidates: &[Candidate]) -> CliError {
    let summaries: Vec<String> = candidates.iter().map(Candidate::summary).collect();
    CliError::Candidates {
        message: format!(
            "the package may replace more than one template: {}",
            summaries.join(", ")
        ),
        help: "name one with `--id`, or make another with `--new`".to_owned(),
        candidates: documents(candidates),
    }
}

/// A template of the same name is there, and nobody said that it is meant.
pub(crate) fn same_name(candidate: &Candidate) -> CliError {
    CliError::Candidates {
        message: format!(
            "there is a template of the same name, {}: not a terminal to ask whether it is replaced",
            candidate.summary()
        ),
        help: "pass `--yes` to replace it, or make another with `--new`".to_owned(),
        candidates: documents(std::slice::from_ref(candidate)),
    }
}

/// What is asked on a terminal before a template of the same name is replaced.
pub(crate) fn question(candidate: &Candidate) -> String {
    format!(
        "Replace the template of the same name, {}?",
        candidate.summary()
    )
}

fn documents(candidates: &[Candidate]) -> Vec<Value> {
    candidates.iter().map(Candidate::document).collect()
}
