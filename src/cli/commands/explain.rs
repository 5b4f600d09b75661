//! `tplkit explain`: why a rule exists, with a failing and a fixed example.

use serde_json::json;
use tplkit::finding::catalog;
use tplkit::finding::page::readable;
use tplkit::finding::render::fit_hanging;

use crate::cli::args::Form;
use crate::cli::candidates::of_rules;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_styled;
use crate::cli::session::Session;
use crate::cli::word_match::unknown_word;

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
        let message = format!("there is no rule `{}`", args.code.escape_debug());
        let help = "`tplkit rules` lists all rules";
        return Err(unknown_word(message, &args.code, &of_rules(), help));
    };
    let style = session.style(None);
    let text = match (args.format, style.width) {
        (Form::Text, Some(width)) => on_terminal(&readable(rule.page), width, style.colour),
        (Form::Text, None) => readable(rule.page),
        (Form::Json, _) => {
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

/// The page as a terminal shows it: paragraphs at its width, headings in bold, code indented.
fn on_terminal(page: &str, width: usize, colour: bool) -> String {
    let bold = anstyle::Style::new().bold();
    let mut out = String::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    let end = |paragraph: &mut String, out: &mut String| {
        if !paragraph.is_empty() {
            paragraph.push('\n');
            out.push_str(&fit_hanging(paragraph, width, hang(paragraph)));
            paragraph.clear();
        }
    };
    for line in page.lines() {
        let is_fence = line.starts_with("```");
        let is_item = line.starts_with("- ") || line.starts_with('|');
        if is_fence || in_code || line.is_empty() || line.starts_with('#') || is_item {
            end(&mut paragraph, &mut out);
        }
        if is_fence {
            in_code = !in_code;
        } else if in_code {
            out.push_str(&fit_hanging(&format!("    {line}\n"), width, 8));
        } else if line.is_empty() {
            out.push('\n');
        } else if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim_start();
            let heading = if colour {
                format!("{bold}{heading}{bold:#}\n")
            } else {
                format!("{heading}\n")
            };
            out.push_str(&fit_hanging(&heading, width, 0));
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    end(&mut paragraph, &mut out);
    out
}

/// Where what goes on of a paragraph begins: under the text of a list's element.
fn hang(paragraph: &str) -> usize {
    if paragraph.starts_with("- ") { 2 } else { 0 }
}
