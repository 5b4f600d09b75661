//! Edits the text of a manifest: sets and removes members, keeps everything else.

use tplkit::json::{Node, write_string};

use super::identity::Identity;

/// The key whose absence reads as version 1 in the store.
pub(super) const VERSION: &str = "templateVersion";

/// A member and its new value as JSON; without one it goes.
pub(super) type Member<'a> = (&'a str, Option<String>);

/// The manifest with some members changed, and with the version that it has in any case.
pub(super) fn with(manifest: Node<'_>, changes: &[Member<'_>]) -> String {
    let mut text = String::with_capacity(manifest.raw().len() + 64);
    let mut before = '{';
    let mut put = |key: &str, value: &str| {
        text.push(std::mem::replace(&mut before, ','));
        text.push_str(&write_string(key));
        text.push(':');
        text.push_str(value);
    };
    for member in manifest.members() {
        let key = member.key().unwrap_or_default();
        if !changes.iter().any(|(changed, _)| *changed == key) {
            put(key, member.raw());
        }
    }
    for (key, value) in changes {
        if let Some(value) = value {
            put(key, value);
        }
    }
    if manifest.get(VERSION).is_none() {
        put(VERSION, "1");
    }
    text.push('}');
    text
}

/// The canonical text of a manifest as it is in an envelope, and what it says of itself. `versioned`
/// is false when its version was put there for reading alone.
pub(super) fn stored(manifest: Node<'_>, versioned: bool) -> (String, Identity) {
    let identity = Identity::of(manifest);
    let text = if versioned {
        manifest.raw().to_owned()
    } else {
        without_version(manifest)
    };
    (text, identity)
}

/// A manifest in canonical form with another visibility than `org`. Every member has a line of its own,
/// and no text spans lines.
pub(super) fn shown_to(manifest: &str, visibility: &str) -> String {
    let line = |visibility: &str| format!("\n    \"visibility\": \"{visibility}\"");
    manifest.replacen(&line("org"), &line(visibility), 1)
}

/// The text of a manifest in canonical form, cut around one member.
fn without_version(manifest: Node<'_>) -> String {
    let members: Vec<Node<'_>> = manifest.members().collect();
    let found = members
        .iter()
        .position(|member| member.key() == Some(VERSION));
    let start = manifest.span().start;
    let cut = found.map(|at| match (members.get(at + 1), at.checked_sub(1)) {
        (Some(next), _) => members[at].key_span().start..next.key_span().start,
        (None, Some(before)) => members[before].span().end..members[at].span().end,
        (None, None) => members[at].key_span().start..members[at].span().end,
    });
    let mut text = manifest.raw().to_owned();
    if let Some(cut) = cut {
        text.replace_range(cut.start - start..cut.end - start, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use tplkit::json::Doc;
    use tplkit::package::canonical;

    use super::{shown_to, stored, with};

    fn kept(manifest: &str, versioned: bool) -> String {
        let doc = Doc::parse(manifest).expect("JSON");
        let changed = with(doc.root(), &[("visibility", Some("\"org\"".to_owned()))]);
        let envelope = format!("{{\"manifest\":{changed}}}");
        let canonical = canonical::write(&envelope).expect("a package");
        let doc = Doc::parse(&canonical).expect("JSON");
        let manifest = doc.root().get("manifest").expect("a manifest");
        stored(manifest, versioned).0
    }

    #[test]
    fn a_version_that_was_not_there_is_not_stored() {
        for (manifest, versioned, text) in [
            (
                r#"{"templateVersion": 1, "visibility": "system"}"#,
                true,
                "{\n    \"visibility\": \"org\",\n    \"templateVersion\": 1\n  }",
            ),
            ("{}", false, "{\n    \"visibility\": \"org\"\n  }"),
            (
                r#"{"plan": {}, "name": "a"}"#,
                false,
                "{\n    \"name\": \"a\",\n    \"visibility\": \"org\",\n    \"plan\": {}\n  }",
            ),
        ] {
            assert_eq!(kept(manifest, versioned), text, "{manifest}");
        }
    }

    #[test]
    fn a_visibility_is_written_where_it_stands() {
        let text = kept(
            r#"{"name": "\n    \"visibility\": \"org\"", "plan": {}}"#,
            false,
        );
        let shown = shown_to(&text, "system");
        assert_eq!(
            shown,
            text.replace("\"visibility\": \"org\",", "\"visibility\": \"system\",")
        );
        assert_ne!(shown, text);
    }
}
