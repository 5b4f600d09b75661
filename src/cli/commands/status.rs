//! `tplkit status`: the templates of a workspace, and what is newer than what was applied.

use std::path::Path;

use serde_json::json;
use serde_json::value::RawValue;
use tplkit::client::WithDocument;
use tplkit::printable;
use tplkit::upgrade::AppliedTemplate;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::sections::{columns, repeated};
use crate::cli::session::Session;

/// List the templates that were applied to a workspace: versions, drift, secrets that are missing.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List what was applied to a workspace", "tplkit status --workspace $WORKSPACE"),
    ("List it as JSON, for a program", "tplkit status --workspace $WORKSPACE --format json"),
]))]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let mut server = args.target.clone();
    let target = server.take_target(Path::new("."))?;
    let word = args.workspace.required(&target, &server, session)?;
    let connection = Connection::open(&server, session)?;
    let workspace = NamedWorkspace::find(&connection.client, &word)?.id;
    let mut applied: Vec<WithDocument<AppliedTemplate>> = Vec::new();
    for page in connection.client.applied(&workspace.to_string()) {
        applied.extend(page?.items);
    }
    let text = match args.format {
        Form::Text => {
            if applied.is_empty() {
                session.note("No template was applied to this workspace.");
            }
            let records: Vec<&AppliedTemplate> = applied.iter().map(|one| &one.record).collect();
            table(&records, session)
        }
        Form::Json => {
            let items: Vec<&str> = applied.iter().map(|one| one.document.get()).collect();
            let items = RawValue::from_string(format!("[{}]", items.join(",")));
            let items = items.unwrap_or_else(|_| document::raw(&json!([])));
            let cursor = document::raw(&json!(null));
            document::write_raw("clean", &[("items", &*items), ("next_cursor", &*cursor)])
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// A line per line of jobs, under a heading; ids for whoever wants to know more, and where labels are alike.
fn table(applied: &[&AppliedTemplate], session: &Session) -> String {
    if applied.is_empty() {
        return String::new();
    }
    let titles: Vec<_> = applied.iter().map(|one| (&one.label, &one.name)).collect();
    let alike = repeated(&titles);
    let lines = applied.iter().zip(alike).map(|(one, alike)| {
        let with_id = alike || session.is_verbose();
        let or = |text: &Option<String>| printable::line(text.as_deref().unwrap_or("-"));
        // A package without a version is known by the day of its apply.
        let day = one.applied_at.split('T').next().unwrap_or_default();
        [
            or(&one.label),
            or(&one.name),
            printable::line(one.semver.as_deref().unwrap_or(day)),
            or(&one.newer),
            if one.drift { "yes" } else { "no" }.to_owned(),
            one.secrets_missing.to_string(),
            if with_id {
                format!("template {}, job {}", one.template_id, one.job_id)
            } else {
                String::new()
            },
        ]
    });
    let heading = [
        "TEMPLATE", "NAME", "APPLIED", "NEWER", "DRIFT", "SECRETS", "",
    ];
    let heading = heading.map(str::to_owned);
    let lines: Vec<[String; 7]> = std::iter::once(heading).chain(lines).collect();
    columns(&lines)
}
