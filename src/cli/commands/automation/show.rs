//! `tplkit automation show`: one automation of a server, and how it is activated.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tplkit::client::AutomationVersion;
use tplkit::printable;

use super::find::{SearchArgs, state};
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::session::Session;

/// Show an automation of a server: its version in force, what starts it, its steps.
///
/// No route of the API activates an automation. An operator of the server does, with the line that this command
/// prints, and so does the end of a template job.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Show an automation by its name", "tplkit automation show \"Thank the customer\" --workspace $WORKSPACE"),
    ("Show it as JSON, for a program", "tplkit automation show \"Thank the customer\" --workspace $WORKSPACE --format json"),
]))]
pub(super) struct Args {
    /// The automation: its id, or its name in the workspace.
    #[arg(value_name = "NAME|ID")]
    automation: String,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    search: SearchArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let opened = args.search.open(session)?;
    let id = opened.automation(&args.automation, session)?;
    let found = opened.client().automation(&id)?;
    let version = &found.record;
    let text = match args.format {
        Form::Text => screen(version, session),
        Form::Json => {
            let line = document::raw(&json!(operator_line(version)));
            let members = [("automation", &*found.document), ("operator", &*line)];
            document::write_raw("clean", &members)
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// What an operator of the server types to let it fire, or to stop it.
pub(super) fn operator_line(version: &AutomationVersion) -> String {
    let what = if version.is_active {
        "pause"
    } else {
        "activate"
    };
    let id = printable::line(&version.workflow_id);
    format!("tplkit-server admin automation {what} {id}")
}

fn screen(version: &AutomationVersion, session: &Session) -> String {
    let name = printable::line(&version.name);
    let mut out = format!("{name}: {}, version {}\n", state(version), version.version);
    // Writing to a String cannot fail, here and below.
    if session.is_verbose() {
        let _ = writeln!(out, "  id {}", printable::line(&version.workflow_id));
    }
    let trigger = version.trigger_config["type"].as_str().unwrap_or("none");
    let _ = writeln!(out, "\nStarts by: {}", printable::line(trigger));
    let steps = version.graph_config["steps"].as_array();
    if let Some(steps) = steps.filter(|steps| !steps.is_empty()) {
        out.push_str("Steps:\n");
        list(&mut out, steps, 1);
    }
    if version.is_draft {
        let id = printable::line(&version.workflow_id);
        let _ = writeln!(
            out,
            "\nIt was never published: `tplkit api POST /v1/workflows-v2/{id}/apply` publishes the draft."
        );
    }
    let what = if version.is_active {
        "An operator of the server stops it"
    } else {
        "It does not fire. An operator of the server activates it"
    };
    let _ = writeln!(out, "\n{what}:\n  {}", operator_line(version));
    out
}

/// Steps by their keys; what stands inside of a step is indented.
fn list(out: &mut String, steps: &[Value], depth: usize) {
    for step in steps {
        let key = step["key"].as_str().unwrap_or("?");
        let label = step["label"].as_str().or(step["name"].as_str());
        let label = label
            .map(|label| format!("  {label:?}"))
            .unwrap_or_default();
        let line = printable::line(&format!("{key}{label}"));
        let _ = writeln!(out, "{:indent$}{line}", "", indent = depth * 2);
        inside(out, &step["config"], depth + 1);
    }
}

/// Steps anywhere in the config of a step. No step is known by its name.
fn inside(out: &mut String, config: &Value, depth: usize) {
    match config {
        Value::Array(items) if items.iter().any(|item| item["key"].is_string()) => {
            list(out, items, depth);
        }
        Value::Array(items) => items.iter().for_each(|item| inside(out, item, depth)),
        Value::Object(members) => members
            .values()
            .for_each(|member| inside(out, member, depth)),
        _ => {}
    }
}
