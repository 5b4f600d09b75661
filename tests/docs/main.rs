//! What the documents show is what the program does.

mod examples;
