//! JSON Pointer (RFC 6901).

/// Appends one reference token of a JSON Pointer (RFC 6901) to `pointer`.
pub fn push_pointer(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}
