//! `tplkit rules`: lists all rules.

use std::fmt::Write as _;

use serde_json::json;
use tplkit::finding::catalog::RULES;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;

/// List every rule: code, severity, name, and when it is reported.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List all rules", "tplkit rules"),
    ("List all rules as JSON, for a program", "tplkit rules --format json"),
]))]
pub(crate) struct Args {
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let text = match args.format {
        Form::Text => table(),
        Form::Json => {
            let rules = RULES.iter().map(|rule| {
                json!({
                    "code": rule.code,
                    "name": rule.name,
                    "severity": rule.severity.as_str(),
                    "summary": rule.summary,
                    "help": rule.help,
                })
            });
            document::write("clean", &json!({"rules": rules.collect::<Vec<_>>()}))
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

fn table() -> String {
    let width = RULES.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for rule in RULES {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{}  {:7}  {:width$}  {}",
            rule.code,
            rule.severity.as_str(),
            rule.name,
            rule.summary
        );
    }
    out
}
