//! Writes the canonical form of a package to standard output, or says why there is none.
//!
//! `cargo run --example canonical -- examples/crm.json`

#![expect(clippy::print_stderr, reason = "an example says what is wrong")]

use std::error::Error;
use std::io;

use tplkit::package::canonical::{CanonicalError, write_to};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "examples/crm.json".to_owned());
    let text = std::fs::read_to_string(path)?;

    // The text streams: a file of hundreds of megabytes needs no more memory than itself.
    match write_to(&text, &mut io::stdout().lock()) {
        Err(CanonicalError::DuplicateKey { key, pointer, .. }) => {
            eprintln!("{pointer}: keep one of the two members called {key:?}");
            Ok(())
        }
        other => Ok(other?),
    }
}
