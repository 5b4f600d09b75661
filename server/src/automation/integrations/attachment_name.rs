//! The name of a file in the head of its part of a mail.
//!
//! In: a name as it was uploaded. Out: the header `Content-Disposition`. A quoted name that looks like an encoded word
//! (RFC 2047) is decoded by many readers, into one that no upload may have; percent-encoded (RFC 2231) it stays as it is.

use std::error::Error;
use std::fmt::Write as _;

use lettre::message::header::{ContentDisposition, Header, HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// What an encoded word begins with.
const ENCODED_WORD: &str = "=?";
/// How many encoded characters of a name a line has at most.
const MAX_LINE_CHARS: usize = 48;

/// That a part of a mail is saved, and under which name.
#[derive(Debug, Clone)]
pub(super) struct SavedAs(HeaderValue);

impl SavedAs {
    /// Under this name.
    pub(super) fn new(name: &str) -> SavedAs {
        if !name.contains(ENCODED_WORD) {
            return SavedAs(ContentDisposition::attachment(name).display());
        }
        let raw = format!("attachment; filename=\"{name}\"");
        let encoded = format!("attachment{}", parameters(name));
        SavedAs(HeaderValue::dangerous_new_pre_encoded(
            SavedAs::name(),
            raw,
            encoded,
        ))
    }
}

impl Header for SavedAs {
    fn name() -> HeaderName {
        ContentDisposition::name()
    }

    fn parse(text: &str) -> Result<SavedAs, Box<dyn Error + Send + Sync>> {
        Ok(SavedAs(ContentDisposition::parse(text)?.display()))
    }

    fn display(&self) -> HeaderValue {
        self.0.clone()
    }
}

/// The name as parameters, each on a line of its own: a line of a mail has 998 characters at most.
fn parameters(name: &str) -> String {
    let mut lines = vec![String::new()];
    for character in name.chars() {
        let text = character.to_string();
        let encoded = utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string();
        match lines.last_mut() {
            Some(line) if line.len() + encoded.len() <= MAX_LINE_CHARS => line.push_str(&encoded),
            _ => lines.push(encoded),
        }
    }
    let mut parameters = String::new();
    for (number, line) in lines.iter().enumerate() {
        let charset = if number == 0 { "utf-8''" } else { "" };
        let _ = write!(parameters, ";\r\n filename*{number}*={charset}{line}");
    }
    parameters
}

#[cfg(test)]
mod tests {
    use lettre::message::header::Headers;

    use super::SavedAs;

    fn header(name: &str) -> String {
        let mut headers = Headers::new();
        headers.set(SavedAs::new(name));
        headers.to_string()
    }

    #[test]
    fn what_looks_like_an_encoded_word_is_not_quoted() {
        assert_eq!(
            header("a b.txt"),
            "Content-Disposition: attachment; filename=\"a b.txt\"\r\n"
        );
        assert_eq!(
            header("=?utf-8?B?eA==?="),
            "Content-Disposition: attachment;\r\n \
             filename*0*=utf-8''%3D%3Futf%2D8%3FB%3FeA%3D%3D%3F%3D\r\n"
        );
    }

    #[test]
    fn no_line_is_long() {
        let text = header(&format!("=?{}", "\u{10348}".repeat(253)));
        assert!(text.lines().all(|line| line.len() <= 78), "{text}");
        // A character stands on one line.
        assert!(text.contains("filename*1*=%F0%90%8D%88"), "{text}");
        assert!(text.ends_with("%88\r\n"), "{text}");
    }
}
