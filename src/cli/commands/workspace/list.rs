//! `tplkit workspace list`: lists the visible workspaces.

use serde_json::json;
use serde_json::value::RawValue;
use tplkit::client::{Request, WithDocument, Workspace};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::candidates::{of_workspaces, organization_word};
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::workspace::{default_word, organizations};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::sections::columns;
use crate::cli::session::Session;
use crate::cli::word_match::Choices;

/// List the workspaces that you may see: name, label, organization.
///
/// A star stands before the default one. `-v` shows ids.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List all workspaces", "tplkit workspace list"),
    ("List them as JSON, for a program", "tplkit workspace list --format json"),
]))]
pub(super) struct Args {
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let default = default_word(&args.target)?;
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let mut found: Vec<WithDocument<Workspace>> = Vec::new();
    for page in client.pages(Request::get("/v1/workspaces"), None) {
        found.extend(page?.items);
    }
    let records: Vec<Workspace> = found.iter().map(|one| one.record.clone()).collect();
    let known = organizations(client);
    let candidates = of_workspaces(&records, &known);
    let choices = Choices {
        noun: "workspace",
        none: None,
        all: &candidates,
        help: "",
    };
    let default = default.and_then(|word| choices.find(&word).ok());
    let default = default.map(|one| one.id.clone());
    let text = match args.format {
        Form::Text => {
            if found.is_empty() {
                session.note("There is no workspace that you may see.");
            }
            let lines = records.iter().map(|one| {
                let or = |text: Option<&str>| printable::line(text.unwrap_or("-"));
                let star = if default.as_ref() == Some(&one.id) {
                    "*"
                } else {
                    " "
                };
                let organization = one.organization_id.as_deref();
                let organization = organization.map(|id| organization_word(&known, id));
                [
                    format!("{star} {}", or(one.name.as_deref())),
                    or(one.label.as_deref()),
                    or(organization.as_deref()),
                    if session.is_verbose() {
                        printable::line(&one.id)
                    } else {
                        String::new()
                    },
                ]
            });
            let lines: Vec<[String; 4]> = lines.collect();
            columns(&lines)
        }
        Form::Json => {
            let items: Vec<Box<RawValue>> = found.into_iter().map(|one| one.document).collect();
            let data = document::page(&items, None);
            let default = document::raw(&json!(default));
            document::write_raw("clean", &[("data", &*data), ("default", &*default)])
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}
