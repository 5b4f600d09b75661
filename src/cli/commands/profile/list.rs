//! `tplkit profile list`: lists the profiles; secrets are never shown.

use serde_json::{Value, json};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::profiles::{Profile, Profiles};
use crate::cli::remote::{DEFAULT_PROFILE, Environment};
use crate::cli::sections::columns;
use crate::cli::session::Session;

/// List the profiles: server, who is signed in, default workspace.
///
/// A star stands before the one that commands use.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List all profiles", "tplkit profile list"),
    ("List them as JSON, for a program", "tplkit profile list --format json"),
]))]
pub(super) struct Args {
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let profiles = Profiles::read()?;
    let environment = Environment::read()?;
    let used = environment.profile.as_deref().or(profiles.in_use());
    let used = used.unwrap_or(DEFAULT_PROFILE);
    let mut listed: Vec<(&str, Profile)> = Vec::new();
    for name in profiles.names() {
        listed.extend(profiles.get(name)?.map(|profile| (name, profile)));
    }
    let text = match args.format {
        Form::Text => {
            if listed.is_empty() {
                session.note("There is no profile yet; `tplkit login` makes one.");
            }
            let lines = listed.iter().map(|(name, profile)| {
                let star = if *name == used { "*" } else { " " };
                let workspace = profile.workspace.as_ref();
                let workspace = workspace.map(|kept| kept.name.as_ref().unwrap_or(&kept.id));
                let workspace = workspace.map(|name| format!("workspace {name}"));
                [
                    format!("{star} {}", printable::line(name)),
                    printable::line(profile.url.as_deref().unwrap_or("-")),
                    printable::line(&signed_in(profile)),
                    printable::line(&workspace.unwrap_or_default()),
                ]
            });
            let lines: Vec<[String; 4]> = lines.collect();
            columns(&lines)
        }
        Form::Json => {
            let items = listed.iter().map(|(name, profile)| {
                let workspace = profile.workspace.as_ref();
                json!({
                    "name": name,
                    "url": profile.url,
                    "email": profile.email,
                    "credential": credential(profile),
                    "workspace": workspace.map(|kept| json!({"id": kept.id, "name": kept.name})),
                    "in_use": *name == used,
                })
            });
            let items: Vec<Value> = items.collect();
            let path = profiles.path.to_string_lossy();
            document::write("clean", &json!({"items": items, "path": path}))
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// How a profile signs in.
fn credential(profile: &Profile) -> Option<&'static str> {
    match (&profile.api_key, &profile.tokens) {
        (Some(_), _) => Some("api_key"),
        (None, Some(_)) => Some("session"),
        (None, None) => None,
    }
}

/// The same in words.
fn signed_in(profile: &Profile) -> String {
    match (credential(profile), &profile.email) {
        (Some("api_key"), _) => "API key".to_owned(),
        (Some(_), Some(email)) => email.clone(),
        (Some(_), None) => "signed in".to_owned(),
        (None, _) => "signed out".to_owned(),
    }
}
