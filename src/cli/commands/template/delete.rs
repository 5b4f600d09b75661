//! `tplkit template delete`: takes a template out of the catalog.

use serde_json::json;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::{self, Connection, Target, subject};
use crate::cli::session::Session;

/// Take a template out of the catalog. What was built from it stays.
///
/// On a terminal it is asked for once more.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The template: its id, or its name.
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Form of the output.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: Target,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let id = subject::template(client, &args.template)?;
    if !args.yes && args.format == Form::Text && remote::terminal() {
        remote::confirm(&format!("Take template {id} out of the catalog?"))?;
    }
    let deleted = client.delete_template(&id);
    deleted.map_err(|error| {
        let what = format!("template `{id}` cannot be deleted");
        subject::degraded(client, &id, error, &what)
    })?;
    let text = match args.format {
        Form::Text => format!("Template {id} is deleted.\n"),
        Form::Json => document::write("clean", &json!({"template_id": id})),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}
