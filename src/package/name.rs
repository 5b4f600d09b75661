//! Technical names: what the platform accepts as the name of a table, column, view, module, rail,
//! and how one is made from a label.

use unicode_normalization::UnicodeNormalization as _;

/// How many characters a technical name has at most.
pub const MAX_CHARS: usize = 63;

/// The name that follows from a label (`rest` 3.2): decomposed, marks dropped, in lower case, ASCII
/// letters and digits kept, everything between them one `_`; `n_` before what begins with no
/// letter, `otherwise` when nothing is left.
pub fn derive(label: &str, otherwise: &str) -> String {
    let mut name = String::new();
    let plain = label.nfd().filter(|character| !is_mark(*character));
    for character in plain.flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            name.push(character);
        } else if !is_mark(character) && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    name.truncate(name.trim_end_matches('_').len());
    if name.is_empty() {
        otherwise.clone_into(&mut name);
    } else if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name.insert_str(0, "n_");
    }
    name.truncate(MAX_CHARS);
    name.truncate(name.trim_end_matches('_').len());
    name
}

fn is_mark(character: char) -> bool {
    unicode_normalization::char::is_combining_mark(character)
}

/// `name` itself, or with the first of `_2`, `_3`… that is not taken, cut so that it stays a name.
pub fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    let mut number = 2u64;
    loop {
        let suffix = format!("_{number}");
        let kept: String = name.chars().take(MAX_CHARS - suffix.len()).collect();
        let tried = format!("{}{suffix}", kept.trim_end_matches('_'));
        if !taken(&tried) {
            return tried;
        }
        number += 1;
    }
}

/// Why the platform does not accept a technical name.
pub fn fault(name: &str) -> Option<&'static str> {
    let length = name.chars().count();
    if length == 0 {
        return Some("it is empty");
    }
    if length > MAX_CHARS {
        return Some("it is longer than 63 characters");
    }
    if name.contains([':', ',', '.', '{', '}', '"']) {
        return Some("it holds one of : , . { } \"");
    }
    // Control characters are U+0000 to 1F and 7F to 9F.
    if name.chars().any(char::is_control) {
        return Some("it holds a control character");
    }
    let at_end = |character: Option<char>| character.is_some_and(char::is_whitespace);
    if at_end(name.chars().next()) || at_end(name.chars().next_back()) {
        return Some("it begins or ends with a space");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{derive, fault, free};

    #[test]
    fn names_are_derived_from_labels() {
        for (label, name) in [
            ("Ordens de serviço", "ordens_de_servico"),
            ("  ÉTÉ -- 2024! ", "ete_2024"),
            ("2024", "n_2024"),
            ("日本", "table"),
            ("", "table"),
            ("İstanbul", "istanbul"),
            ("a__b", "a_b"),
        ] {
            assert_eq!(derive(label, "table"), name, "{label}");
        }
        assert_eq!(derive(&"ab ".repeat(40), "x").len(), 62);
    }

    #[test]
    fn taken_names_are_counted_on() {
        let taken = ["a", "a_2"];
        assert_eq!(free("a", |name| taken.contains(&name)), "a_3");
        assert_eq!(free("b", |name| taken.contains(&name)), "b");
        let long = "é".repeat(63);
        let found = free(&long, |name| name == long);
        assert_eq!((found.chars().count(), found.ends_with("_2")), (63, true));
    }

    #[test]
    fn names_are_accepted_up_to_the_last_character() {
        for good in [
            "a",
            "Nome Completo",
            "x-y_z/1 (b)",
            "日本語",
            &"a".repeat(63),
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "",
            " a",
            "a\u{a0}",
            "a.b",
            "a:b",
            "a,b",
            "{a",
            "a}",
            "a\"",
            "a\u{85}",
            &"é".repeat(64),
        ] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
