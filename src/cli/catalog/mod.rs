//! The template of the catalog that a pushed package replaces (`upgrade` 1.1), and whether its version
//! rose.
//!
//! A package with a `manifest.id` replaces the template of its organization with the same id, whatever
//! both are called. One without replaces the template of its name that has no id either, and a name alone
//! needs a yes.

mod file;
mod version;

use serde_json::Value;
use tplkit::check::Checked;
use tplkit::client::{Client, Template};
use tplkit::package::model::Catalog;

use super::candidates::{Candidate, of_templates};
use super::error::CliError;
use super::remote::subject;
use super::remote::workspace::called;

pub(crate) use file::{CatalogMatch, FileTemplate, replaced};
pub(crate) use version::{VersionBump, compare};

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
    let mut found: Vec<Template> = Vec::new();
    for page in client.templates(None, None) {
        for template in page?.items {
            let record = template.record;
            let theirs = record.organization_id.as_deref();
            let own = theirs.is_none() || organization.is_none() || theirs == organization;
            if own && could_be(catalog, &record) && is_meant(client, catalog, &record)? {
                found.push(record);
            }
        }
    }
    let mut candidates = of_templates(&found, &[]);
    for candidate in &mut candidates {
        // They are all of the same one.
        candidate.organization = None;
    }
    if candidates.len() > 1 {
        return Err(ambiguous(candidates));
    }
    let Some(first) = candidates.pop() else {
        return Ok(PushTarget::New);
    };
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

fn ambiguous(candidates: Vec<Candidate>) -> CliError {
    CliError::Candidates {
        message: "the package may replace more than one template".to_owned(),
        help: "name one with `--id`, or make another with `--new`".to_owned(),
        candidates,
        more: 0,
        path: None,
    }
}

/// A template of the same name exists, and nothing says that it is meant.
pub(crate) fn same_name(candidate: &Candidate) -> CliError {
    CliError::Candidates {
        message: format!(
            "there is a template of the same name, {}: nobody was asked whether it is replaced",
            summary(candidate)
        ),
        help: "pass `--yes` to replace it, or make another with `--new`".to_owned(),
        candidates: vec![candidate.clone()],
        more: 0,
        path: None,
    }
}

/// The prompt before a template of the same name is replaced.
pub(crate) fn question(candidate: &Candidate) -> String {
    format!(
        "Replace the template of the same name, {}?",
        summary(candidate)
    )
}

/// It in one line, for people: `"Sales CRM" (sales-crm, 1.0.0)`.
fn summary(candidate: &Candidate) -> String {
    called(
        candidate.label.as_deref(),
        candidate.name.as_deref(),
        &candidate.id,
        candidate.semver.as_deref(),
    )
}
