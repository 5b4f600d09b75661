//! `tplkit rules`: lists all rules.

use serde_json::json;
use tplkit::finding::catalog::RULES;
use tplkit::finding::render::fit_hanging;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::session::Session;

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

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let text = match args.format {
        Form::Text => table(session.style(None).width),
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

/// The least room for a summary next to a name, and where it begins below one.
const MIN_SUMMARY_COLUMNS: usize = 30;
const INDENT: usize = 6;

fn table(terminal: Option<usize>) -> String {
    let width = RULES.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for rule in RULES {
        let before = format!(
            "{}  {:7}  {:width$}  ",
            rule.code,
            rule.severity.as_str(),
            rule.name
        );
        let line = format!("{before}{}\n", rule.summary);
        out.push_str(&match terminal {
            // Where the summary would have no room next to the name, it goes on below it.
            Some(columns) if before.len() + MIN_SUMMARY_COLUMNS <= columns => {
                fit_hanging(&line, columns, before.len())
            }
            Some(columns) => fit_hanging(&line, columns, INDENT),
            None => line,
        });
    }
    out
}
