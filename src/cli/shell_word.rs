//! A word as it is typed into a shell: for commands that messages suggest, and of those that somebody types.

use std::borrow::Cow;
use std::path::Path;

use tplkit::printable;

/// The word, in quotes where a shell would take it apart or change it.
pub(crate) fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// A path as a shell word, with control characters replaced. It is never read as an option.
pub(crate) fn shell_path(path: &Path) -> String {
    let word = printable::path(path);
    if word.starts_with('-') && word != "-" {
        return shell_word(&format!("./{word}")).into_owned();
    }
    shell_word(&word).into_owned()
}

/// What a word means that is typed: without its quotes, also one that nobody has closed yet.
pub(crate) fn unquoted(typed: &str) -> String {
    let mut meant = String::new();
    let mut quote = None;
    let mut rest = typed.chars();
    while let Some(char) = rest.next() {
        match (char, quote) {
            ('\'' | '"', None) => quote = Some(char),
            (_, Some(open)) if char == open => quote = None,
            ('\\', None | Some('"')) => meant.extend(rest.next()),
            _ => meant.push(char),
        }
    }
    meant
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{shell_path, shell_word, unquoted};

    #[test]
    fn what_was_quoted_is_meant() {
        for (typed, meant) in [
            (r"sp\ ace/x.json", "sp ace/x.json"),
            (r#""sp ace/x.json""#, "sp ace/x.json"),
            (r#""a\"b"#, r#"a"b"#),
            (r"'a\b'", r"a\b"),
            ("a'b c'd", "ab cd"),
            ("plain", "plain"),
        ] {
            assert_eq!(unquoted(typed), meant, "{typed}");
            let word = shell_word(meant);
            assert_eq!(unquoted(&word), meant, "{word}");
        }
    }

    #[test]
    fn only_what_needs_quotes_has_them() {
        assert_eq!(shell_word("Acme/coffee_shop"), "Acme/coffee_shop");
        assert_eq!(shell_word("Coffee shop"), "'Coffee shop'");
        assert_eq!(shell_word("Ann's $HOME"), r"'Ann'\''s $HOME'");
        assert_eq!(shell_word("Café"), "'Café'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_path(Path::new("a/b c.plan")), "'a/b c.plan'");
        assert_eq!(shell_path(Path::new("-pk.json")), "./-pk.json");
        assert_eq!(shell_path(Path::new("-p k.json")), "'./-p k.json'");
        assert_eq!(shell_path(Path::new("a/-pk.json")), "a/-pk.json");
        assert_eq!(shell_path(Path::new("-")), "-");
    }
}
