//! Colours of pictures, for light and for dark backgrounds.
//!
//! Kinds differ in words too, never in colour alone.

/// The style sheet of pictures. Several on one page can share one.
pub fn svg_style() -> &'static str {
    include_str!("style.css")
}
