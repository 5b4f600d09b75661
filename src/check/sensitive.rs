//! Finds texts that a package must not contain: tenant identifiers and possible secrets.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::finding::Place;
use crate::json::Node;

/// The two identifiers, as literal substrings of any decoded key or string.
pub(crate) const TENANT_IDENTIFIERS: [&str; 2] = ["organization_id", "workspace_id"];

/// What secrets begin with.
const BEGINNINGS: [&str; 16] = [
    "-----BEGIN",
    "eyJ",
    "AKIA",
    "ASIA",
    "AIza",
    "ghp_",
    "gho_",
    "github_pat_",
    "sk_live_",
    "sk_test_",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "platform_sk_",
];

/// Length of the longest word that [`patterns`] finds.
pub(crate) const LONGEST_PATTERN: usize = "organization_id".len();

/// A search for everything that this module knows, in one pass: nearly every text has none of it.
pub(crate) fn patterns() -> &'static AhoCorasick {
    static PATTERNS: OnceLock<AhoCorasick> = OnceLock::new();
    PATTERNS.get_or_init(|| {
        AhoCorasick::builder()
            // Lets the search use its vectorised form.
            .match_kind(MatchKind::LeftmostFirst)
            .build(TENANT_IDENTIFIERS.iter().chain(&BEGINNINGS))
            .expect("eighteen short words build")
    })
}

/// The tenant identifier inside a decoded text.
pub(crate) fn tenant_in(text: &str) -> Option<&'static str> {
    if !patterns().is_match(text) {
        return None;
    }
    TENANT_IDENTIFIERS
        .into_iter()
        .find(|identifier| text.contains(identifier))
}

/// What kind of secret a decoded text looks like.
pub(crate) fn secret_in(text: &str) -> Option<&'static str> {
    if !patterns().is_match(text) {
        return None;
    }
    if holds_jwt(text) {
        return Some("a JSON Web Token");
    }
    BEGINNINGS.iter().find_map(|beginning| {
        text.match_indices(beginning)
            .find_map(|(at, _)| kind_of(beginning, text, at))
    })
}

/// The longest tail that is asked for, and a little; without a bound, repeated beginnings would
/// cost.
const MAX_TAIL_BYTES: usize = 40;

/// What begins at `at` of `text`, where `beginning` stands.
fn kind_of(beginning: &str, text: &str, at: usize) -> Option<&'static str> {
    let after = &text[at + beginning.len()..];
    let capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let run = |allowed: &dyn Fn(&u8) -> bool| {
        after
            .as_bytes()
            .iter()
            .take(MAX_TAIL_BYTES)
            .take_while(|byte| allowed(byte))
            .count()
    };
    let (fits, kind) = match beginning {
        "-----BEGIN" => (is_private_key(after), "a private key"),
        "eyJ" => return None, // Looked for as a whole.
        "AKIA" | "ASIA" => (run(&capital) >= 16, "an AWS access key"),
        "AIza" => (run(&|byte| is_base64url(*byte)) >= 35, "a Google API key"),
        "ghp_" | "gho_" | "github_pat_" => {
            (run(&|byte| is_base64url(*byte)) >= 10, "a GitHub token")
        }
        "sk_live_" | "sk_test_" => (run(&|byte| is_base64url(*byte)) >= 10, "a Stripe key"),
        "platform_sk_" => (
            run(&|byte| is_base64url(*byte)) >= 10,
            "an API key of the platform",
        ),
        _ => (run(&|byte| is_base64url(*byte)) >= 10, "a Slack token"),
    };
    fits.then_some(kind)
}

/// What follows `-----BEGIN`: ` … PRIVATE KEY` before the dashes.
fn is_private_key(after: &str) -> bool {
    after
        .split_once("-----")
        .is_some_and(|(title, _)| title.contains("PRIVATE KEY") && !title.contains('\n'))
}

/// Whether a text holds `eyJ…`, a dot, a part, a dot and another part, all of base64url.
///
/// Piece by piece between the dots, so that a text of nothing but `eyJ` is still read once.
fn holds_jwt(text: &str) -> bool {
    let mut pieces = text.split('.').map(str::as_bytes);
    let mut header = pieces.next().is_some_and(ends_like_a_header);
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let is_part = !piece.is_empty() && piece.iter().copied().all(is_base64url);
        let signed = pieces
            .peek()
            .is_some_and(|next| next.first().copied().is_some_and(is_base64url));
        if header && is_part && signed {
            return true;
        }
        header = ends_like_a_header(piece);
    }
    false
}

/// Whether the base64url text at the end of a piece holds `eyJ` and more.
fn ends_like_a_header(piece: &[u8]) -> bool {
    let length = piece
        .iter()
        .rev()
        .take_while(|byte| is_base64url(**byte))
        .count();
    let tail = &piece[piece.len() - length..];
    memchr::memmem::find(tail, b"eyJ").is_some_and(|at| at + 3 < tail.len())
}

fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A secret in a member's key or value.
pub(super) fn secret(node: Node<'_>) -> Option<(&'static str, Place)> {
    if let Some(kind) = node.key().and_then(secret_in) {
        return Some((kind, Place::key(node)));
    }
    node.as_str()
        .and_then(secret_in)
        .map(|kind| (kind, Place::value(node)))
}

/// A tenant identifier in a member's key or value; one place when both hold one.
pub(super) fn tenant(node: Node<'_>) -> Option<(Place, String)> {
    let (identifier, place, what) = match node.key().and_then(tenant_in) {
        Some(identifier) => (identifier, Place::key(node), "key"),
        None => (
            node.as_str().and_then(tenant_in)?,
            Place::value(node),
            "text",
        ),
    };
    Some((place, format!("the {what} holds `{identifier}`")))
}

#[cfg(test)]
mod tests {
    use super::{secret_in, tenant_in};

    #[test]
    fn secrets_are_recognised_and_near_misses_are_not() {
        for secret in [
            "x AKIAIOSFODNN7EXAMPLE y",
            "ghp_abcdefghij",
            "platform_sk_0123456789",
            "-----BEGIN RSA PRIVATE KEY-----\nMII",
            "-----BEGIN PRIVATE KEY-----",
            "eyJhbGciOi.eyJzdWIi.c2ln",
            "ghp_short ghp_longenough1",
        ] {
            assert!(secret_in(secret).is_some(), "{secret}");
        }
        for harmless in [
            "AKIA",
            "AKIAIOSFODNN7EXAMPL",
            "ghp_short",
            "-----BEGIN CERTIFICATE-----",
            "eyJhbGciOi.eyJz",
            "heyJ.a.b",
            "AIza",
        ] {
            // "heyJ.a.b" holds eyJ followed by a dot at once: no header.
            assert_eq!(secret_in(harmless), None, "{harmless}");
        }
    }

    #[test]
    fn the_longest_pattern_is_that_long() {
        let words = super::TENANT_IDENTIFIERS.iter().chain(&super::BEGINNINGS);
        assert_eq!(
            words.map(|word| word.len()).max(),
            Some(super::LONGEST_PATTERN)
        );
    }

    #[test]
    fn tenant_identifiers_are_substrings() {
        assert_eq!(tenant_in("my_workspace_id_2"), Some("workspace_id"));
        assert_eq!(tenant_in("workspaceId"), None);
    }
}
