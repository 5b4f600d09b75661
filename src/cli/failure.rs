//! The one place that turns errors into exit codes and messages.
//!
//! With `--format json`, stdout carries one JSON document in every case: for invalid arguments, for
//! `--help`, and for an internal failure. Otherwise stdout stays empty, but for the id of a job that goes on.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use anstream::{AutoStream, ColorChoice};
use serde_json::{Map, Value};
use tplkit::finding::render::{self, Report, ReportError};
use tplkit::printable;

use super::commands::command_line;
use super::error::CliError;
use super::exit::Exit;
use super::output::{print_error, print_error_in_detail, print_stdout, terminal_width};
use super::session::automatic;
use super::{candidates, document, interrupt_message};

/// Runs `work`, and turns whatever happens into an exit code.
pub(crate) fn guard(words: &[OsString], work: impl FnOnce() -> Result<Exit, CliError>) -> Exit {
    let output_mode = OutputMode::read(words);
    if output_mode.json {
        let stopped = report_error("interrupted".to_owned(), None);
        interrupt_message::set_document(output_mode.document(&stopped, "failed", Map::new()));
    }
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => fail(&error, &output_mode),
        Err(_) => {
            // The panic hook has written to stderr where.
            let help = format!("please report it at {}", env!("CARGO_PKG_REPOSITORY"));
            print(
                &report_error("tplkit has a bug and had to stop".to_owned(), Some(help)),
                &output_mode,
            );
            Exit::Bug
        }
    }
}

fn fail(error: &CliError, output_mode: &OutputMode) -> Exit {
    match error {
        // Whoever read a stream of bytes has read enough. Other results end with an exit code of their own.
        CliError::Output(source) if source.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        CliError::Reported(exit) => *exit,
        CliError::Arguments(error) if !error.use_stderr() => help(error, output_mode),
        CliError::Arguments(error) if !output_mode.json => {
            // Nothing can be done where nobody reads.
            print_words(error, output_mode.colour).ok();
            Exit::Usage
        }
        outer @ CliError::Arguments(error) => {
            let text = error.render().to_string();
            let (message, rest) = text.split_once("\n\n").unwrap_or((text.as_str(), ""));
            let message = message.strip_prefix("error: ").unwrap_or(message).trim();
            let rest = rest.trim();
            let help = (!rest.is_empty()).then(|| rest.to_owned());
            let mut members = outer.members();
            let commands = command_line::known_commands(error);
            if !commands.is_empty() {
                members = candidates::members(&commands);
            }
            let report_error = report_error(message.to_owned(), help);
            print_error(&report_error);
            print_as(&report_error, output_mode, "failed", members);
            Exit::Usage
        }
        other => {
            let report_error = other.report_error();
            print_more(&report_error, output_mode, other);
            other.exit()
        }
    }
}

/// Help and version: results, not failures, unless they cannot be written. Who stops reading has read enough.
fn help(error: &clap::Error, output_mode: &OutputMode) -> Exit {
    let written = if output_mode.json {
        let text = error.render().to_string();
        print_stdout(&document::write(
            "clean",
            &serde_json::json!({"help": text}),
        ))
    } else {
        print_words(error, output_mode.colour)
    };
    match written {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            let unwritten = CliError::Output(source);
            print_error(&unwritten.report_error());
            unwritten.exit()
        }
        _ => Exit::Done,
    }
}

/// Writes what clap has to say. It breaks descriptions at the width of the terminal, and no other lines.
fn print_words(error: &clap::Error, colour: ColorChoice) -> io::Result<()> {
    let width = if error.use_stderr() {
        terminal_width(&io::stderr())
    } else {
        terminal_width(&io::stdout())
    };
    let text = error.render().ansi().to_string();
    let text = width.map_or_else(|| text.clone(), |width| render::fit(&text, width));
    let chosen = |automatic| match colour {
        ColorChoice::Auto => automatic,
        colour => colour,
    };
    if error.use_stderr() {
        let colour = chosen(automatic(&io::stderr()));
        return write!(AutoStream::new(io::stderr(), colour), "{text}");
    }
    let colour = chosen(automatic(&io::stdout()));
    let mut stdout = AutoStream::new(io::stdout(), colour);
    write!(stdout, "{text}")?;
    stdout.flush()
}

fn report_error(message: String, help: Option<String>) -> ReportError {
    ReportError {
        path: None,
        message,
        help,
    }
}

/// Writes to stderr in words, and stdout as a document when that was asked for.
fn print(report_error: &ReportError, output_mode: &OutputMode) {
    print_error(report_error);
    print_as(report_error, output_mode, "failed", Map::new());
}

/// The same for an error that documents know more about.
fn print_more(report_error: &ReportError, output_mode: &OutputMode, error: &CliError) {
    let outcome = match error.exit() {
        Exit::Findings => "findings",
        _ => "failed",
    };
    print_error_in_detail(report_error, &error.faults());
    let members = error.members();
    if !output_mode.json
        && error.exit() == Exit::Running
        && let Some(id) = members.get("job_id").and_then(Value::as_str)
    {
        // Nobody reads a message about a closed stdout.
        print_stdout(&format!("{}\n", printable::line(id))).ok();
    }
    print_as(report_error, output_mode, outcome, members);
}

fn print_as(
    report_error: &ReportError,
    output_mode: &OutputMode,
    outcome: &str,
    members: Map<String, Value>,
) {
    if output_mode.json {
        // Nobody reads a message about a closed stdout.
        print_stdout(&output_mode.document(report_error, outcome, members)).ok();
    }
}

/// What the words say about the form of the output, read without understanding the rest.
struct OutputMode {
    /// One JSON document on stdout.
    json: bool,
    /// In the shape of `check` and `promote`.
    report: bool,
    /// What `--color` says of texts by clap.
    colour: ColorChoice,
}

impl OutputMode {
    /// The document that reports a failure.
    fn document(
        &self,
        report_error: &ReportError,
        outcome: &str,
        members: Map<String, Value>,
    ) -> String {
        let mut body = if self.report {
            let text = render::json(&Report {
                errors: vec![report_error.clone()],
                ..Report::default()
            });
            serde_json::from_str(&text).unwrap_or_default()
        } else {
            document::errors(std::slice::from_ref(report_error))
        };
        if let Some(error) = body["errors"][0].as_object_mut() {
            error.extend(members);
        }
        document::write(outcome, &body)
    }

    fn read(words: &[OsString]) -> OutputMode {
        let colour = command_line::colour(words);
        let words: Vec<&str> = words
            .iter()
            .skip(1)
            .map(|word| word.to_str().unwrap_or_default())
            .take_while(|word| *word != "--")
            .collect();
        let commands = command_line::command();
        let command = words
            .iter()
            .find(|word| commands.find_subcommand(word).is_some());
        let paired = words.windows(2).any(|pair| pair == ["--format", "json"]);
        OutputMode {
            json: paired || words.contains(&"--format=json"),
            report: command.is_some_and(|word| ["check", "promote"].contains(word)),
            colour,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::io;

    use super::{OutputMode, guard};
    use crate::cli::error::CliError;
    use crate::cli::exit::Exit;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_panic_is_a_bug_and_a_closed_pipe_is_none() {
        let quiet = words("tplkit check x");
        assert_eq!(guard(&quiet, || panic!("on purpose")), Exit::Bug);
        let closed = || Err(CliError::Output(io::ErrorKind::BrokenPipe.into()));
        assert_eq!(guard(&quiet, closed), Exit::Done);
        let full = || Err(CliError::Output(io::ErrorKind::StorageFull.into()));
        assert_eq!(guard(&quiet, full), Exit::Usage);
    }

    #[test]
    fn format_json_is_read_among_wrong_arguments() {
        let read = |line: &str| {
            let output_mode = OutputMode::read(&words(line));
            (output_mode.json, output_mode.report)
        };
        assert_eq!(
            read("tplkit --color never check --nope --format json"),
            (true, true)
        );
        assert_eq!(read("tplkit show --format=json"), (true, false));
        assert_eq!(read("tplkit check -- --format json"), (false, true));
        assert_eq!(read("tplkit"), (false, false));
    }
}
