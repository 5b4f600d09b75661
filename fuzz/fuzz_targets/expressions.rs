//! Expressions: no panic, and what a token yields is never evaluated again, whatever braces it holds.

#![no_main]

#[path = "../../tests/expressions/verbatim.rs"]
mod verbatim;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| verbatim::check(text));
