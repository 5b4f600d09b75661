//! `tplkit template delete`: deletes a template from the catalog.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tplkit::client::{Template, WithDocument};
use tplkit::finding::render::counted;
use tplkit::json::Doc;
use tplkit::package::model::{ItemKind, Manifest};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_titles::template_title;
use crate::cli::output::write_result;
use crate::cli::remote::{self, Connection, ServerArgs, subject};
use crate::cli::session::Session;

/// Delete a template from the catalog. What it built stays.
///
/// The command shows the template first. On a terminal it prompts; elsewhere it needs `--yes`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Delete a template by name", "tplkit template delete reading-list --yes"),
    ("Delete a template by id", "tplkit template delete $TEMPLATE --yes"),
]))]
pub(super) struct Args {
    /// The template: its id, or its name.
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// Do not prompt.
    #[arg(short, long)]
    yes: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let id = subject::template(client, &args.template)?;
    let mut title = format!("`{}`", printable::line(&args.template));
    if !args.yes {
        let template = client.template(&id).map_err(|error| {
            let what = format!("template `{id}` cannot be shown");
            subject::degraded(client, &id, error, &what)
        })?;
        title = template_title(&template.record, session);
        let (shown, document) = contents(&id, &title, &template);
        remote::agree(args.format, &shown, document, "Delete it from the catalog?")?;
    }
    let deleted = client.delete_template(&id);
    deleted.map_err(|error| {
        let what = format!("template `{id}` cannot be deleted");
        subject::degraded(client, &id, error, &what)
    })?;
    let text = match args.format {
        Form::Text => format!("Template {title} is deleted.\n"),
        Form::Json => document::write("clean", &json!({"template_id": id})),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// What the catalog loses, in words and as a document.
fn contents(id: &str, title: &str, template: &WithDocument<Template>) -> (String, Value) {
    let semver = template.record.semver.as_deref().map(printable::line);
    let semver = semver
        .map(|semver| format!(" {semver}"))
        .unwrap_or_default();
    let mut out = format!("Template {title}{semver} goes out of the catalog");
    let doc = Doc::parse_package(template.document.get()).ok();
    let manifest = doc.as_ref().and_then(|doc| doc.root().get("manifest"));
    let manifest = manifest.and_then(|node| Manifest::read(node).ok());
    let items = manifest.as_ref().map_or(&[][..], Manifest::items);
    let mut tables = Vec::new();
    for table in items.iter().filter(|item| item.kind == ItemKind::Feature) {
        let inside = items
            .iter()
            .filter(|item| item.parent.as_deref() == Some(&table.uid));
        let rows: u64 = inside.filter_map(|item| item.count).sum();
        let count = counted(usize::try_from(rows).unwrap_or(usize::MAX), "row");
        // Writing to a String cannot fail.
        let _ = write!(out, "\n  table {:?} with {count}", table.label);
        tables.push(json!({"label": table.label, "rows": rows}));
    }
    out.push_str("\nWhat was built from it in workspaces stays.");
    (out, json!({"template_id": id, "tables": tables}))
}
