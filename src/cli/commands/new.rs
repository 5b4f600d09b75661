//! `tplkit new`: writes a new package.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tplkit::package::canonical;
use tplkit::printable;
use tplkit::starter;

use crate::cli::args::Form;
use crate::cli::config;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{write_data, write_result};
use crate::cli::package_output::folder_of;
use crate::cli::session::{RandomIds, Session, SystemClock};
use crate::cli::shell_word::shell_path;
use crate::cli::source::is_stdin;

/// What a new `tplkit.toml` says.
const CONFIG: &str = "\
# Settings of the packages in this folder; `tplkit schema config` shows all of them.

# ignore = [\"S003\"]                # rules that do not speak: `tplkit rules` lists them
# deny = [\"warnings\"]
# baseline = \"tplkit.baseline.json\" # accepted findings: `tplkit check . --write-baseline`

# [targets.staging]                # for `tplkit plan --target staging`
# url = \"https://tplkit.example.com\"
# workspace = \"00000000-0000-7000-8000-000000000000\"
# template = \"PACKAGE\"
# resolutions = \"staging.toml\"
";

/// Write a small package that checks clean and can be promoted.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Start a package", "tplkit new \"Tool shed\" -o tool-shed.json"),
    ("Start a package in a folder, with settings for its checks", "tplkit new \"Tool shed\" -o shed/"),
    ("Start a package and unpack it into a folder for version control", "tplkit new \"Tool shed\" | tplkit unpack - tool-shed"),
]))]
pub(crate) struct Args {
    /// Display name of the package; the technical name is derived from it.
    name: String,
    /// Write to this file instead of standard output; an existing file is not overwritten. In a folder
    /// that is there, or one whose name ends in `/`, the file is called after the package, and a `tplkit.toml`
    /// is written next to it unless there is one.
    #[arg(short, long, value_name = "FILE|FOLDER/")]
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
    let target = args.output.as_deref().filter(|path| !is_stdin(path));
    let folder = target.and_then(folder_of);
    let output = match &folder {
        Some(folder) => Some(folder.join(file_name(&package))),
        None => target.map(Path::to_owned),
    };
    if let Some(path) = &output {
        if path.exists() {
            return Err(CliError::Usage {
                message: format!("`{}` exists already", printable::path(path)),
                help: "choose another name, or remove the file first".to_owned(),
            });
        }
        if let Some(folder) = &folder {
            write_config(folder, &file_name(&package), session)?;
        }
        write_data(&text, Some(path))?;
        session.note(format!(
            "`{}` written; `tplkit check {}` checks it",
            printable::path(path),
            shell_path(path)
        ));
    }
    match (args.format, &output) {
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

/// What the package is called in a folder; editors know files of that ending.
fn file_name(package: &Value) -> String {
    let name = package["manifest"]["name"].as_str().unwrap_or("package");
    format!("{name}.tplkit.json")
}

/// Makes the folder, and writes a `tplkit.toml` for the package into it unless there is one.
fn write_config(folder: &Path, package: &str, session: &Session) -> Result<(), CliError> {
    let error = |source| CliError::Write {
        path: folder.to_owned(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(error)?;
    let path = folder.join(config::NAME);
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    write_data(&CONFIG.replace("PACKAGE", package), Some(&path))?;
    session.note(format!("`{}` written", printable::path(&path)));
    Ok(())
}
