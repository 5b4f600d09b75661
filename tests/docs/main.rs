//! What the documents show is what the program does.

mod examples;
mod programs;
#[cfg(all(feature = "cli", unix))]
mod sessions;
