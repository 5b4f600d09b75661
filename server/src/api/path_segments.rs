//! The segments of a path, as routes and areas compare them.

use std::borrow::Cow;

use percent_encoding::percent_decode;

/// The segments, each decoded by itself: an encoded slash separates nothing. Bytes that are no text have a character in
/// their place that no word of a path has.
pub(super) fn segments(path: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let segments = path.split('/').skip(1);
    segments.map(|segment| percent_decode(segment.as_bytes()).decode_utf8_lossy())
}
