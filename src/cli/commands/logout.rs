//! `tplkit logout`: ends a session and forgets the sign-in.

use std::time::Duration;

use serde_json::json;
use tplkit::client::{Credential, Options, Secret};

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::profiles::{self, Profile};
use crate::cli::remote::{self, Choice};
use crate::cli::session::Session;

/// End the session of a profile and delete its sign-in; the address of the server stays.
///
/// The sign-in is deleted even when the server cannot be reached or cannot end sessions; the
/// session then lasts until it expires. An API key stays valid until it is deleted on the server.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Sign out", "tplkit logout"),
    ("Delete the API key of a profile", "tplkit logout --profile ci"),
]))]
pub(crate) struct Args {
    /// Profile to use [default: `TPLKIT_PROFILE`, or `default`].
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let choice = Choice::of_profile(args.profile.as_deref())?;
    let entry = choice.entry.clone().unwrap_or_default();
    let forgotten = entry.is_signed_in();
    // Forgotten first: whatever the server does, this machine signs in no more.
    if forgotten {
        let rest = Profile {
            url: entry.url.clone(),
            email: entry.email.clone(),
            workspace: entry.workspace.clone(),
            ..Profile::default()
        };
        profiles::save(&choice.profile, &rest)?;
    }
    let refresh = entry
        .tokens
        .as_ref()
        .and_then(|tokens| tokens.refresh.as_ref());
    let ended = match refresh {
        Some(refresh) => end(&choice, refresh, session)?,
        None => false,
    };
    if choice.has_token() {
        session.note("note: TPLKIT_TOKEN is set and still signs in; unset it");
    }
    let name = &choice.profile;
    let url = entry.url.as_deref().unwrap_or("its server");
    let text = match (args.format, forgotten) {
        (Form::Json, _) => document::write(
            "clean",
            &json!({"profile": name, "url": entry.url, "forgotten": forgotten, "ended": ended}),
        ),
        (Form::Text, false) => format!("Profile `{name}` was not signed in.\n"),
        (Form::Text, true) if entry.api_key.is_some() => {
            format!(
                "Forgot the API key of profile `{name}`; {url} accepts it until it is deleted there.\n"
            )
        }
        (Form::Text, true) if ended => {
            format!("Signed out of {url}; forgot the session of profile `{name}`.\n")
        }
        (Form::Text, true) => {
            format!("Forgot the session of profile `{name}`; on {url} it lasts until it expires.\n")
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// Ends the session on the server, if that can be done now. Says whether it was.
fn end(choice: &Choice, refresh: &Secret, session: &Session) -> Result<bool, CliError> {
    let Some(base) = choice.base()? else {
        return Ok(false);
    };
    // Nobody waits long for something that ends by itself.
    let options = Options {
        connect: Duration::from_secs(5),
        whole: Duration::from_secs(15),
        retries: 0,
        ..remote::options()
    };
    let client = remote::client(base, Credential::None, session, options)?;
    let Err(error) = client.logout(refresh) else {
        return Ok(true);
    };
    session.note(format!(
        "note: the session was not ended on the server: {error}"
    ));
    Ok(false)
}
