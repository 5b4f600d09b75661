//! What the documents show is what the program does.

mod examples;
#[cfg(all(feature = "cli", unix))]
mod sessions;
