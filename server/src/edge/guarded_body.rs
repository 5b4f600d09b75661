//! A body of a response with what has to last as long as it does.

use axum::body::Body;
use http_body_util::BodyExt as _;

/// The same body, with which the guard is dropped.
pub(super) fn with_guard(body: Body, guard: impl Send + 'static) -> Body {
    Body::new(body.inspect_frame(move |_| {
        // The body owns this closure, which owns what it names.
        let _ = &guard;
    }))
}
