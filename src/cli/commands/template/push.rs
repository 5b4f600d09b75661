//! `tplkit template push`: a package file as a template of the catalog.

use std::path::PathBuf;

use tplkit::check::{CheckOptions, Checked};
use tplkit::client::Client;
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::package_file;
use crate::cli::remote::subject;
use crate::cli::remote::{self, Connection, ServerArgs};
use crate::cli::session::Session;

/// Push a package to the catalog, as a new template or in place of an existing one.
///
/// The package is checked first; one with errors is not sent. A new template is visible to its
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
    /// The organization that will own the template; needed when you belong to several.
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    organization: Option<String>,
    /// Replace the package of this template, which keeps its id, its jobs and its visibility.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
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
    let pushed = if let Some(id) = &args.id {
        client.replace_package(id, text)
    } else {
        let organization = organization(client, args.organization.as_deref())?;
        print_namesakes(client, &organization, &package, session)?;
        client.import(Some(&organization), text)
    };
    let pushed = pushed.map_err(not_pushed)?;
    let text = match args.format {
        Form::Text => format!("{}\n", pushed.record.id),
        Form::Json => document::write_raw("clean", &[("template", &*pushed.document)]),
    };
    write_result(&text, None)?;
    let verb = if args.id.is_some() {
        "replaced"
    } else {
        "pushed"
    };
    session.note(format!("`{}` {verb}", printable::path(&args.package)));
    Ok(Exit::Done)
}

/// The organization that was named, or the only one there is.
fn organization(client: &Client, named: Option<&str>) -> Result<String, CliError> {
    if let Some(id) = named {
        return Ok(id.to_owned());
    }
    let mut known = Vec::new();
    for page in client.organizations() {
        known.extend(page?.items);
    }
    if let [only] = known.as_slice() {
        return Ok(only.id.clone());
    }
    let listed: Vec<String> = known
        .iter()
        .map(|one| {
            format!(
                "{} ({:?})",
                one.id,
                one.label.as_deref().unwrap_or_default()
            )
        })
        .collect();
    let help = match listed.as_slice() {
        [] => "ask an owner to make you a member of one".to_owned(),
        listed => format!("give one with `--organization`: {}", listed.join(", ")),
    };
    Err(CliError::Usage {
        message: format!("you belong to {} organizations", known.len()),
        help,
    })
}

/// Says that a template of that name is there already: names need not be unique.
fn print_namesakes(
    client: &Client,
    organization: &str,
    package: &Checked<'_>,
    session: &Session,
) -> Result<(), CliError> {
    let Some(name) = &package.manifest.catalog.name else {
        return Ok(());
    };
    for one in subject::named(client, name)? {
        let record = one.record;
        if record
            .organization_id
            .as_deref()
            .is_none_or(|id| id == organization)
        {
            session.note(format!(
                "note: there is a template {name:?} already, {0}; `--id {0}` replaces it",
                record.id
            ));
        }
    }
    Ok(())
}

fn not_pushed(error: tplkit::client::Error) -> CliError {
    match error.status() {
        Some(403) => CliError::Explained {
            help: remote::help(&error) + "; the catalog is changed by those with the role `admin`",
            source: Box::new(error),
        },
        Some(404 | 405 | 501) => CliError::Explained {
            source: Box::new(error),
            help: "check the id; or the server has only the routes of the specification, and takes templates in its own way".to_owned(),
        },
        _ => error.into(),
    }
}
