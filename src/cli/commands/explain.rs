//! `tplkit explain`: why a rule exists, with a failing and a fixed example.

use serde_json::json;
use tplkit::finding::catalog;
use tplkit::finding::page::readable;
use tplkit::finding::selection::nearest_rule;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_styled;
use crate::cli::session::Session;

/// Explain a rule: why it exists, a failing and a fixed example.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Explain a rule by its code", "tplkit explain R017"),
    ("Explain a rule by its name", "tplkit explain ref-undeclared"),
]))]
pub(crate) struct Args {
    /// Code (`R003`) or name (`row-count-mismatch`) of the rule.
    code: String,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let Some(rule) = catalog::find(&args.code) else {
        let help = match nearest_rule(&args.code) {
            Some(nearest) => format!("did you mean `{nearest}`? `tplkit rules` lists all"),
            None => "`tplkit rules` lists all rules".to_owned(),
        };
        return Err(CliError::Usage {
            message: format!("there is no rule `{}`", args.code),
            help,
        });
    };
    let text = match args.format {
        Form::Text if session.style(None).colour => coloured(&readable(rule.page)),
        Form::Text => readable(rule.page),
        Form::Json => {
            let rule = json!({
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity.as_str(),
                "summary": rule.summary,
                "help": rule.help,
                "page": readable(rule.page),
            });
            document::write("clean", &json!({"rule": rule}))
        }
    };
    write_styled(&text, None)?;
    Ok(Exit::Done)
}

/// The page with its headings in bold.
fn coloured(page: &str) -> String {
    let bold = anstyle::Style::new().bold();
    let lines = page.lines().map(|line| {
        if line.starts_with('#') {
            format!("{bold}{line}{bold:#}\n")
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}
