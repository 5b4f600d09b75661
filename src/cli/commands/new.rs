//! `tplkit new`: writes a new package.

use std::path::PathBuf;

use serde_json::json;
use tplkit::package::canonical;
use tplkit::printable;
use tplkit::starter;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{write_data, write_result};
use crate::cli::session::{RandomIds, Session, SystemClock};

/// Write a small package that checks clean and can be promoted.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Start a package", "tplkit new \"Tool shed\" -o tool-shed.json"),
    ("Start a package and unpack it into a folder for version control", "tplkit new \"Tool shed\" | tplkit unpack - tool-shed"),
]))]
pub(crate) struct Args {
    /// Display name of the package; the technical name is derived from it.
    name: String,
    /// Write to this file instead of standard output; an existing file is not overwritten.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of messages; `json` wraps the package in a document.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let package = starter::package(&args.name, &SystemClock, &mut RandomIds).map_err(|error| {
        CliError::Usage {
            message: error.to_string(),
            help: "use a name with letters, for example `tplkit new workshop`".to_owned(),
        }
    })?;
    let text = canonical::write(&package.to_string())
        .expect("what `starter` makes is a package without repeated keys");
    if let Some(path) = &args.output {
        if path.exists() {
            return Err(CliError::Usage {
                message: format!("`{}` exists already", printable::path(path)),
                help: "choose another name, or remove the file first".to_owned(),
            });
        }
        write_data(&text, Some(path))?;
        session.note(format!(
            "`{0}` written; `tplkit check {0}` checks it",
            printable::path(path)
        ));
    }
    match (args.format, &args.output) {
        (Form::Text, None) => write_data(&text, None)?,
        (Form::Text, Some(_)) => {}
        (Form::Json, output) => {
            let path = output.as_ref().map(|path| path.to_string_lossy());
            write_result(
                &document::write("clean", &json!({"path": path, "package": package})),
                None,
            )?;
        }
    }
    Ok(Exit::Done)
}
