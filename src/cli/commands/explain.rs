//! `tplkit explain`: why a rule exists, with a failing and a mended example.

use std::fmt::Write as _;

use serde_json::json;
use tplkit::check::catalog;
use tplkit::check::selection::nearest_rule;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::session::Session;

/// Explain a rule: why it exists, a failing and a mended example.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Code (`R003`) or name (`row-count-mismatch`) of the rule.
    code: String,
    /// Form of the explanation.
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
        Form::Text => readable(rule.page, session.style(None).colour),
        Form::Json => {
            let rule = json!({
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity.as_str(),
                "summary": rule.summary,
                "help": rule.help,
                "page": readable(rule.page, false),
            });
            document::write("clean", &json!({"rule": rule}))
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// The page for people: what the examples' fences say to the tests becomes a sentence.
fn readable(page: &str, colour: bool) -> String {
    let bold = anstyle::Style::new().bold();
    let mut out = String::with_capacity(page.len());
    for line in page.lines() {
        if let Some(info) = line.strip_prefix("```json ") {
            out.push_str(&setting(info));
            out.push_str("\n\n```json");
        } else if colour && line.starts_with('#') {
            // Writing to a String cannot fail.
            let _ = write!(out, "{bold}{line}{bold:#}");
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// `tiny set=/a/b` in words.
fn setting(info: &str) -> String {
    let mut words = info.split_whitespace();
    let base = match words.next().unwrap_or_default() {
        "tiny" => "in a small package",
        "v1" => "in a package of version 1",
        "links" => "in a package with linked tables",
        "flow" => "in a package with an automation",
        "auto" => "in a package with automations and dependencies",
        _ => "in a file of its own",
    };
    let edits: Vec<String> = words.filter_map(edit).collect();
    if edits.is_empty() {
        format!("{}:", capital(base))
    } else {
        format!("{}, {}:", capital(base), edits.join(" "))
    }
}

fn edit(word: &str) -> Option<String> {
    let (verb, pointer) = word.split_once('=')?;
    match (verb, pointer.strip_suffix("/-")) {
        ("set", Some(list)) => Some(format!("appended to {list}")),
        ("set", None) => Some(format!("at {pointer}")),
        ("remove", _) => Some(format!("without {pointer}")),
        ("grow", _) => Some(format!("with {pointer} repeated")),
        ("count", _) => Some(format!("to {pointer} entries")),
        _ => None,
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::setting;

    #[test]
    fn fences_become_sentences() {
        assert_eq!(
            setting("tiny set=/manifest/items/0/kind"),
            "In a small package, at /manifest/items/0/kind:"
        );
        assert_eq!(
            setting("flow set=/payloads/-"),
            "In a package with an automation, appended to /payloads:"
        );
        assert_eq!(setting("file"), "In a file of its own:");
    }
}
