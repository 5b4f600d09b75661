//! `tplkit whoami`: shows the server and the signed-in user.

use std::fmt::Write as _;

use serde_json::json;
use tplkit::client::Me;
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::{self, Connection, Origin, ServerArgs};
use crate::cli::sections::repeated;
use crate::cli::session::Session;

/// Show which server is used, and who is signed in.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Show who is signed in", "tplkit whoami"),
    ("Show who a profile is signed in as", "tplkit whoami --profile ci"),
]))]
pub(crate) struct Args {
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let me = remote::identify(&connection.client)?;
    if me.is_none() {
        session.note(
            "note: this server has no GET /v1/me: the sign-in is valid, but its user is unknown",
        );
    }
    let url = connection.client.base();
    let by_profile = connection.origin == Origin::Profile;
    let profile = by_profile.then_some(&connection.profile);
    let text = match args.format {
        Form::Text => {
            let by = profile.map_or_else(
                || "TPLKIT_TOKEN".to_owned(),
                |profile| format!("profile `{profile}`"),
            );
            let name = remote::name_of(me.as_ref());
            let head = format!("{name}, on {url}, by {by}\n");
            let more = me.as_ref().map(|me| about(me, session));
            head + &more.unwrap_or_default()
        }
        Form::Json => document::write(
            "clean",
            &json!({
                "url": url.to_string(),
                "credential": connection.origin.as_str(),
                "profile": profile,
                "me": me,
            }),
        ),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// Scopes and organizations; the ids of these for whoever wants to know more, and where labels are alike.
fn about(me: &Me, session: &Session) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail, here and below.
    if let Some(scopes) = &me.scopes {
        let _ = writeln!(out, "  scopes: {}", printable::line(&scopes.join(", ")));
    }
    let labels: Vec<&String> = me.organizations.iter().map(|one| &one.label).collect();
    let alike = repeated(&labels);
    for (organization, alike) in me.organizations.iter().zip(alike) {
        let (role, label) = (&organization.role, &organization.label);
        let id = if alike || session.is_verbose() {
            format!(" ({})", organization.id)
        } else {
            String::new()
        };
        let line = format!("{role} in {label:?}{id}");
        let _ = writeln!(out, "  {}", printable::line(&line));
    }
    out
}
