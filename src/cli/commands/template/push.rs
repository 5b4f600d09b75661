//! `tplkit template push`: a package file as a template of the catalog.

use std::path::PathBuf;

use serde_json::json;
use tplkit::check::{CheckOptions, Checked};
use tplkit::client::Client;
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::candidates::of_organizations;
use crate::cli::catalog::{self, PushTarget, VersionBump};
use crate::cli::client_error;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_titles::template_title;
use crate::cli::output::write_result;
use crate::cli::package_file;
use crate::cli::remote::{self, Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::typed_id::parse_id;
use crate::cli::word_match::Choices;

/// Push a package to the catalog: in place of the template that it replaces, or as a new one.
///
/// A package with an `id` in its manifest replaces the template of the organization with the same
/// id. One without replaces the template of its name that has no id either, after a prompt. The
/// package is checked first; one with errors is not sent. A new template is visible to its
/// organization only, until it is promoted.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Push a package", "tplkit template push crm.json"),
    ("Replace the package of a template", "tplkit template push crm.json --id $TEMPLATE"),
]))]
pub(super) struct Args {
    /// The package: a file or an unpacked folder; `-` is standard input.
    #[arg(value_name = "PKG")]
    package: PathBuf,
    /// The organization that will own the template, by id or label; needed when you belong to several.
    #[arg(long, value_name = "ID|LABEL", conflicts_with = "id")]
    organization: Option<String>,
    /// Replace the package of this template, which keeps its id, its jobs and its visibility.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Make another template, whatever is there.
    #[arg(long, conflicts_with = "id")]
    new: bool,
    /// Replace a template of the same name without a prompt.
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    bump: VersionBump,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let source = package_file::read(&args.package)?;
    let options = CheckOptions::default();
    let (text, package) = match package_file::checked(&source, &options) {
        Ok(checked) => checked,
        Err(report) => {
            session.note(
                "error: only a package that checks without errors is pushed; nothing was sent",
            );
            return package_file::refuse(&report, args.format, session);
        }
    };
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let destination = args.destination(client, &package)?;
    if let PushDestination::Template(id) = &destination
        && let Some(compared) = catalog::compare(client, id, text)?
        && !compared.report(args.bump, session)
    {
        return report_version_not_raised(args, id);
    }
    let (pushed, action) = match &destination {
        PushDestination::Template(id) => (client.replace_package(id, text), "replaced"),
        PushDestination::Organization(organization) => {
            (client.import(Some(organization), text), "created")
        }
    };
    let pushed = pushed.map_err(not_pushed)?;
    let action_raw = document::raw(&json!(action));
    let text = match args.format {
        Form::Text => format!("{}\n", pushed.record.id),
        Form::Json => {
            let members = [("action", &*action_raw), ("template", &*pushed.document)];
            document::write_raw("clean", &members)
        }
    };
    write_result(&text, None)?;
    let path = printable::path(&args.package);
    let title = template_title(&pushed.record, session);
    session.note(format!("`{path}` is pushed: template {title} is {action}"));
    Ok(Exit::Done)
}

/// Where a package goes.
enum PushDestination {
    /// In the place of this template.
    Template(String),
    /// To this organization, as another template.
    Organization(String),
}

impl Args {
    /// Finds out where the package goes, and asks where only the name says so.
    fn destination(
        &self,
        client: &Client,
        package: &Checked<'_>,
    ) -> Result<PushDestination, CliError> {
        if let Some(id) = &self.id {
            return Ok(PushDestination::Template(id.clone()));
        }
        let organization = organization(client, self.organization.as_deref())?;
        if self.new {
            return Ok(PushDestination::Organization(organization));
        }
        Ok(
            match catalog::meant(client, Some(&organization), package)? {
                PushTarget::New => PushDestination::Organization(organization),
                PushTarget::ById(candidate) => PushDestination::Template(candidate.id),
                PushTarget::ByName(candidate) => {
                    if !self.yes {
                        if self.format != Form::Text || !remote::terminal() {
                            return Err(catalog::same_name(&candidate));
                        }
                        remote::confirm(&catalog::question(&candidate))?;
                    }
                    PushDestination::Template(candidate.id)
                }
            },
        )
    }
}

/// Reports that the version did not rise, and it had to.
fn report_version_not_raised(args: &Args, id: &str) -> Result<Exit, CliError> {
    if args.format == Form::Json {
        let members = json!({"action": null, "template_id": id});
        write_result(&document::write("findings", &members), None)?;
    }
    Ok(Exit::Findings)
}

/// The organization that was named, or the only one there is.
fn organization(client: &Client, named: Option<&str>) -> Result<String, CliError> {
    if let Some(id) = named.filter(|word| parse_id(word).is_some()) {
        return Ok(id.to_owned());
    }
    let mut known = Vec::new();
    for page in client.organizations() {
        known.extend(page?.items);
    }
    let candidates = of_organizations(&known);
    if let Some(word) = named {
        let choices = Choices {
            noun: "organization",
            none: None,
            all: &candidates,
            help: "`tplkit whoami` shows your organizations",
        };
        // Ids of other servers may be any word; where none are listed, the server knows better.
        return match choices.find(word) {
            Ok(one) => Ok(one.id.clone()),
            Err(_) if known.is_empty() => Ok(word.to_owned()),
            Err(error) => Err(error),
        };
    }
    match known.as_slice() {
        [only] => Ok(only.id.clone()),
        [] => Err(CliError::Usage {
            message: "you belong to no organization".to_owned(),
            help: "ask an owner to make you a member of one".to_owned(),
        }),
        several => Err(CliError::Candidates {
            message: format!("you belong to {} organizations", several.len()),
            help: "give one with `--organization`".to_owned(),
            candidates,
            more: 0,
            path: None,
        }),
    }
}

fn not_pushed(error: tplkit::client::Error) -> CliError {
    match error.status() {
        Some(403) => CliError::Explained {
            help: client_error::help(&error) + "; the catalog is changed by those with the role `admin`",
            source: Box::new(error),
        },
        Some(404 | 405 | 501) => CliError::Explained {
            source: Box::new(error),
            help: "check the id; or the server has only the routes of the specification, and takes templates in its own way".to_owned(),
        },
        _ => error.into(),
    }
}
