//! JSON with source positions: one strict scanner, and one tree of nodes with spans.
//!
//! Packages are checked, shown and rewritten by position, so the tree keeps spans, repeated keys
//! and the digits of numbers. Rows of a payload are left unparsed in the tree ([`JsonKind::Rows`])
//! and streamed with `scan::Scanner`.
//!
//! In: text. Out: nodes with spans, or the one [`SyntaxError`] that ends reading.

mod decode;
mod lanes;
mod measure;
mod outline;
mod parse;
pub mod path;
mod pointer;
pub(crate) mod scan;
mod serde;
mod skip;
mod tree;
mod validate;
mod value;
mod write;

pub(crate) use decode::raw_range;
pub use decode::{decode, decode_to};
pub use measure::string_len;
pub(crate) use outline::{Outline, Part};
pub use scan::{MAX_DEPTH, SyntaxError, SyntaxKind};
pub use tree::{Anomaly, Doc, JsonKind, Node};
pub use validate::validate;
pub(crate) use validate::{scalar, skip_value};
pub use value::{Number, Object, Value};
pub use write::{write_string, write_string_to};
