//! Technical names: what the platform accepts as the name of a table, column, view, module, rail.

/// Why the platform does not accept a technical name.
pub fn fault(name: &str) -> Option<&'static str> {
    let length = name.chars().count();
    if length == 0 {
        return Some("it is empty");
    }
    if length > 63 {
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
    use super::fault;

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
