//! `tplkit automation list`: the automations of a workspace.

use serde_json::value::RawValue;
use tplkit::printable;

use super::find::{SearchArgs, Versions, all, state};
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::sections::columns;
use crate::cli::session::Session;

/// List the automations of a workspace, each with the version that is in force.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List the automations of a workspace", "tplkit automation list --workspace $WORKSPACE"),
    ("List them as JSON, for a program", "tplkit automation list --workspace $WORKSPACE --format json"),
]))]
pub(super) struct Args {
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    search: SearchArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let opened = args.search.open(session)?;
    let found = all(opened.client(), opened.workspace(session)?)?;
    let text = match args.format {
        Form::Text => {
            if found.is_empty() {
                session.note("There is no automation in this workspace.");
            }
            let lines = found.iter().filter_map(|one| line(one, session));
            columns(&lines.collect::<Vec<[String; 4]>>())
        }
        Form::Json => {
            let items = found.iter().filter_map(Versions::in_force);
            let items: Vec<Box<RawValue>> = items.map(|one| one.document.clone()).collect();
            let data = document::page(&items, None);
            document::write_raw("clean", &[("data", &*data)])
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

fn line(one: &Versions, session: &Session) -> Option<[String; 4]> {
    let version = &one.in_force()?.record;
    let draft = one.newer_draft();
    let draft = draft.map(|draft| format!("draft of version {}", draft.version));
    Some([
        printable::line(&version.name),
        format!("{} (version {})", state(version), version.version),
        draft.unwrap_or_default(),
        if session.is_verbose() {
            printable::line(&one.id)
        } else {
            String::new()
        },
    ])
}
