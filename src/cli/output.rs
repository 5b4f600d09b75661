//! The only place that prints: results to stdout, everything else to stderr.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tplkit::finding::render::{ReportError, fit, linked};
use tplkit::json::validate;
use tplkit::printable;

use super::error::CliError;
use super::source::is_stdin;
use super::{interrupt_message, replace};

/// Whether the reader of standard output has closed it.
static READER_LEFT: AtomicBool = AtomicBool::new(false);

/// Whether whoever read the results has left: what comes piece by piece may end then.
pub(crate) fn reader_left() -> bool {
    READER_LEFT.load(Ordering::Relaxed)
}

/// Writes a result for people or in a format for them to the file `target`, or to standard output (without
/// one, or with `-`). It holds no control or misleading characters.
pub(crate) fn write_result(text: &str, target: Option<&Path>) -> Result<(), CliError> {
    write_styled(&printable::lines(text), target)
}

/// A result for people, made of sentences: at a terminal its lines break between words.
pub(crate) fn folded(text: &str) -> String {
    match terminal_width(&io::stdout()) {
        Some(width) => fit(text, width),
        None => text.to_owned(),
    }
}

/// Writes a result that is data: its bytes mean something, unless it is for somebody at a terminal.
pub(crate) fn write_data(text: &str, target: Option<&Path>) -> Result<(), CliError> {
    let shown = target.is_none_or(is_stdin) && io::stdout().is_terminal();
    if shown {
        write_result(text, target)
    } else {
        write_styled(text, target)
    }
}

/// Writes a result whose colours are ours, and whose texts were made harmless before they got them.
pub(crate) fn write_styled(text: &str, target: Option<&Path>) -> Result<(), CliError> {
    match target.filter(|path| !is_stdin(path)) {
        None => write_bytes(text.as_bytes()),
        Some(path) => replace::write(path, text.as_bytes()),
    }
}

/// Writes a result that need not be text to standard output. Whoever has left has read enough, which is no failure and
/// changes no outcome: the command goes on to its own exit code.
fn write_bytes(bytes: &[u8]) -> Result<(), CliError> {
    match print_bytes(bytes) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            READER_LEFT.store(true, Ordering::Relaxed);
            Ok(())
        }
        written => written.map_err(CliError::Output),
    }
}

/// Writes the body of a response as it came. At a terminal nothing in it steers that, JSON says the same in `\u…`, and
/// a prompt begins its own line.
pub(crate) fn write_body(body: &[u8]) -> Result<(), CliError> {
    if !io::stdout().is_terminal() {
        return write_bytes(body);
    }
    let text = String::from_utf8_lossy(body);
    let mut shown = match validate(&text) {
        // Between tokens of JSON it would take the line back, and says nothing.
        Ok(()) => printable::json(&text).replace('\r', ""),
        Err(_) => printable::lines(&text),
    };
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    write_bytes(shown.as_bytes())
}

/// Writes a result, whole.
pub(crate) fn print_stdout(text: &str) -> io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes a result that need not be text, whole.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    interrupt_message::begin();
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Writes lines to stderr, harmless ones; when stderr is closed nobody reads them.
pub(crate) fn print_note(text: &str) {
    writeln!(io::stderr().lock(), "{}", noted(text)).ok();
}

/// Writes findings to stderr, as their renderer made them in the style of that stream: harmless, coloured and
/// fitted already. Escaping them again would show their colours as text, folding them move their carets.
pub(crate) fn print_styled_note(text: &str) {
    writeln!(io::stderr().lock(), "{text}").ok();
}

/// A note; a word of it leads to an address where the terminal has links.
pub(crate) fn print_note_with_link(text: &str, word: &str, address: &str) {
    let text = noted(text);
    let text = if has_links(&io::stderr()) {
        linked(&text, word, address)
    } else {
        text
    };
    writeln!(io::stderr().lock(), "{text}").ok();
}

fn noted(text: &str) -> String {
    let text = printable::lines(text);
    match terminal_width(&io::stderr()) {
        Some(width) => fit(&text, width),
        None => text,
    }
}

/// Whether a stream leads to a terminal that shows links (OSC 8). `FORCE_HYPERLINK` says so of any terminal
/// but `dumb`, and of nothing else.
pub(crate) fn has_links(stream: &impl io::IsTerminal) -> bool {
    #[expect(clippy::disallowed_methods, reason = "the terminal says so of itself")]
    let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    stream.is_terminal() && !dumb && supports_hyperlinks::supports_hyperlinks()
}

/// How many columns the terminal has that a stream leads to; nothing when it leads elsewhere.
#[cfg(unix)]
pub(crate) fn terminal_width(stream: &(impl io::IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
pub(crate) fn terminal_width(_stream: &impl io::IsTerminal) -> Option<usize> {
    None
}

/// Writes what went wrong and what to do. The path is part of the message already when it is known.
pub(crate) fn print_error(report_error: &ReportError) {
    print_error_in_detail(report_error, &[]);
}

/// The same with single faults.
pub(crate) fn print_error_in_detail(report_error: &ReportError, details: &[String]) {
    let help = report_error
        .help
        .as_ref()
        .map(|help| format!("\n  help: {help}"))
        .unwrap_or_default();
    let mut lines = vec![format!("error: {}", report_error.message)];
    lines.extend_from_slice(details);
    print_note(&(lines.join("\n  ") + &help));
}
