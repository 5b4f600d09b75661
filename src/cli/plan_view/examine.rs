//! Makes the plan of a `PKG|TEMPLATE`, on the server or on this machine.

use std::path::Path;

use tplkit::apply::Request;
use tplkit::client::Client;
use tplkit::finding::render::Report;
use tplkit::workspace::Id;

use super::{Package, PlanView, body, by_reading, by_server, by_server_for, is_foreign};
use crate::cli::catalog::{CatalogMatch, FileTemplate};
use crate::cli::error::CliError;
use crate::cli::item_titles::ItemTitles;
use crate::cli::package_file::{self, File};
use crate::cli::remote::workspace::{NamedWorkspace, called};
use crate::cli::remote::{Connection, ServerArgs, subject};
use crate::cli::session::Session;
use crate::cli::source::is_stdin;
use crate::cli::upgrade_args::{BaseFile, ServerUpgradeArgs};

/// A plan, and for what.
pub(crate) struct PlannedApply {
    pub(crate) planned: PlanView,
    /// The template that it was made for; none for a file that no template holds.
    pub(crate) template: Option<String>,
    /// The content digest of the package of that template, where a file is to replace it first.
    pub(crate) replaced: Option<String>,
    pub(crate) package: Option<Package>,
    /// What the package of a file calls its items.
    pub(crate) labels: Option<ItemTitles>,
}

impl PlannedApply {
    /// What people call what the plan is about.
    pub(crate) fn titles(&self, client: &Client) -> ItemTitles {
        let titles = match (&self.labels, &self.template) {
            (Some(labels), _) => labels.clone(),
            (None, Some(id)) => ItemTitles::of_template(client, id),
            (None, None) => ItemTitles::default(),
        };
        titles.with_plan(&self.planned.preview)
    }
}

/// Where something is to be applied, and how.
#[derive(Clone, Copy)]
pub(crate) struct PlanRequest<'q> {
    pub(crate) client: &'q Client,
    pub(crate) workspace: &'q NamedWorkspace,
    pub(crate) request: &'q Request,
    /// The package of `--base`.
    pub(crate) base: Option<&'q BaseFile>,
    pub(crate) session: &'q Session,
}

impl PlanRequest<'_> {
    /// The body that the server is asked with, without `base`.
    pub(crate) fn body(self) -> tplkit::json::Value {
        body(self.request, self.workspace.id)
    }

    /// The organization of the workspace.
    ///
    /// # Errors
    /// The server does not show the workspace.
    pub(crate) fn organization(self) -> Result<Option<String>, CliError> {
        let record = self.workspace.require(self.client)?;
        Ok(record.organization_id.clone())
    }

    /// What people call the workspace.
    pub(crate) fn title(self) -> String {
        self.workspace.title(self.client, self.session)
    }
}

/// A plan for a template of the catalog.
pub(crate) fn template(
    plan_request: PlanRequest<'_>,
    word: &str,
) -> Result<PlannedApply, CliError> {
    let id = subject::template(plan_request.client, word)?;
    let body = plan_request.body();
    Ok(PlannedApply {
        planned: by_server(plan_request.client, &id, &body, plan_request.base)?,
        template: Some(id),
        replaced: None,
        package: None,
        labels: None,
    })
}

/// A plan for a file, or for a template of the catalog; or the report that says why the file cannot be
/// used.
pub(crate) fn any(
    plan_request: PlanRequest<'_>,
    template: &FileTemplate,
    word: &Path,
) -> Result<Result<PlannedApply, Box<Report>>, CliError> {
    match subject::Subject::of(word) {
        subject::Subject::Template(word) => self::template(plan_request, word).map(Ok),
        subject::Subject::File(path) => {
            let source = package_file::read(path)?;
            match File::checked(&source) {
                Ok(read) => {
                    let in_catalog = find_in_catalog(plan_request, template, &read)?;
                    file(plan_request, &in_catalog, &read).map(Ok)
                }
                Err(report) => Ok(Err(report)),
            }
        }
    }
}

/// A workspace by its id, and what people call it.
pub(crate) struct TitledWorkspace {
    pub(crate) id: Id,
    pub(crate) title: String,
    /// It as the argument of a command.
    pub(crate) argument: String,
}

/// The plan of an upgrade, with what people call what it is about.
pub(crate) struct PlannedUpgrade {
    pub(crate) workspace: TitledWorkspace,
    pub(crate) planned: PlannedApply,
    pub(crate) titles: ItemTitles,
}

/// An upgrade that is planned on a server.
pub(crate) struct UpgradePlan<'q> {
    pub(crate) package: &'q Path,
    /// The word that names it.
    pub(crate) workspace: &'q str,
    pub(crate) request: &'q Request,
    pub(crate) upgrade: &'q ServerUpgradeArgs,
    pub(crate) server: &'q ServerArgs,
}

impl UpgradePlan<'_> {
    /// The plan; or the report that says why the package, or that of `--base`, cannot be used.
    pub(crate) fn make(
        &self,
        session: &Session,
    ) -> Result<Result<PlannedUpgrade, Box<Report>>, CliError> {
        let base = match self.upgrade.base()? {
            Ok(base) => base,
            Err(report) => return Ok(Err(report)),
        };
        let connection = Connection::open(self.server, session)?;
        let workspace = NamedWorkspace::find(&connection.client, self.workspace)?;
        let plan_request = PlanRequest {
            client: &connection.client,
            workspace: &workspace,
            request: self.request,
            base: base.as_ref(),
            session,
        };
        let planned = any(plan_request, &FileTemplate::default(), self.package)?;
        let titled = TitledWorkspace {
            id: workspace.id,
            title: plan_request.title(),
            argument: workspace.argument().into_owned(),
        };
        Ok(planned.map(|planned| PlannedUpgrade {
            workspace: titled,
            titles: planned.titles(&connection.client),
            planned,
        }))
    }
}

/// What the catalog holds of a file, in the organization of the workspace.
pub(crate) fn find_in_catalog(
    plan_request: PlanRequest<'_>,
    template: &FileTemplate,
    file: &File<'_>,
) -> Result<CatalogMatch, CliError> {
    let organization = plan_request.organization()?;
    template.find(plan_request.client, organization.as_deref(), file)
}

/// A plan for a file: of the template that holds it or would be replaced by it, when there is one.
pub(crate) fn file(
    plan_request: PlanRequest<'_>,
    in_catalog: &CatalogMatch,
    file: &File<'_>,
) -> Result<PlannedApply, CliError> {
    let body = plan_request.body();
    let (client, base) = (plan_request.client, plan_request.base);
    let (template, planned) = match in_catalog {
        CatalogMatch::Nothing => (None, None),
        CatalogMatch::Same(id) => {
            plan_request.session.note(format!(
                "note: the catalog holds this package already, as template {}",
                file_title(file, id, plan_request.session)
            ));
            let planned = by_server(client, id, &body, base).map(Some);
            (Some(id), unless_foreign(planned)?)
        }
        CatalogMatch::Other { id, title, .. } => {
            let session = plan_request.session;
            let more = title.as_ref().filter(|_| session.is_verbose());
            let more = more.map(|_| format!(" ({id})")).unwrap_or_default();
            session.note(format!(
                "note: a push of this file replaces template {}{more}; this is what its apply would do then",
                title.as_ref().unwrap_or(id)
            ));
            let planned = by_server_for(client, id, &body, base, file.text);
            (Some(id), planned?)
        }
    };
    if plan_request.request.upgrade && template.is_some() && planned.is_none() {
        return Err(CliError::Degraded {
            message: "this server does not plan an upgrade to a package file".to_owned(),
            help: "`tplkit simulate FILE --upgrade --base OLD` shows what an upgrade would do"
                .to_owned(),
        });
    }
    let replaced = match in_catalog {
        CatalogMatch::Other { digest, .. } => Some(digest.clone()),
        CatalogMatch::Nothing | CatalogMatch::Same(_) => None,
    };
    // Where the server does not plan, nothing is bound to a template that holds the file.
    let template = template.filter(|_| replaced.is_some() || planned.is_some());
    let planned = match planned {
        Some(planned) => planned,
        None => read(plan_request, file)?,
    };
    Ok(PlannedApply {
        planned,
        template: template.cloned(),
        replaced,
        package: remembered(file),
        labels: Some(ItemTitles::of_manifest(&file.package.manifest)),
    })
}

/// The template of a file that the catalog holds, by what the file calls itself.
pub(crate) fn file_title(file: &File<'_>, id: &str, session: &Session) -> String {
    let catalog = &file.package.manifest.catalog;
    let more = session.is_verbose().then_some(id);
    called(catalog.label.as_deref(), catalog.name.as_deref(), id, more)
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
fn read(plan_request: PlanRequest<'_>, file: &File<'_>) -> Result<PlanView, CliError> {
    let planned = by_reading(
        plan_request.client,
        plan_request.workspace.id,
        file.text,
        &file.package,
        plan_request.request,
    )?;
    plan_request.session.note(if planned.trusts {
        "note: worked out from what can be read of the workspace; connections, channels and timer profiles are taken on trust"
    } else {
        "note: worked out from what can be read of the workspace"
    });
    Ok(planned)
}

/// What a saved plan remembers of a file: nothing of standard input, which is gone by then.
fn remembered(file: &File<'_>) -> Option<Package> {
    (!is_stdin(file.path)).then(|| Package::of(file.path, file.text))
}
