//! Whether a page or picture is whole: tags close in order, attributes are quoted, nothing that
//! stands in text could be read as a tag.

/// Asserts that a text is well-formed in the way of XML.
#[track_caller]
pub(crate) fn assert_well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        assert_text(before);
        let end = tag.find('>').expect("a tag that ends");
        let (inside, after) = (&tag[1..end], &tag[end + 1..]);
        rest = after;
        if inside.starts_with("!doctype") {
            continue;
        }
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
            continue;
        }
        let name = inside.split([' ', '/', '\n']).next().expect("a name");
        let is_name = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        assert!(!name.is_empty() && is_name(name), "<{inside}>");
        assert_eq!(inside.matches('"').count() % 2, 0, "<{inside}>");
        if name == "style" {
            let end = rest.find("</style>").expect("a style that ends");
            rest = &rest[end + "</style>".len()..];
        } else if !inside.ends_with('/') {
            open.push(name);
        }
    }
    assert_text(rest);
    assert_eq!(open, Vec::<&str>::new(), "tags left open");
}

#[track_caller]
fn assert_text(text: &str) {
    for (at, _) in text.match_indices('&') {
        let entity = &text[at..text.len().min(at + 8)];
        assert!(
            [
                "&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&nbsp;", "&#160;"
            ]
            .iter()
            .any(|known| entity.starts_with(known)),
            "{entity}"
        );
    }
    let odd = |character: char| character.is_control() && character != '\n';
    assert!(!text.contains(odd), "{text:?}");
}
