//! The client's host: clock, ids and waiting on this machine.

use std::any::Any;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use jiff::Timestamp;
use tplkit::client::Host;
use tplkit::context::{Clock as _, Ids as _};

use crate::cli::output::print_note;
use crate::cli::session::{RandomIds, Session, SystemClock};
use crate::cli::transfer_rate::with_pace;

/// How long nothing is said about a request that is open, and from then on every time.
const NOTE_INTERVAL: Duration = Duration::from_secs(5);

/// How often the progress of a transfer is drawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Its line.
const TRANSFER: &str = "{spinner} {msg} {wide_bar} {bytes}/{total_bytes}  {rate}  {rest} left";

/// This machine.
pub(super) struct LocalHost {
    /// Whether people want to know what is waited for.
    talks: bool,
    /// Whether they want to know of short waits, too.
    chats: bool,
}

impl LocalHost {
    pub(super) fn new(session: &Session) -> LocalHost {
        LocalHost {
            talks: !session.is_quiet(),
            chats: session.is_verbose(),
        }
    }
}

impl LocalHost {
    /// Shows how much of a large body is over: a line that is drawn again and again, elsewhere one as it begins.
    fn transfer(
        &self,
        what: &'static str,
        request: &str,
        total: u64,
        done: Arc<AtomicU64>,
    ) -> Option<Box<dyn Any>> {
        if !self.talks {
            return None;
        }
        if !io::stderr().is_terminal() {
            print_note(&format!("{request}: {what}ing {}…", HumanBytes(total)));
            return None;
        }
        let (over, end) = channel::<()>();
        thread::spawn(move || {
            let style = ProgressStyle::with_template(TRANSFER);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            // What was there before has taken no time of this transfer.
            let before = done.load(Ordering::Relaxed);
            let bar = ProgressBar::new(total).with_position(before);
            bar.set_style(with_pace(style, before, |size| {
                HumanBytes(size).to_string()
            }));
            bar.set_message(what);
            // It ends when the other side is dropped.
            while end.recv_timeout(REDRAW_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                bar.set_position(done.load(Ordering::Relaxed));
            }
            bar.finish_and_clear();
        });
        Some(Box::new(over))
    }
}

impl Host for LocalHost {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    fn uuid(&self) -> String {
        RandomIds.uuid()
    }

    fn wait(&self, time: Duration) {
        thread::sleep(time);
    }

    fn retrying(&self, why: &str, after: Duration) {
        if self.chats || self.talks && after >= Duration::from_secs(1) {
            print_note(&format!("{why}; again in {:.1} s", after.as_secs_f64()));
        }
    }

    fn sending(&self, request: &str, total: u64, sent: Arc<AtomicU64>) -> Option<Box<dyn Any>> {
        self.transfer("upload", request, total, sent)
    }

    fn receiving(
        &self,
        request: &str,
        total: u64,
        received: Arc<AtomicU64>,
    ) -> Option<Box<dyn Any>> {
        self.transfer("download", request, total, received)
    }

    fn asking(&self, request: &str, most: Duration) -> Option<Box<dyn Any>> {
        if !self.talks {
            return None;
        }
        let (over, end) = channel::<()>();
        let request = request.to_owned();
        thread::spawn(move || {
            let mut waited = NOTE_INTERVAL;
            // It ends when the other side is dropped.
            while end.recv_timeout(NOTE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let (so_far, most) = (waited.as_secs(), most.as_secs());
                print_note(&format!(
                    "{request}: waiting for the response ({so_far} s; silence ends it after {most} s)"
                ));
                waited += NOTE_INTERVAL;
            }
        });
        Some(Box::new(over))
    }
}
