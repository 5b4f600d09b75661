//! Makes the plan of a `PKG|TEMPLATE`, on the server or on this machine.

use std::path::Path;

use tplkit::apply::Request;
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
    /// The package of `--base`.
    pub(crate) base: Option<&'q str>,
    pub(crate) session: &'q Session,
}

impl PlanRequest<'_> {
    /// The body that the server is asked with, without `base`.
    pub(crate) fn body(self) -> serde_json::Value {
        body(self.request, self.workspace)
    }
}

/// A plan for a template of the catalog.
pub(crate) fn template(question: PlanRequest<'_>, word: &str) -> Result<Examined, CliError> {
    let id = subject::template(question.client, word)?;
    let body = question.body();
    Ok(Examined {
        planned: by_server(question.client, &id, (&body, question.base))?,
        template: Some(id),
        replaces: false,
        package: None,
    })
}

/// A plan for a file, or for a template of the catalog; or the report that says why the file cannot be
/// used.
pub(crate) fn any(
    question: PlanRequest<'_>,
    template: &FileTemplate,
    word: &Path,
) -> Result<Result<Examined, Box<Report>>, CliError> {
    match subject::Subject::of(word) {
        subject::Subject::Template(word) => self::template(question, word).map(Ok),
        subject::Subject::File(path) => {
            let source = package_file::read(path)?;
            match File::checked(&source) {
                Ok(read) => {
                    let held = held(question, template, &read)?;
                    file(question, &held, &read).map(Ok)
                }
                Err(report) => Ok(Err(report)),
            }
        }
    }
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
        (!is_stdin(self.path)).then(|| Package::of(self.path, self.text))
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
    let body = question.body();
    let asked = (&body, question.base);
    let (template, planned) = match held {
        Held::Nothing => (None, None),
        Held::Same(id) => {
            question.session.note(format!(
                "note: the catalog holds this package already, as template {id}"
            ));
            let planned = by_server(question.client, id, asked).map(Some);
            (Some(id), unless_foreign(planned)?)
        }
        Held::Other { id, .. } => {
            question.session.note(format!(
                "note: a push of this file replaces template {id}; this is what its apply would do then"
            ));
            let planned = by_server_for(question.client, id, asked, file.text);
            (Some(id), planned?)
        }
    };
    if question.request.upgrade && template.is_some() && planned.is_none() {
        return Err(CliError::Degraded {
            message: "this server does not plan an upgrade to a package file".to_owned(),
            help: "`tplkit simulate FILE --upgrade --base OLD` shows what an upgrade would do"
                .to_owned(),
        });
    }
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
