//! What the rules ask about a package, worked out once.

mod table;

pub use table::{Column, Origin, Table};
