//! How a browser treats what people uploaded: saved under a name, or shown where that is safe.

use std::fmt::Write as _;

use axum::http::HeaderValue;

/// How a browser treats content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// It is saved, never shown.
    Saved,
    /// A picture, a sound or a film.
    Media,
    /// A document of pages, whose viewer does not work in a sandbox.
    Pages,
    /// Plain text.
    Text,
}

impl Shown {
    /// How a stored type may be shown. Neither bytes nor names are looked at, and nothing that could run anything is
    /// ever shown.
    pub fn of(content_type: &str) -> Shown {
        let essence = content_type.split(';').next().unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        match essence.as_str() {
            "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif" => Shown::Media,
            "application/pdf" => Shown::Pages,
            "text/plain" => Shown::Text,
            _ if essence.ends_with("+xml") => Shown::Saved,
            _ if essence.starts_with("audio/") || essence.starts_with("video/") => Shown::Media,
            _ => Shown::Saved,
        }
    }

    /// The policy under which a browser has it.
    pub fn policy(self) -> &'static str {
        match self {
            Shown::Saved | Shown::Text => "sandbox; default-src 'none'",
            Shown::Media => "sandbox; default-src 'none'; img-src 'self'; media-src 'self'",
            Shown::Pages => "default-src 'none'",
        }
    }

    /// The header, with a name that every client reads (RFC 6266).
    pub fn disposition(self, name: &str) -> HeaderValue {
        let mut text = String::from(if self == Shown::Saved {
            "attachment"
        } else {
            "inline"
        });
        let plain: String = name
            .chars()
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect();
        let _ = write!(text, "; filename=\"{plain}\"");
        if plain != name {
            text.push_str("; filename*=UTF-8''");
            for byte in name.bytes() {
                if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
                    text.push(char::from(byte));
                } else {
                    let _ = write!(text, "%{byte:02X}");
                }
            }
        }
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("attachment"))
    }
}

/// Characters that stand in quotation marks as they are, and that no client takes for something else.
fn is_plain(character: char) -> bool {
    matches!(character, ' '..='~') && !matches!(character, '"' | '\\' | '%')
}

#[cfg(test)]
mod tests {
    use super::Shown;

    #[test]
    fn what_could_run_is_never_shown() {
        for (content_type, shown) in [
            ("image/png", Shown::Media),
            ("Image/PNG; charset=x", Shown::Media),
            ("text/plain;charset=utf-8", Shown::Text),
            ("application/pdf", Shown::Pages),
            ("image/jpeg", Shown::Media),
            ("image/gif", Shown::Media),
            ("image/webp", Shown::Media),
            ("image/avif", Shown::Media),
            ("audio/mpeg", Shown::Media),
            ("audio/ogg; codecs=opus", Shown::Media),
            ("video/mp4", Shown::Media),
            ("video/x+xml", Shown::Saved),
            ("image/bmp", Shown::Saved),
            ("text/plain+x", Shown::Saved),
            ("audio/x+xml", Shown::Saved),
            ("image/svg+xml", Shown::Saved),
            ("text/html", Shown::Saved),
            ("application/xhtml+xml", Shown::Saved),
            ("text/xml", Shown::Saved),
            ("application/xml", Shown::Saved),
            ("text/javascript", Shown::Saved),
            ("image/png, text/html", Shown::Saved),
            ("image/pngx", Shown::Saved),
            ("", Shown::Saved),
        ] {
            assert_eq!(Shown::of(content_type), shown, "{content_type}");
        }
    }

    #[test]
    fn hostile_names_stay_in_their_header() {
        let header = |name: &str| {
            let value = Shown::Saved.disposition(name);
            value.to_str().expect("ASCII").to_owned()
        };
        assert_eq!(header("a b.txt"), "attachment; filename=\"a b.txt\"");
        assert_eq!(
            header("a\"; x=\"b"),
            "attachment; filename=\"a_; x=_b\"; filename*=UTF-8''a%22%3B%20x%3D%22b"
        );
        assert_eq!(
            header("é\u{202E}'*%(.txt"),
            "attachment; filename=\"__'*_(.txt\"; filename*=UTF-8''%C3%A9%E2%80%AE%27%2A%25%28.txt"
        );
        assert!(header(&"ü".repeat(255)).len() < 2000);
    }
}
