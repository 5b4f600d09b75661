//! Makes the plan of a `PKG|TEMPLATE`, on the server or on this machine.

use std::path::Path;

use tplkit::apply::{Request, content_digest};
use tplkit::check::{CheckOptions, Checked};
use tplkit::client::Client;
use tplkit::finding::render::Report;
use tplkit::workspace::Id;

use super::{Package, PlanView, body, by_reading, by_server, by_server_for, is_foreign};
use crate::cli::catalog::{FileTemplate, Held};
use crate::cli::error::CliError;
use crate::cli::package_file::{self, PackageFile};
use crate::cli::remote::subject;
use crate::cli::session::Session;
use crate::cli::source::is_stdin;

/// A plan, and for what.
pub(crate) struct Examined {
    pub(crate) planned: PlanView,
    /// The template that it was made for; none for a file that no template holds.
    pub(crate) template: Option<String>,
    /// Whether a file is to replace the package of that template first.
    pub(crate) replaces: bool,
    pub(crate) package: Option<Package>,
}

/// Where something is to be applied, and how.
#[derive(Clone, Copy)]
pub(crate) struct PlanRequest<'q> {
    pub(crate) client: &'q Client,
    pub(crate) workspace: Id,
    pub(crate) request: &'q Request,
    pub(crate) session: &'q Session,
}

/// A plan for a template of the catalog.
pub(crate) fn template(question: PlanRequest<'_>, word: &str) -> Result<Examined, CliError> {
    let id = subject::template(question.client, word)?;
    let body = body(question.request, question.workspace);
    Ok(Examined {
        planned: by_server(question.client, &id, &body)?,
        template: Some(id),
        replaces: false,
        package: None,
    })
}

/// A package file, or an unpacked folder, without errors.
pub(crate) struct File<'s> {
    pub(crate) path: &'s Path,
    pub(crate) text: &'s str,
    pub(crate) package: Checked<'s>,
}

impl<'s> File<'s> {
    /// Checks it, or gives the report that says why it cannot be used.
    pub(crate) fn checked(source: &'s PackageFile) -> Result<File<'s>, Box<Report>> {
        let (text, package) = package_file::checked(source, &CheckOptions::default())?;
        Ok(File {
            path: &source.path,
            text,
            package,
        })
    }

    /// What a saved plan remembers of it: nothing of standard input, which is gone by then.
    fn remembered(&self) -> Option<Package> {
        (!is_stdin(self.path)).then(|| Package {
            path: std::path::absolute(self.path).unwrap_or_else(|_| self.path.to_owned()),
            digest: content_digest(self.text),
        })
    }
}

/// What the catalog holds of a file, in the organization of the workspace.
pub(crate) fn held(
    question: PlanRequest<'_>,
    template: &FileTemplate,
    file: &File<'_>,
) -> Result<Held, CliError> {
    let workspace = question.client.workspace(&question.workspace.to_string())?;
    let organization = workspace.organization_id.as_deref();
    template.find(question.client, organization, file)
}

/// A plan for a file: of the template that holds it or would be replaced by it, when there is one.
pub(crate) fn file(
    question: PlanRequest<'_>,
    held: &Held,
    file: &File<'_>,
) -> Result<Examined, CliError> {
    let body = body(question.request, question.workspace);
    let (template, planned) = match held {
        Held::Nothing => (None, None),
        Held::Same(id) => {
            question.session.note(format!(
                "note: the catalog holds this package already, as template {id}"
            ));
            let planned = by_server(question.client, id, &body).map(Some);
            (Some(id), unless_foreign(planned)?)
        }
        Held::Other { id, .. } => {
            question.session.note(format!(
                "note: a push of this file replaces template {id}; this is what its apply would do then"
            ));
            let planned = by_server_for(question.client, id, &body, file.text);
            (Some(id), planned?)
        }
    };
    let replaces = matches!(held, Held::Other { .. });
    // Where the server does not plan, nothing is bound to a template that holds the file.
    let template = template.filter(|_| replaces || planned.is_some());
    let planned = match planned {
        Some(planned) => planned,
        None => read(question, file)?,
    };
    Ok(Examined {
        planned,
        template: template.cloned(),
        replaces,
        package: file.remembered(),
    })
}

/// A plan of a server that plans.
fn unless_foreign(
    planned: Result<Option<PlanView>, CliError>,
) -> Result<Option<PlanView>, CliError> {
    match planned {
        Err(error) if is_foreign(&error) => Ok(None),
        planned => planned,
    }
}

/// A plan that is worked out here.
fn read(question: PlanRequest<'_>, file: &File<'_>) -> Result<PlanView, CliError> {
    let planned = by_reading(
        question.client,
        question.workspace,
        file.text,
        &file.package,
        question.request,
    )?;
    question.session.note(if planned.trusts {
        "note: worked out from what can be read of the workspace; connections, channels and timer profiles are taken on trust"
    } else {
        "note: worked out from what can be read of the workspace"
    });
    Ok(planned)
}
