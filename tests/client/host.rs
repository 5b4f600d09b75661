//! A client with a clock that a test sets, ids from a seed, and waits that are only noted.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tplkit::client::{BaseUrl, Client, Credential, Host, Options, Secret};
use tplkit::context::{Ids as _, Seeded};

/// The token that nobody but the server may see.
pub(crate) const TOKEN: &str = "platform_sk_not-to-be-seen";

/// The waits of a client.
pub(crate) type Waits = Arc<Mutex<Vec<Duration>>>;

struct Noted {
    ids: Mutex<Seeded>,
    waits: Waits,
    /// By how much the clock goes on whenever somebody looks at it.
    step: Duration,
    now: Mutex<Timestamp>,
}

impl Host for Noted {
    fn now(&self) -> Timestamp {
        let mut now = self.now.lock().expect("whole");
        *now += self.step;
        *now
    }
    fn uuid(&self) -> String {
        self.ids.lock().expect("whole").uuid()
    }
    fn wait(&self, time: Duration) {
        self.waits.lock().expect("whole").push(time);
    }
}

/// A client of that server, with its waits.
pub(crate) fn client_as(url: &str, credential: Credential, options: Options) -> (Client, Waits) {
    client_in(url, credential, options, Duration::ZERO)
}

/// A client whose clock goes on whenever somebody looks at it.
pub(crate) fn client_in(
    url: &str,
    credential: Credential,
    options: Options,
    step: Duration,
) -> (Client, Waits) {
    let waits = Waits::default();
    let noon = "2026-01-02T12:00:00Z".parse().expect("an instant");
    let host = Noted {
        ids: Mutex::new(Seeded::new(7)),
        waits: Arc::clone(&waits),
        step,
        now: Mutex::new(noon),
    };
    let base = BaseUrl::parse(url).expect("an address");
    let client = Client::new(base, credential, options, Box::new(host)).expect("a client");
    (client, waits)
}

/// A client with the token.
pub(crate) fn client(url: &str) -> (Client, Waits) {
    let token = Credential::Token(Secret::new(TOKEN));
    client_as(url, token, Options::default())
}
