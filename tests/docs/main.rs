//! What the documents show is what the program does.

mod decisions;
mod examples;
mod named_tests;
mod programs;
mod readme;
#[cfg(all(feature = "cli", unix))]
mod sessions;
