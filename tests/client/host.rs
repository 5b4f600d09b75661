//! A client with a clock that stands still, ids from a seed, and waits that only are noted.

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
}

impl Host for Noted {
    fn now(&self) -> Timestamp {
        "2026-01-02T12:00:00Z".parse().expect("an instant")
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
    let waits = Waits::default();
    let host = Noted {
        ids: Mutex::new(Seeded::new(7)),
        waits: Arc::clone(&waits),
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
