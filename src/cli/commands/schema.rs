//! `tplkit schema`: the published JSON Schemas.

use std::path::PathBuf;

use serde_json::json;
use tplkit::package::schema::{NAMES, schema_with};

use crate::cli::args::Form;
use crate::cli::candidates::of_words;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::settings::definitions;
use crate::cli::word_match::unknown_word;

/// Write a published JSON Schema, or list their names.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List the schemas", "tplkit schema"),
    ("Write the schema of packages, for an editor", "tplkit schema package -o package.schema.json"),
]))]
pub(crate) struct Args {
    /// Name of the schema; without it, all names are listed.
    name: Option<String>,
    /// Use the registry in this file, from another server, instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    definitions: Option<PathBuf>,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format; `json` wraps it in a document.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let text = match (&args.name, args.format) {
        (None, Form::Text) => NAMES.join("\n") + "\n",
        (None, Form::Json) => document::write("clean", &json!({"names": NAMES})),
        (Some(name), form) => {
            let definitions = definitions(args.definitions.as_deref())?;
            let Some(schema) = schema_with(name, &definitions) else {
                let message = format!("there is no schema `{}`", name.escape_debug());
                let help = format!("there are {}", NAMES.join(", "));
                return Err(unknown_word(
                    message,
                    name,
                    &of_words(NAMES.iter().copied()),
                    &help,
                ));
            };
            match form {
                // A value always serializes.
                Form::Text => serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n",
                Form::Json => document::write("clean", &json!({"name": name, "schema": schema})),
            }
        }
    };
    write_result(&text, args.output.as_deref())?;
    Ok(Exit::Done)
}
