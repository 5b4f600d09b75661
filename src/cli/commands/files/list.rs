//! `tplkit files list`: lists the visible files.

use std::collections::HashMap;
use std::path::Path;

use indicatif::HumanBytes;
use serde_json::value::RawValue;
use tplkit::client::{Client, FileRecord, WithDocument};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::relative_time::moment;
use crate::cli::remote::workspace::{self, NamedWorkspace};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::sections::columns;
use crate::cli::session::Session;

/// List the files that you may see: name, size, type, when it was uploaded, workspace and id.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List the files of a workspace", "tplkit files list --workspace $WORKSPACE"),
    ("List the files that no row uses, as JSON, for a program", "tplkit files list --unattached --format json"),
]))]
pub(super) struct Args {
    /// Only files of this workspace: its id, name or label, or `ORG/NAME` [default: that of the target, else all that
    /// you may see].
    #[arg(long, value_name = "ID|NAME")]
    workspace: Option<String>,
    /// Only files that something uses.
    #[arg(long, conflicts_with = "unattached")]
    attached: bool,
    /// Only files that nothing uses; the server deletes them after a while.
    #[arg(long)]
    unattached: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let mut server = args.target.clone();
    let target = server.take_target(Path::new("."))?;
    let connection = Connection::open(&server, session)?;
    let client = &connection.client;
    let word = args.workspace.as_ref().or(target.workspace.as_ref());
    let workspace = word.map(|word| NamedWorkspace::find(client, word));
    let workspace = workspace.transpose()?.map(|found| found.id.to_string());
    let attached = match (args.attached, args.unattached) {
        (false, false) => None,
        (attached, _) => Some(attached),
    };
    let mut found: Vec<WithDocument<FileRecord>> = Vec::new();
    for page in client.files(workspace.as_deref(), attached) {
        found.extend(page?.items);
    }
    let text = match args.format {
        Form::Text => {
            if found.is_empty() {
                session.note("There is no such file that you may see.");
                String::new()
            } else {
                let titles = match workspace {
                    Some(_) => HashMap::new(),
                    None => titles(client, session)?,
                };
                table(&found, &titles)
            }
        }
        Form::Json => {
            let items: Vec<Box<RawValue>> = found.into_iter().map(|one| one.document).collect();
            let data = document::page(&items, None);
            document::write_raw("clean", &[("data", &*data)])
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// What people call each workspace, by id.
fn titles(client: &Client, session: &Session) -> Result<HashMap<String, String>, CliError> {
    let all = workspace::all(client)?.into_iter();
    Ok(all
        .map(|one| (one.id.clone(), workspace::titled(&one, session)))
        .collect())
}

/// A line per file, under a heading; ids are what the other commands take.
fn table(found: &[WithDocument<FileRecord>], titles: &HashMap<String, String>) -> String {
    let or = |text: Option<&String>| printable::line(text.map_or("-", String::as_str));
    let lines = found.iter().map(|one| {
        let file = &one.record;
        let workspace = file.workspace_id.as_ref();
        [
            printable::line(&file.name),
            HumanBytes(file.size).to_string(),
            or(file.content_type.as_ref()),
            moment(file.created_at.as_deref()),
            if titles.is_empty() {
                String::new()
            } else {
                or(workspace.map(|id| titles.get(id).unwrap_or(id)))
            },
            printable::line(&file.id),
        ]
    });
    let workspace = if titles.is_empty() { "" } else { "WORKSPACE" };
    let heading = ["FILE", "SIZE", "TYPE", "UPLOADED", workspace, "ID"];
    let heading = heading.map(str::to_owned);
    let lines: Vec<[String; 6]> = std::iter::once(heading).chain(lines).collect();
    columns(&lines)
}
