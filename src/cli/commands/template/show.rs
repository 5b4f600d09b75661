//! `tplkit template show`: a template on one screen, as `tplkit show` shows a file.

use serde_json::json;
use tplkit::contents::Contents;

use crate::cli::args::Form;
use crate::cli::commands::show::screen;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::package_file;
use crate::cli::remote::subject::{self, Subject};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;

/// Show a template on one screen: items, rows, dependencies, missing references, sizes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Show a template by name", "tplkit template show sales-crm"),
    ("Show it as JSON, for a program", "tplkit template show sales-crm --format json"),
]))]
pub(super) struct Args {
    /// The template: its id, or its name.
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let id = subject::template(client, &args.template)?;
    let source = Subject::Template(&id).package(|| Ok(client))?;
    let doc = match package_file::parse(&source) {
        Ok(doc) => doc,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let contents = Contents::read(doc.root());
    let text = match args.format {
        Form::Text if session.is_verbose() => format!("Template {id}\n{}", screen(&contents)),
        Form::Text => screen(&contents),
        Form::Json => document::write("clean", &json!({"template_id": id, "package": contents})),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}
