//! Identities: uids of entries, ids of steps, and the UUIDs that must not travel.

/// Whether `text` is `u_` and a version 4 UUID (hex digits in either case).
pub fn is_uid(text: &str) -> bool {
    text.strip_prefix("u_").is_some_and(is_uuid_v4)
}

/// Whether `text` is a version 4 UUID of the RFC 9562 variant, with hyphens.
pub fn is_uuid_v4(text: &str) -> bool {
    let bytes = text.as_bytes();
    is_uuid(text)
        && bytes[14] == b'4'
        && matches!(bytes[19], b'8' | b'9' | b'a' | b'b' | b'A' | b'B')
}

/// Whether `text` as a whole is a UUID with hyphens, of any version.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid_at(text.as_bytes(), 0)
}

/// Whether `text` as a whole is a step id: `stp_` and twelve ASCII letters or digits.
pub fn is_step_id(text: &str) -> bool {
    text.strip_prefix("stp_").is_some_and(|tail| {
        tail.len() == 12 && tail.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The first UUID with hyphens inside `text` that is not part of a `u_` uid.
pub fn foreign_uuid(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let last = bytes.len().checked_sub(36)?;
    let mut at = 0;
    while at <= last {
        if bytes[at + 8] == b'-' && uuid_at(bytes, at) {
            let before = &bytes[..at];
            let continues = before.last().is_some_and(u8::is_ascii_hexdigit)
                || bytes.get(at + 36).is_some_and(u8::is_ascii_hexdigit);
            if !before.ends_with(b"u_") && !continues {
                return text.get(at..at + 36);
            }
            at += 36;
        } else {
            at += 1;
        }
    }
    None
}

fn uuid_at(bytes: &[u8], at: usize) -> bool {
    // Every row has a uid: without early exits the runs of digits are compared many at a time.
    let hex = |run: &[u8]| {
        run.iter()
            .fold(true, |all, byte| all & byte.is_ascii_hexdigit())
    };
    bytes.get(at..at + 36).is_some_and(|window| {
        [8, 13, 18, 23].iter().all(|hyphen| window[*hyphen] == b'-')
            && hex(&window[24..])
            && hex(&window[..8])
            && hex(&window[9..13])
            && hex(&window[14..18])
            && hex(&window[19..23])
    })
}

#[cfg(test)]
mod tests {
    use super::{foreign_uuid, is_step_id, is_uid};

    #[test]
    fn uids_are_version_4() {
        assert!(is_uid("u_da94e3e8-ab73-438f-af18-22ffbc688778"));
        assert!(is_uid("u_DA94E3E8-AB73-438F-AF18-22FFBC688778"));
        for wrong in [
            "da94e3e8-ab73-438f-af18-22ffbc688778",
            "u_da94e3e8-ab73-138f-af18-22ffbc688778",
            "u_da94e3e8-ab73-438f-cf18-22ffbc688778",
            "u_da94e3e8ab73438faf1822ffbc688778",
            "u_da94e3e8-ab73-438f-af18-22ffbc68877",
        ] {
            assert!(!is_uid(wrong), "{wrong}");
        }
    }

    #[test]
    fn ids_inside_text_are_found_and_uids_are_not() {
        let id = "da94e3e8-ab73-138f-af18-22ffbc688778";
        assert_eq!(foreign_uuid(&format!("see {id}!")), Some(id));
        assert_eq!(foreign_uuid(&format!("u_{id}")), None);
        assert_eq!(foreign_uuid(&format!("u_{id} {id}")), Some(id));
        assert_eq!(foreign_uuid(&format!("é{id}é")), Some(id));
        assert_eq!(foreign_uuid("short"), None);
    }

    #[test]
    fn step_ids_have_twelve_characters() {
        assert!(is_step_id("stp_n8zgRboutP7T"));
        assert!(!is_step_id("stp_n8zgRboutP7"));
        assert!(!is_step_id("stp_n8zgRbout_7T"));
    }
}
