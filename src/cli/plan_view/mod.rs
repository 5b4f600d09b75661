//! Plans an apply: the server plans a template, and this machine plans a file.
//!
//! Neither writes anything. For a file, the workspace is read over the listed routes and resolved
//! by the code that a server runs; records without a route (connections, channels, timer profiles)
//! are assumed to exist, with a note.

mod decisions;
pub(crate) mod examine;
mod pretty;
mod saved;
mod text;

use tplkit::apply::{self, Preview, PreviewInput, Request, content_digest};
use tplkit::check::Checked;
use tplkit::client::{BodyPackages, Client, Error, RemoteWorkspace};
use tplkit::definitions::Definitions;
use tplkit::json::Value;
use tplkit::package::model;
use tplkit::problem::Code;
use tplkit::workspace::{Id, Source as _, ready};

use super::error::CliError;
use super::remote::subject;
use super::upgrade_args::BaseFile;
use super::{client_error, document};

pub(crate) use decisions::{Decisions, body, with_member};
pub(crate) use saved::{Package, PlanFiles, PlanTemplate, Saved};
pub(crate) use text::screen;

/// The member of a body that holds a package in place of the template's.
const PACKAGE: &str = "package";

/// A plan, with its JSON document.
#[derive(Debug)]
pub(crate) struct PlanView {
    pub(crate) preview: Preview,
    pub(crate) document: Value,
    /// Whether targets were taken to exist that the server has no list of.
    pub(crate) trusts: bool,
}

impl PlanView {
    /// Whether it shows the same as another: what is at the destination only when it is asked
    /// (ids, digests) aside.
    pub(crate) fn shows_what(&self, other: &Preview) -> bool {
        let (one, configs) = (&self.preview, |preview: &Preview| {
            let replaced = preview.replaced_configs.iter();
            let named = replaced.map(|one| (one.kind, one.reference.clone(), one.before.clone()));
            named.collect::<Vec<_>>()
        });
        let codes = |preview: &Preview| {
            let refusals = preview.refusals.iter();
            let codes = refusals.map(|refusal| (refusal.code, refusal.reference.clone()));
            codes.collect::<Vec<_>>()
        };
        codes(one) == codes(other)
            && (&one.create, &one.rename, &one.dropped_keys)
                == (&other.create, &other.rename, &other.dropped_keys)
            && (&one.rows, &one.go_live, one.bind.len())
                == (&other.rows, &other.go_live, other.bind.len())
            && one.stays_draft == other.stays_draft
            && (&one.base, &one.update, &one.kept, &one.left)
                == (&other.base, &other.update, &other.kept, &other.left)
            && (&one.conflicts, &one.not_carried) == (&other.conflicts, &other.not_carried)
            && configs(one) == configs(other)
    }
}

/// Asks the server.
pub(crate) fn by_server(
    client: &Client,
    template: &str,
    body: &Value,
    base: Option<&BaseFile>,
) -> Result<PlanView, CliError> {
    let packages = BodyPackages {
        base: base.map(|base| base.text.as_str()),
        package: None,
    };
    let reported = client
        .plan_with(template, body, packages)
        .map_err(|error| {
            let error = named(base, error);
            if is_of_base_job(client, template, body, packages, &error) {
                return unknown_base_job(error);
            }
            let what = format!("what an apply of template `{template}` would do cannot be asked");
            subject::degraded(client, template, error, &what)
        })?;
    let document = document::exact_text(reported.document.get());
    Ok(PlanView {
        preview: reported.record,
        document,
        trusts: false,
    })
}

/// Why a package that no template holds upgrades nothing.
const NOT_IN_CATALOG: &str = "the catalog has no template of this package, so that nothing of it is applied here. Apply it (without `--upgrade`); or push it (`tplkit template push`) and give the package that the workspace was set up by (`--base`).";

/// Works it out for a package that no template holds yet.
pub(crate) fn by_reading(
    client: &Client,
    workspace: Id,
    text: &str,
    package: &Checked<'_>,
    request: &Request,
) -> Result<PlanView, CliError> {
    let remote = RemoteWorkspace::new(client, workspace);
    let structure = ready(remote.structure())?;
    let manifest = canonical_manifest(package);
    let ordered = ordered(package, manifest.as_deref());
    let plan_request = PreviewInput {
        package: ordered.as_ref().unwrap_or(package),
        package_digest: &content_digest(text),
        request,
        earlier: &[],
        base: None,
        definitions: Definitions::embedded(),
    };
    let mut preview = ready(apply::preview(&remote, &structure, plan_request))?;
    for refusal in &mut preview.refusals {
        if refusal.code == Code::NoBase {
            NOT_IN_CATALOG.clone_into(&mut refusal.detail);
        }
    }
    let document = document::exact(&preview);
    let organization = &structure.organization;
    Ok(PlanView {
        preview,
        document,
        trusts: organization.channels.is_none() || organization.connections.is_none(),
    })
}

/// The manifest of a package as the catalog would have it.
fn canonical_manifest(package: &Checked<'_>) -> Option<String> {
    let manifest = model::Package {
        manifest: package.manifest.clone(),
        envelope: None,
    };
    manifest.write().ok()
}

/// The package with that manifest: in which order somebody wrote the keys of a config is nothing that a plan rests on.
fn ordered<'p>(package: &Checked<'p>, manifest: Option<&str>) -> Option<Checked<'p>> {
    Some(Checked {
        manifest: Checked::trusted(manifest?).ok()?.manifest,
        payloads: package.payloads.clone(),
    })
}

/// Asks the server for a package in place of that of a template; nothing where it takes none.
pub(crate) fn by_server_for(
    client: &Client,
    template: &str,
    body: &Value,
    base: Option<&BaseFile>,
    package: &str,
) -> Result<Option<PlanView>, CliError> {
    let packages = BodyPackages {
        base: base.map(|base| base.text.as_str()),
        package: Some(package),
    };
    let reported = match client.plan_with(template, body, packages) {
        Ok(reported) => reported,
        Err(error) if is_of_base_job(client, template, body, packages, &error) => {
            return Err(unknown_base_job(error));
        }
        Err(error) if subject::lacks_route(&error) || refuses_packages(&error) => return Ok(None),
        Err(error) => {
            let error = client_error::in_member(named(base, error), PACKAGE, None);
            return Err(error.into());
        }
    };
    let document = document::exact_text(reported.document.get());
    Ok(Some(PlanView {
        preview: reported.record,
        document,
        trusts: false,
    }))
}

/// Whether what a server does not have is the job that an upgrade is to start from: without it, it responds.
fn is_of_base_job(
    client: &Client,
    template: &str,
    body: &Value,
    packages: BodyPackages<'_>,
    error: &Error,
) -> bool {
    const BASE_JOB: &str = "baseJob";
    let mut without = body.as_object().cloned().unwrap_or_default();
    let asked = without.shift_remove(BASE_JOB);
    let without = Value::Object(without);
    let lacks = |error: &Error| subject::lacks_route(error) || refuses_packages(error);
    asked.is_some()
        && error.status() == Some(404)
        && !client
            .plan_with(template, &without, packages)
            .is_err_and(|error| lacks(&error))
}

fn unknown_base_job(error: Error) -> CliError {
    CliError::Explained {
        source: Box::new(error),
        help: "the job of `--job` is not a job of this template in this workspace; `tplkit job list` shows the jobs that you may see".to_owned(),
    }
}

/// An error that names the file of `--base` where it is about that.
fn named(base: Option<&BaseFile>, error: Error) -> Error {
    match base {
        Some(base) => base.name_in(error),
        None => error,
    }
}

/// Whether a server does not know the member.
fn refuses_packages(error: &Error) -> bool {
    let Error::Refused(problem) = error else {
        return false;
    };
    problem.status == 422 && problem.errors.iter().any(|fault| fault.path == PACKAGE)
}

/// A server that does not know a route responds as if the thing were missing.
pub(crate) fn is_foreign(error: &CliError) -> bool {
    matches!(error, CliError::Degraded { .. })
}

/// What an error of the server says about a file that is pushed to a workspace.
pub(crate) fn not_pushed(error: Error) -> CliError {
    let help = match error.status() {
        Some(403) => {
            "a file is pushed to the catalog before it is applied, and that needs the role `admin` of the organization; ask an admin for `tplkit template push`, then apply the template"
        }
        Some(404 | 405 | 501) => {
            "this server takes no packages over `/v1`, or shows you no such organization; bring the template into its catalog in its own way, then `tplkit apply` it by id"
        }
        _ => return error.into(),
    };
    CliError::Explained {
        source: Box::new(error),
        help: help.to_owned(),
    }
}
