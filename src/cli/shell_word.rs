//! A word as it is typed into a shell, for commands that messages suggest.

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

/// The same of a path, in which what would steer a terminal has a stand-in.
pub(crate) fn shell_path(path: &Path) -> String {
    shell_word(&printable::path(path)).into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{shell_path, shell_word};

    #[test]
    fn only_what_needs_quotes_has_them() {
        assert_eq!(shell_word("Acme/coffee_shop"), "Acme/coffee_shop");
        assert_eq!(shell_word("Coffee shop"), "'Coffee shop'");
        assert_eq!(shell_word("Ann's $HOME"), r"'Ann'\''s $HOME'");
        assert_eq!(shell_word("Café"), "'Café'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_path(Path::new("a/b c.plan")), "'a/b c.plan'");
    }
}
