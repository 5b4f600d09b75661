//! Semantic versions: the grammar and the precedence of SemVer 2.0, without a limit on the size of its
//! numbers.

use std::cmp::Ordering;

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

/// Which of two versions is the higher one; build data count for nothing. Nothing is said of a text that
/// is not a semantic version.
///
/// ```
/// use std::cmp::Ordering;
/// use tplkit::package::semver::compare;
///
/// assert_eq!(compare("1.10.0", "1.9.0"), Some(Ordering::Greater));
/// assert_eq!(compare("1.0.0-rc.1", "1.0.0"), Some(Ordering::Less));
/// assert_eq!(compare("1.0.0+a", "1.0.0+b"), Some(Ordering::Equal));
/// assert_eq!(compare("1.0", "1.0.0"), None);
/// ```
pub fn compare(one: &str, other: &str) -> Option<Ordering> {
    if !is_semver(one) || !is_semver(other) {
        return None;
    }
    let (one, other) = (split(one, '+').0, split(other, '+').0);
    let ((core, release), (other_core, other_release)) = (split(one, '-'), split(other, '-'));
    let cores = core.split('.').zip(other_core.split('.'));
    let by_core = cores.map(|(one, other)| numbers(one, other));
    let by_release = || match (release, other_release) {
        (None, None) => Ordering::Equal,
        // What is to be released comes before what is.
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(one), Some(other)) => releases(one, other),
    };
    let first = by_core.into_iter().find(|order| order.is_ne());
    Some(first.unwrap_or_else(by_release))
}

/// Numbers of any size without needless zeros: of two, the longer one is the higher.
fn numbers(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

fn releases(one: &str, other: &str) -> Ordering {
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = one.split('.').zip(other.split('.'));
    let by_part = parts.map(|(one, other)| match (is_number(one), is_number(other)) {
        (true, true) => numbers(one, other),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => one.cmp(other),
    });
    let first = by_part.into_iter().find(|order| order.is_ne());
    first.unwrap_or_else(|| one.split('.').count().cmp(&other.split('.').count()))
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
    use std::cmp::Ordering;

    use super::{compare, is_semver};

    #[test]
    fn versions_have_the_order_of_semver() {
        let rising = [
            "0.9.9",
            "1.0.0-0",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.2",
            "1.2.0",
            "1.10.0",
            "2.0.0",
            "18446744073709551616.0.0",
        ];
        for (at, one) in rising.iter().enumerate() {
            for (place, other) in rising.iter().enumerate() {
                assert_eq!(compare(one, other), Some(at.cmp(&place)), "{one} {other}");
            }
        }
        assert_eq!(compare("1.0.0+1", "1.0.0+2"), Some(Ordering::Equal));
        assert_eq!(compare("v1", "1.0.0"), None);
        assert_eq!(compare("1.0.0", ""), None);
    }

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
