//! Makes the plan of a `PKG|TEMPLATE`, on the server or on this machine.

use std::path::Path;

use tplkit::apply::{Request, content_digest};
use tplkit::check::{CheckOptions, Checked};
use tplkit::client::Client;
use tplkit::finding::render::Report;
use tplkit::workspace::Id;

use super::{Package, PlanView, body, by_reading, by_server, is_foreign, twin};
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

/// The template that holds a file already, in the organization of the workspace.
pub(crate) fn pushed_template(
    question: PlanRequest<'_>,
    file: &File<'_>,
) -> Result<Option<String>, CliError> {
    let workspace = question.client.workspace(&question.workspace.to_string())?;
    let organization = workspace.organization_id.as_deref();
    twin(question.client, organization, file.text, &file.package)
}

/// A plan for a file: of the template that holds it, when there is one.
pub(crate) fn file(question: PlanRequest<'_>, file: &File<'_>) -> Result<Examined, CliError> {
    let package = file.remembered();
    if let Some(id) = pushed_template(question, file)? {
        question.session.note(format!(
            "note: the catalog holds this package already, as template {id}"
        ));
        let body = body(question.request, question.workspace);
        match by_server(question.client, &id, &body) {
            Ok(planned) => {
                return Ok(Examined {
                    planned,
                    template: Some(id),
                    package,
                });
            }
            Err(error) if is_foreign(&error) => {}
            Err(error) => return Err(error),
        }
    }
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
    Ok(Examined {
        planned,
        template: None,
        package,
    })
}
