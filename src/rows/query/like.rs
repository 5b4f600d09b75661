//! Patterns: `*` matches any text, including none; every other character matches itself.

/// Whether the whole text is of the pattern. Both are compared as they are.
pub fn like(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return text == pattern;
    };
    let Some(mut text) = text.strip_prefix(head) else {
        return false;
    };
    let (between, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The first place of a part leaves the most for those behind it.
    for part in between.split('*') {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::like;

    #[test]
    fn only_the_star_is_special() {
        for (pattern, text, is) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "a\nb", true),
            ("**", "", true),
            ("a*", "a", true),
            ("a*", "ba", false),
            ("*a", "ba", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("ab*ba", "aba", false),
            ("*b*", "abc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("*ab*ab*", "ab", false),
            ("*ab*ab*", "xabyabz", true),
            ("50%", "50%", true),
            ("50%", "500", false),
            ("a_c", "abc", false),
            ("a\\*", "a*", false),
            ("a\\*", "a\\x", true),
            ("[a]", "a", false),
            ("é*", "é", true),
            ("A*", "a", false),
        ] {
            assert_eq!(like(pattern, text), is, "{pattern} {text}");
        }
    }

    /// The definition, tried in every way.
    fn tried(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', rest @ ..] => (0..=text.len()).any(|at| tried(rest, &text[at..])),
            [first, rest @ ..] => text.first() == Some(first) && tried(rest, &text[1..]),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn agrees_with_the_definition(pattern in "[aé*]{0,6}", text in "[aé*]{0,8}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(like(&pattern, &text), tried(&chars(&pattern), &chars(&text)));
        }
    }
}
