//! Secret text that must not be shown: tokens, keys, passwords.

use std::fmt;

/// What stands where a secret stood.
const HIDDEN: &str = "***";

/// A secret, which only [`Secret::reveal`] shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a secret.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The secret itself, to send or to store it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it can travel in a header.
    pub fn fits_header(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// Takes the secret out of a text: as it is, as JSON writes it, and as JSON writes JSON that is
    /// a text in it (a server that repeats the body it was sent).
    pub(super) fn hide_in(&self, text: &mut String) {
        let mut forms = vec![self.0.clone()];
        for _ in 0..2 {
            let last = forms.last().map(String::as_str).unwrap_or_default();
            let written = serde_json::Value::from(last).to_string();
            forms.push(written[1..written.len() - 1].to_owned());
        }
        // The most escaped form first: the others are parts of it.
        for form in forms.iter().rev().filter(|form| !form.is_empty()) {
            if text.contains(form) {
                *text = text.replace(form, HIDDEN);
            }
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_not_shown_and_found_in_texts() {
        let secret = Secret::new("s3\"cret");
        assert_eq!(format!("{:?}", Some(&secret)), "Some(***)");
        let mut text = r#"{"detail": "no s3\"cret, s3\\\"cret, s3"cret"}"#.to_owned();
        secret.hide_in(&mut text);
        assert_eq!(text, r#"{"detail": "no ***, ***, ***"}"#);
        let mut text = "kept".to_owned();
        Secret::new("").hide_in(&mut text);
        assert_eq!(text, "kept");
    }

    #[test]
    fn only_visible_ascii_travels_in_a_header() {
        assert!(Secret::new("platform_sk_a.b-c").fits_header());
        for wrong in ["", "a b", "a\n", "é"] {
            assert!(!Secret::new(wrong).fits_header(), "{wrong:?}");
        }
    }
}
