//! `tplkit template pull`: the package of a template as a file.

use std::path::PathBuf;

use serde_json::json;
use tplkit::check::CheckOptions;
use tplkit::finding::Finding;
use tplkit::package::canonical;
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::package_file;
use crate::cli::package_output;
use crate::cli::remote::subject::{self, Subject};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::source::is_stdin;

/// Write the package of a template, in canonical form.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Write a template to a file", "tplkit template pull sales-crm -o crm-pulled.json"),
    ("Compare a template with a package file", "tplkit template pull sales-crm | tplkit diff - crm.json"),
]))]
pub(super) struct Args {
    /// The template: its id, or its name.
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// Write to this file instead of standard output; a folder that is there, or a name that ends in
    /// `/`, gets the package unpacked.
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
    /// Format of messages; `json` wraps the package in a document.
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
    let Ok(text) = source.text() else {
        let report = package_file::report(&source, &CheckOptions::default());
        return package_file::refuse(&report, args.format, session);
    };
    let text = match canonical::write(text) {
        Ok(text) => text,
        Err(error) => {
            let report = package_file::refusal(&source, Finding::without_form(&error));
            return package_file::refuse(&report, args.format, session);
        }
    };
    let output = args.output.as_deref().filter(|path| !is_stdin(path));
    if args.format == Form::Text || output.is_some() {
        package_output::write(&text, output)?;
    }
    if args.format == Form::Json {
        let mut body = json!({"template_id": id});
        match output {
            Some(path) => body["path"] = json!(path.to_string_lossy()),
            None => body["text"] = json!(text),
        }
        write_result(&document::write("clean", &body), None)?;
    }
    if let Some(path) = output {
        session.note(format!("`{}` is written", printable::path(path)));
    }
    Ok(Exit::Done)
}
