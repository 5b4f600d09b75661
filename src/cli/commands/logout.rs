//! `tplkit logout`: forgets a sign-in.

use serde_json::json;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::Choice;
use crate::cli::remote::profiles::{self, Profile};
use crate::cli::session::Session;

/// Forget the sign-in of a profile; its address stays.
///
/// The API has no route to end a session: on the server it lasts until it expires, and an API key
/// until it is deleted.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Profile to use; otherwise `TPLKIT_PROFILE`, or `default`.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Form of the output.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let choice = Choice::of_profile(args.profile.as_deref())?;
    let entry = choice.entry.clone().unwrap_or_default();
    let forgotten = entry.is_signed_in();
    if forgotten {
        let rest = Profile {
            url: entry.url.clone(),
            email: entry.email.clone(),
            ..Profile::default()
        };
        profiles::save(&choice.profile, &rest)?;
    }
    if choice.has_token() {
        session.note("note: TPLKIT_TOKEN is set and still signs in; unset it");
    }
    let name = &choice.profile;
    let url = entry.url.as_deref().unwrap_or("its server");
    let text = match (args.format, forgotten) {
        (Form::Json, _) => document::write(
            "clean",
            &json!({"profile": name, "url": entry.url, "forgotten": forgotten}),
        ),
        (Form::Text, false) => format!("Profile `{name}` was not signed in.\n"),
        (Form::Text, true) if entry.api_key.is_some() => {
            format!(
                "Forgot the API key of profile `{name}`; {url} accepts it until it is deleted there.\n"
            )
        }
        (Form::Text, true) => {
            format!("Forgot the session of profile `{name}`; {url} lets it end by itself.\n")
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}
