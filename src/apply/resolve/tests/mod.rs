//! The rules of resolving, on small packages and on every good fixture.

mod again;
mod columns;
mod completeness;
mod configs;
mod decisions;
mod fixtures;
mod names;
mod rows;
mod structure;
mod unwritable;
