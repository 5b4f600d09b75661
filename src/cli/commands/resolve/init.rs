//! `tplkit resolve init`: writes a resolutions file.

use indexmap::IndexMap;
use serde_json::json;
use tplkit::apply;
use tplkit::check::CheckOptions;
use tplkit::printable;

use super::destination::DestinationReader;
use super::init_args::{Args, can_prompt};
use super::prompts;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{write_data, write_result};
use crate::cli::overwrite::refuse_input;
use crate::cli::package_file;
use crate::cli::session::Session;
use crate::cli::shell_word::shell_path;
use crate::cli::source::is_stdin;

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let output = args.output.as_deref().filter(|path| !is_stdin(path));
    if let Some(path) = output
        && path.exists()
        && !args.force
    {
        return Err(CliError::Usage {
            message: format!("`{}` is there already", printable::path(path)),
            help: "decisions in it would be lost: name another file, or give `--force`".to_owned(),
        });
    }
    let inputs = [
        // A template of that name is no file.
        Some(args.package.as_path()).filter(|path| path.exists()),
        args.place.into.as_deref(),
        args.upgrade.args.base.as_deref(),
    ];
    refuse_input(output, inputs)?;
    if !args.upgrade.is_none() {
        return super::upgrade::run(args, session);
    }
    let place = DestinationReader::new(&args.place, &args.target, session);
    let source = place.package(&args.package)?;
    let options = CheckOptions::default();
    let (_, package) = match package_file::checked(&source, &options) {
        Ok(checked) => checked,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let destination = place.structure()?;
    let decided = if can_prompt(args) {
        prompts::ask_all(&package, destination.as_ref())?
    } else {
        IndexMap::new()
    };
    let text = apply::init(&package, destination.as_ref(), &decided);
    if args.format == Form::Text || output.is_some() {
        write_data(&text, output)?;
    }
    if args.format == Form::Json {
        let mut body = json!({"path": args.package.to_string_lossy()});
        match output {
            Some(path) => body["output"] = json!(path.to_string_lossy()),
            None => body["text"] = json!(text),
        }
        write_result(&document::write("clean", &body), None)?;
    }
    if let Some(path) = output {
        session.note(format!(
            "`{}` is written; `tplkit resolve check {} {}` says whether it decides everything",
            printable::path(path),
            shell_path(&args.package),
            shell_path(path)
        ));
    }
    Ok(Exit::Done)
}
