//! `tplkit doctor`: diagnoses the connection, part by part.

mod probes;

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{folded, write_styled};
use crate::cli::remote::ServerArgs;
use crate::cli::session::Session;

/// Diagnose the connection: profile, network, server, sign-in.
///
/// Changes nothing. The exit code is 0 when every check passes, otherwise that of the first check
/// that fails.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Diagnose the default profile", "tplkit doctor"),
    ("Diagnose another server", "tplkit doctor --url http://localhost:8080"),
]))]
pub(crate) struct Args {
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

/// One part of the set-up.
pub(crate) struct Check {
    name: &'static str,
    verdict: CheckOutcome,
    why: String,
    /// What else could have been named.
    candidates: Option<Value>,
}

/// What was found of a part.
enum CheckOutcome {
    Fine,
    /// With what to do, and how a command would end that met it.
    Wrong(Option<String>, Exit),
    /// It cannot be looked at while an earlier part is wrong.
    Skipped,
}

impl Check {
    fn word(&self) -> &'static str {
        match self.verdict {
            CheckOutcome::Fine => "ok",
            CheckOutcome::Wrong(..) => "wrong",
            CheckOutcome::Skipped => "skipped",
        }
    }

    fn help(&self) -> Option<&str> {
        match &self.verdict {
            CheckOutcome::Wrong(help, _) => help.as_deref(),
            _ => None,
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let parts = probes::checks(&args.target, session);
    let first = parts.iter().find_map(|part| match part.verdict {
        CheckOutcome::Wrong(_, exit) => Some(exit),
        _ => None,
    });
    let exit = first.unwrap_or(Exit::Done);
    let text = match args.format {
        Form::Text => folded(&screen(&parts, session)),
        Form::Json => {
            let outcome = match exit {
                Exit::Done => "clean",
                Exit::Findings => "findings",
                _ => "failed",
            };
            let documents: Vec<Value> = parts.iter().map(document_of).collect();
            let mut body = json!({"checks": documents});
            let errors: Vec<Value> = parts.iter().filter_map(error_of).collect();
            if !errors.is_empty() {
                body["errors"] = json!(errors);
            }
            document::write(outcome, &body)
        }
    };
    if !session.silent() || args.format == Form::Json {
        write_styled(&text, None)?;
    }
    Ok(exit)
}

fn document_of(part: &Check) -> Value {
    json!({
        "name": part.name,
        "verdict": part.word(),
        "why": part.why,
        "help": part.help(),
    })
}

/// What is wrong, where something else could have been named.
fn error_of(part: &Check) -> Option<Value> {
    let candidates = part.candidates.as_ref()?;
    let (message, help) = (&part.why, part.help());
    Some(json!({"path": null, "message": message, "help": help, "candidates": candidates}))
}

fn screen(parts: &[Check], session: &Session) -> String {
    use anstyle::{AnsiColor, Style};
    let colour = session.style(None).colour;
    let width = parts.iter().map(|part| part.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for part in parts {
        let style = match part.verdict {
            _ if !colour => Style::new(),
            CheckOutcome::Fine => AnsiColor::Green.on_default(),
            CheckOutcome::Wrong(..) => AnsiColor::Red.on_default().bold(),
            CheckOutcome::Skipped => Style::new().dimmed(),
        };
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            out,
            "{style}{:7}{style:#}  {:width$}  {}",
            part.word(),
            part.name,
            part.why
        );
        if let Some(help) = part.help() {
            let _ = writeln!(out, "{:7}  {:width$}  help: {help}", "", "");
        }
    }
    out
}
