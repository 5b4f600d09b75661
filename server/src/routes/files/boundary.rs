//! Whether a body is a form, and where its parts end.

use axum::http::HeaderValue;

use crate::files::name::parameter;
use crate::refusal::Refusal;

/// Characters of a boundary.
const MOST_BOUNDARY: usize = 70;

/// The boundary of a body of this type; nothing where it is no form.
///
/// # Errors
/// 422 for a form without one.
pub(super) fn boundary(content_type: Option<&HeaderValue>) -> Result<Option<String>, Refusal> {
    let text = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("multipart/form-data") {
        return Ok(None);
    }
    let boundary = parameter(text, "boundary").filter(|boundary| is_boundary(boundary));
    boundary.map(Some).ok_or_else(|| {
        Refusal::fault(
            "header.Content-Type",
            "names no boundary of 1 to 70 characters",
        )
    })
}

/// Blanks at the end of a line do not count, so none are at the end of a boundary.
fn is_boundary(text: &str) -> bool {
    (1..=MOST_BOUNDARY).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !text.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::{MOST_BOUNDARY, boundary};

    #[test]
    fn a_form_names_its_boundary_as_a_parameter() {
        let read = |text: &str| {
            let value = HeaderValue::from_str(text).expect("a value");
            boundary(Some(&value))
        };
        let long = "x".repeat(MOST_BOUNDARY);
        for (text, found) in [
            ("multipart/form-data; boundary=XX", "XX"),
            ("multipart/form-data ; boundary=XX", "XX"),
            ("multipart/form-data\t;charset=utf-8 ;boundary=XX;", "XX"),
            ("Multipart/Form-Data; Boundary=\"a \\\"b\"", "a \"b"),
            ("multipart/form-data; x=\"boundary=YY\"; boundary=XX", "XX"),
            (&format!("multipart/form-data; boundary={long}"), &long),
        ] {
            let read = read(text).expect("names one");
            assert_eq!(read.as_deref(), Some(found), "{text}");
        }
        for text in [
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/form-data; boundary=\"\"",
            "multipart/form-data; boundary=\"XX \"",
            "multipart/form-data; boundary=\"X\tX\"",
            "multipart/form-data; boundary=\"XX",
            "multipart/form-data; boundary=XX,text/plain",
            &format!("multipart/form-data; boundary={long}x"),
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in ["multipart/mixed; boundary=XX", "text/plain", ""] {
            assert_eq!(read(text).expect("no form"), None, "{text}");
        }
        assert_eq!(boundary(None).expect("no form"), None);
    }
}
