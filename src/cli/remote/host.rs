//! What the client is lent: the clock, the ids and the patience of this machine.

use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use tplkit::client::Host;
use tplkit::context::{Clock as _, Ids as _};

use crate::cli::output::print_note;
use crate::cli::session::{RandomIds, Session, SystemClock};

/// This machine.
pub(super) struct Machine {
    talks: bool,
}

impl Machine {
    pub(super) fn new(session: &Session) -> Machine {
        Machine {
            talks: session.is_verbose(),
        }
    }
}

impl Host for Machine {
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
        if self.talks {
            print_note(&format!("{why}; again in {:.1} s", after.as_secs_f64()));
        }
    }
}
