//! The media type of a file by the end of its name. Servers keep it as it is sent, so that browsers may show pictures.

/// What it is where the name says nothing.
const UNKNOWN: &str = "application/octet-stream";

/// Ends of names that people upload.
const KNOWN: [(&str, &str); 27] = [
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("heic", "image/heic"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

/// The type of a file of that name.
pub(super) fn of(name: &str) -> &'static str {
    let end = name
        .rsplit_once('.')
        .map(|(_, end)| end.to_ascii_lowercase());
    let known = KNOWN
        .iter()
        .find(|(known, _)| Some(*known) == end.as_deref());
    known.map_or(UNKNOWN, |(_, media_type)| media_type)
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, of};

    #[test]
    fn the_end_of_a_name_says_what_it_is() {
        assert_eq!(of("photo.PNG"), "image/png");
        assert_eq!(of("a.tar.gz"), "application/gzip");
        for name in ["png", "photo.png.bak", "", "photo.", ".hidden"] {
            assert_eq!(of(name), "application/octet-stream", "{name}");
        }
        assert!(KNOWN.is_sorted());
    }
}
