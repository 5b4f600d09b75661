//! Which names the server gives to what it writes: `ORGANIZATION/xx/SHA256.OBJECT` to objects, `uploads/UPLOAD` to what
//! is still being written. A folder adds `#` and a number while it writes a small one.

use uuid::Uuid;

use super::{NAME, STAGING};

/// Whether a key is that of an object or of an upload.
pub(super) fn is_own(key: &str) -> bool {
    let (key, number) = key.split_once('#').unwrap_or((key, ""));
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let parts: Vec<&str> = key.split('/').collect();
    match parts[..] {
        [STAGING, upload] => Uuid::try_parse(upload).is_ok(),
        [organization, first, name] => {
            let object = name.split_once('.');
            let object =
                object.filter(|(digest, _)| is_digest(digest) && digest.starts_with(first));
            Uuid::try_parse(organization).is_ok()
                && object.is_some_and(|(_, id)| Uuid::try_parse(id).is_ok())
        }
        _ => false,
    }
}

/// Whether a name at the top of a place is one that the server gives.
pub(super) fn is_top(name: &str) -> bool {
    let plain = name.split('#').next().unwrap_or_default();
    plain == NAME || plain == STAGING || Uuid::try_parse(plain).is_ok()
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn names_of_objects_and_uploads_are_known() {
        let id = "0198c0de-0000-7000-8000-0000000000c1";
        let digest = "ab".repeat(32);
        let simple = id.replace('-', "");
        for (key, own) in [
            (format!("{id}/ab/{digest}.{simple}"), true),
            (format!("{id}/ab/{digest}.{simple}#12"), true),
            (format!("uploads/{id}"), true),
            (format!("uploads/{id}#1"), true),
            (format!("{id}/cd/{digest}.{simple}"), false),
            (format!("{id}/ab/{digest}"), false),
            (format!("{id}/ab/{digest}.{simple}.jpg"), false),
            (format!("{id}/photo.jpg"), false),
            ("uploads/photo.jpg".to_owned(), false),
            (format!("below/{id}/ab/{digest}.{simple}"), false),
            (String::new(), false),
        ] {
            assert_eq!(is_own(&key), own, "{key}");
        }
    }
}
