//! The log of the running server: lines on standard error, each with its request.
//!
//! No line holds what a user sent: no query, body, header, value of a row or credential, at any level.
//! Our own lines are written that way. Those of libraries are taken at `warn` and worse only, because
//! at finer levels some print what passes through them.

use std::io::{self, IsTerminal as _};
use std::panic;

use clap::ValueEnum;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use tplkit_server::store::sql_log;

use super::log_queue::{DRAIN_TIMEOUT, LogQueue};

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// How much is logged on standard error [default: info; of serve --demo: warn].
    #[arg(long, value_name = "LEVEL", value_enum, env = "TPLKIT_LOG_LEVEL")]
    log_level: Option<Level>,
    /// In which form [default: text on a terminal, else json].
    #[arg(long, value_name = "FORM", value_enum, env = "TPLKIT_LOG_FORMAT")]
    log_format: Option<Format>,
    /// What is logged at any level, besides: each SQL statement as it leaves for the store, with the types
    /// of its parameters and never a value.
    #[arg(long, value_name = "WHAT", value_enum, env = "TPLKIT_LOG")]
    log: Option<ExtraLog>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExtraLog {
    /// SQL statements.
    Sql,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// One JSON object per line.
    Json,
    /// Lines for people.
    Text,
}

impl From<Level> for LevelFilter {
    fn from(level: Level) -> LevelFilter {
        match level {
            Level::Off => LevelFilter::OFF,
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
            Level::Trace => LevelFilter::TRACE,
        }
    }
}

/// Starts to log by way of the queue, as much as `usual` where nobody says how much.
pub(super) fn start(arguments: &Arguments, usual: Level, queue: &LogQueue) -> io::Result<()> {
    let format = arguments.log_format.unwrap_or_else(|| {
        if io::stderr().is_terminal() {
            Format::Text
        } else {
            Format::Json
        }
    });
    let targets = targets(arguments, usual);
    queue.start(io::stderr(), report_lost)?;
    let writer = {
        let queue = queue.clone();
        move || queue.clone()
    };
    match format {
        Format::Json => json(targets, writer).init(),
        Format::Text => tracing_subscriber::registry()
            .with(targets)
            .with(tracing_subscriber::fmt::layer().with_writer(writer))
            .init(),
    }
    panic::set_hook(on_panic(queue));
    Ok(())
}

/// Reports lines that found the queue full.
fn report_lost(lost: u64) {
    tracing::warn!(
        lost,
        "lines of the log were lost: they were not read as fast as they came"
    );
}

/// What is taken from whom.
fn targets(arguments: &Arguments, usual: Level) -> Targets {
    let level = LevelFilter::from(arguments.log_level.unwrap_or(usual));
    let sql = match arguments.log {
        Some(ExtraLog::Sql) => LevelFilter::DEBUG,
        None => LevelFilter::OFF,
    };
    Targets::new()
        .with_target(sql_log::TARGET, sql)
        .with_default(level.min(LevelFilter::WARN))
        .with_target("tplkit", level)
        .with_target("tplkit_server", level)
}

fn json<W>(targets: Targets, writer: W) -> impl Subscriber
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer().with_writer(writer).json();
    tracing_subscriber::registry()
        .with(targets)
        .with(lines.flatten_event(true).with_span_list(false))
}

/// What a panic calls. It may end the process at once, so it waits until its line is written.
fn on_panic(queue: &LogQueue) -> Box<dyn Fn(&panic::PanicHookInfo<'_>) + Send + Sync> {
    let queue = queue.clone();
    Box::new(move |panic| {
        log_panic(panic);
        queue.drain(DRAIN_TIMEOUT);
    })
}

/// Reports a panic, and of its message only when the program wrote all of it: "is not a char boundary
/// of …" and the like repeat what they were given.
fn log_panic(panic: &panic::PanicHookInfo<'_>) {
    let message = panic.payload().downcast_ref::<&'static str>();
    let thread = std::thread::current();
    tracing::error!(
        at = panic.location().map(tracing::field::display),
        thread = thread.name(),
        message_of_panic = message.unwrap_or(&"(not shown: it may hold data)"),
        "a panic: this is a bug in the server"
    );
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::panic::{self, catch_unwind};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::Duration;

    use super::{Arguments, ExtraLog, Format, Level, LogQueue, json, on_panic, targets};
    use tplkit_server::store::sql_log;

    /// Not at once, as somebody else reads them.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            thread::sleep(Duration::from_millis(5));
            self.0.lock().expect("whole").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(log_level: Level, log: Option<ExtraLog>) -> Arguments {
        Arguments {
            log_level: Some(log_level),
            log_format: Some(Format::Json),
            log,
        }
    }

    #[test]
    fn statements_are_shown_to_who_asks_and_at_any_level() {
        for (level, log, shown) in [
            (Level::Trace, None, false),
            (Level::Off, Some(ExtraLog::Sql), true),
        ] {
            let lines = Lines::default();
            let writer = lines.clone();
            let subscriber = json(targets(&logged(level, log), Level::Info), move || {
                writer.clone()
            });
            tracing::subscriber::with_default(subscriber, || {
                tracing::debug!(target: sql_log::TARGET, sql = "EXPLAIN SELECT 1", "statement");
            });
            let text = lines.0.lock().expect("whole");
            assert_eq!(!text.is_empty(), shown, "{level:?}");
        }
    }

    #[test]
    fn a_panic_is_a_line_without_data_and_libraries_are_quiet() {
        let lines = Lines::default();
        let queue = LogQueue::default();
        queue.start(lines.clone(), |_| {}).expect("starts");
        let writer = queue.clone();
        let subscriber = json(
            targets(&logged(Level::Trace, None), Level::Info),
            move || writer.clone(),
        );
        tracing::subscriber::with_default(subscriber, || {
            let _span = tracing::error_span!("request", id = "the-request").entered();
            tracing::trace!("ours");
            tracing::debug!(target: "some_library", "a parameter: canary");
            tracing::warn!(target: "some_library", "trouble");
            panic::set_hook(on_panic(&queue));
            let data = "canary";
            let _ = catch_unwind(|| panic!("a fixed text"));
            let _ = catch_unwind(|| panic!("a text with {data}"));
            let _ = panic::take_hook();
        });
        // They are written: the process could end here.
        let text = String::from_utf8(lines.0.lock().expect("whole").clone()).expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        for (line, words) in lines
            .iter()
            .zip(["ours", "trouble", "a fixed text", "not shown"])
        {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            assert!(line.to_string().contains(words), "{line}");
            assert_eq!(line["span"]["id"], "the-request");
        }
        assert!(lines[2].contains("logs.rs:"), "{text}");
        assert!(!text.contains("canary"), "{text}");
    }
}
