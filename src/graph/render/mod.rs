//! A graph as text, one small file per format. Labels are untrusted: each format escapes them in
//! its own way.

mod dot;
mod json;
mod mermaid;
mod style;
mod svg;

pub use dot::dot;
pub use json::json;
pub use mermaid::mermaid;
pub use style::svg_style;
pub use svg::{Canvas, svg};

/// Labels of an edge in one line.
fn joined(labels: &[String]) -> String {
    labels.join(", ")
}
