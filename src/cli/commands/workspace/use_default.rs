//! `tplkit workspace use`: keeps a default workspace in the profile.

use serde_json::json;
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{folded, write_result};
use crate::cli::remote::profiles::{self, KeptWorkspace, Profile};
use crate::cli::remote::workspace::{find_record, titled};
use crate::cli::remote::{Choice, Connection, Environment, ServerArgs};
use crate::cli::session::Session;

/// Keep the workspace that commands work on when no `--workspace` is given.
///
/// It is kept in the profile, for the server of the profile. `--workspace`, the target of a `tplkit.toml` and
/// `TPLKIT_WORKSPACE` go before it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Work on a workspace by its name", "tplkit workspace use coffee_shop"),
    ("Keep none", "tplkit workspace use --none"),
]))]
pub(super) struct Args {
    /// The workspace: its id, name or label, or `ORG/NAME`.
    #[arg(value_name = "ID|NAME", required_unless_present = "none")]
    workspace: Option<String>,
    /// Keep none.
    #[arg(long, conflicts_with = "workspace")]
    none: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let choice = Choice::read(&args.target, true)?;
    let record = match &args.workspace {
        Some(word) => {
            let connection = Connection::open(&args.target, session)?;
            Some(find_record(&connection.client, word)?)
        }
        None => None,
    };
    let mut profile = own_profile(&choice)?;
    profile.workspace = record.as_ref().map(|record| KeptWorkspace {
        id: record.id.clone(),
        name: record.name.clone().or_else(|| record.label.clone()),
    });
    let path = profiles::save(&choice.profile, &profile)?;
    if Environment::read()?.workspace.is_some() {
        session.note("note: TPLKIT_WORKSPACE is set and goes before it until it is unset");
    }
    let name = &choice.profile;
    let text = match (args.format, &record) {
        (Form::Json, _) => document::write(
            "clean",
            &json!({
                "workspace": record.as_ref().map(|one| {
                    json!({"id": one.id, "name": one.name, "label": one.label})
                }),
                "profile": name,
                "path": path.to_string_lossy(),
            }),
        ),
        (Form::Text, None) => format!("Profile `{name}` keeps no workspace.\n"),
        (Form::Text, Some(record)) => folded(&format!(
            "Commands of profile `{name}` work on workspace {}; it is kept in {}\n",
            titled(record, session),
            printable::path(&path)
        )),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// The profile that keeps it: that of the server, or a new one of the server alone.
fn own_profile(choice: &Choice) -> Result<Profile, CliError> {
    let Some(base) = choice.base()? else {
        return Err(CliError::SignedOut { url: None });
    };
    match &choice.entry {
        None => Ok(Profile {
            url: Some(base.to_string()),
            ..Profile::default()
        }),
        Some(entry) if entry.belongs_to(&base) => Ok(entry.clone()),
        Some(_) => Err(CliError::Usage {
            message: format!(
                "profile `{}` is of another server than `{base}`",
                choice.profile
            ),
            help:
                "name a profile of this server with `--profile NAME`; one that is not there is made"
                    .to_owned(),
        }),
    }
}
