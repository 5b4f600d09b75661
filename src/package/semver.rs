//! Semantic versions: the grammar of SemVer 2.0, without a limit on the size of its numbers.

/// Whether `text` is a semantic version.
pub fn is_semver(text: &str) -> bool {
    let (rest, build) = split(text, '+');
    let (core, release) = split(rest, '-');
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && release.is_none_or(|release| {
            let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            let sound = |part| is_identifier(part) && (!all_digits(part) || is_number(part));
            release.split('.').all(sound)
        })
        && build.is_none_or(|build| build.split('.').all(is_identifier))
}

/// What is before the first `mark`, and what is after it.
fn split(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// Digits without a needless zero before them.
fn is_number(text: &str) -> bool {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits && (text == "0" || !text.starts_with('0'))
}

fn is_identifier(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !text.is_empty() && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::is_semver;

    #[test]
    fn the_grammar_is_that_of_semver() {
        for good in [
            "0.0.4",
            "1.2.3",
            "10.20.30",
            "1.1.2-prerelease+meta",
            "1.1.2+meta",
            "1.0.0-alpha.beta.1",
            "1.0.0-alpha.0valid",
            "1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay",
            "2.0.0+build.1848",
            "1.0.0-0A.is.legal",
            "1.2.3----RC-SNAPSHOT.12.9.1--.12",
            "1.0.0+0.build.1-rc.10000aaa-kk-0.1",
            "1.0.0+001",
            "18446744073709551616.0.0",
            "99999999999999999999999.999999999999999999.99999999999999999",
            "1.0.0-99999999999999999999999",
        ] {
            assert!(is_semver(good), "{good}");
        }
        for bad in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "v1.0.0",
            "01.0.0",
            "1.02.0",
            "1.0.00",
            "1.0.0-",
            "1.0.0+",
            "1.0.0-01",
            "1.0.0-a..b",
            "1.0.0+a..b",
            "1.0.0+a+b",
            "1.0.0-a_b",
            "1.0.0 ",
            " 1.0.0",
            "1.0.0-é",
            "1..0",
            "+1.0.0",
            "-1.0.0",
            "1.-0.0",
            "1.0.0-.a",
        ] {
            assert!(!is_semver(bad), "{bad}");
        }
    }
}
