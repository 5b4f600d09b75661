//! `tplkit profile use`: the profile that commands use when none is named.

use serde_json::json;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::Environment;
use crate::cli::remote::profiles;
use crate::cli::session::Session;

/// Choose the profile that commands use when no `--profile` is given.
///
/// `--profile` and `TPLKIT_PROFILE` go before it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Use another profile from now on", "tplkit profile use ci"),
    ("Go back to the default profile", "tplkit profile use default"),
]))]
pub(super) struct Args {
    /// The profile.
    #[arg(value_name = "NAME")]
    profile: String,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let name = &args.profile;
    let profile = profiles::choose(name)?;
    if Environment::read()?.profile.is_some() {
        session.note("note: TPLKIT_PROFILE is set and goes before it until it is unset");
    }
    let text = match args.format {
        Form::Text => {
            let url = profile.url.as_deref().unwrap_or("no server");
            format!("Commands use profile `{name}` ({url}).\n")
        }
        Form::Json => document::write("clean", &json!({"profile": name, "url": profile.url})),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}
