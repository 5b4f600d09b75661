//! `tplkit resolve suggest`: what the destination has that fits.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;
use tplkit::apply::{self, Suggestion};
use tplkit::check::CheckOptions;

use super::destination::{DestinationArgs, DestinationReader};
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::package_file;
use crate::cli::remote::workspace::choose;
use crate::cli::session::Session;

/// Rank what the destination has that could take the place of each dependency.
///
/// Tables are compared by name, by label, and by the names, labels and types of their columns;
/// everything else by name and label.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Search a workspace on the server", "tplkit resolve suggest event-planning.json --workspace $WORKSPACE"),
    ("Search what another package builds", "tplkit resolve suggest event-planning.json --into inventory.json"),
]))]
pub(crate) struct Args {
    /// The package (a file, an unpacked folder, `-` for standard input), or a template by id or name.
    #[arg(value_name = "PKG|TEMPLATE")]
    package: PathBuf,
    #[command(flatten)]
    place: DestinationArgs,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: crate::cli::remote::ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let place = DestinationReader::new(&args.place, &args.target, session);
    let source = place.package(&args.package)?;
    let options = CheckOptions::default();
    let (_, package) = match package_file::checked(&source, &options) {
        Ok(checked) => checked,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let Some(destination) = place.structure()? else {
        return Err(choose(
            "no destination is named".to_owned(),
            "give a workspace with `--workspace`, or a file with `--into`",
            &args.target,
            session,
        ));
    };
    let suggestions = apply::suggest(&package, &destination);
    let text = match args.format {
        Form::Text => text(&suggestions),
        Form::Json => {
            let path = args.package.to_string_lossy();
            document::write("clean", &json!({"path": path, "suggestions": suggestions}))
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

fn text(suggestions: &[Suggestion]) -> String {
    if suggestions.is_empty() {
        return "The package depends on nothing.\n".to_owned();
    }
    let mut out = String::new();
    // Writing to a String cannot fail.
    for suggestion in suggestions {
        let _ = writeln!(out, "{}", suggestion.reference);
        if suggestion.candidates.is_empty() {
            let _ = writeln!(out, "  the destination has nothing like it");
        }
        for candidate in &suggestion.candidates {
            let label = candidate.label.as_deref().unwrap_or(&candidate.name);
            let _ = writeln!(
                out,
                "  {:>3}  {label:?} ({}), {}\n       id {}",
                candidate.score, candidate.name, candidate.reason, candidate.id
            );
            for (reference, id) in &candidate.columns {
                let _ = writeln!(out, "       {reference} = {id}");
            }
        }
    }
    out
}
