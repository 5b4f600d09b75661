//! `tplkit files rm`: deletes a file.

use serde_json::json;
use tplkit::problem::Code;

use super::find::{find, titled};
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::{self, Connection, ServerArgs};
use crate::cli::session::Session;

/// Delete a file.
///
/// On a terminal the command prompts; elsewhere it needs `--yes`. A file that something uses stays, unless `--force` is
/// given; cells that named it keep its id as a text.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Delete a file", "tplkit files rm $FILE --yes"),
    ("Delete a file by its name, whatever uses it", "tplkit files rm today.txt --yes --force"),
]))]
pub(super) struct Args {
    /// The file: its id, or its name where only one has it.
    #[arg(value_name = "ID|NAME")]
    file: String,
    /// Do not prompt.
    #[arg(short, long)]
    yes: bool,
    /// Delete it although something uses it.
    #[arg(long)]
    force: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let file = find(client, &args.file)?.record;
    let title = titled(&file);
    if !args.yes {
        let losses = json!({"file_id": file.id, "name": file.name, "size": file.size});
        let shown = format!("File {title} goes");
        remote::agree(args.format, &shown, losses, "Delete it?")?;
    }
    client.delete_file(&file.id, args.force).map_err(|error| {
        let used = matches!(&error, tplkit::client::Error::Refused(problem) if problem.is(Code::NotEmpty));
        if used {
            CliError::Explained {
                source: Box::new(error),
                help: "something uses it: with `--force` it goes all the same, and cells keep its id as a text"
                    .to_owned(),
            }
        } else {
            error.into()
        }
    })?;
    let text = match args.format {
        Form::Text => format!("File {title} is deleted.\n"),
        Form::Json => document::write("clean", &json!({"file_id": file.id})),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}
