//! Fixing: the edits of findings applied to a text, again and again until nothing is left to do.
//!
//! Goes in: the text of a file. Comes out: text, with its byte-order mark and line ends as they
//! were. The rounds are those of a folder, too, whose edits are made in its files.

use std::collections::BTreeMap;

use crate::finding::catalog::{J001, J010};
use crate::finding::fix::{choose, rewrite};
use crate::finding::position::without_mark;
use crate::finding::{Edit, Finding, Fix, Rule, edit};
use crate::json::{Doc, Node, write_string};
use crate::package::reference::is_declaration;

/// How often a text is checked and fixed before fixing gives up.
pub const MAX_ROUNDS: usize = 10;

/// What fixing a text came to.
#[derive(Debug)]
pub struct Fixed {
    /// The bytes as they should be, byte-order mark included.
    pub bytes: Vec<u8>,
    /// How many findings of each rule were fixed.
    pub fixed: BTreeMap<&'static str, usize>,
    /// Whether they differ from what they were; declarations may, without any finding.
    pub changed: bool,
    /// Whether fixing ended because nothing was left to do.
    pub stable: bool,
}

impl Fixed {
    /// How many findings were fixed.
    pub fn count(&self) -> usize {
        self.fixed.values().sum()
    }
}

/// Checks and fixes `bytes` in turns until no fix is left, at most [`MAX_ROUNDS`] times.
///
/// `check` gives the findings of a text whose fixes are wanted (and no others). A round that would
/// leave something that is not JSON any more is taken back.
pub fn apply_fixes(bytes: &[u8], mut check: impl FnMut(&[u8]) -> Vec<Finding>) -> Fixed {
    let rounds = FixRounds::run(File(bytes.to_vec()), |file| check(&file.0));
    Fixed {
        changed: rounds.subject.0 != bytes,
        bytes: rounds.subject.0,
        fixed: rounds.fixed,
        stable: rounds.stable,
    }
}

/// Something that is fixed.
pub(super) trait Subject: Sized {
    /// The text that findings point into; nothing when it is not text.
    fn text(&self) -> Option<&str>;
    /// Whether edits of the text can be made.
    fn takes(&self, fix: &Fix) -> bool;
    /// The same with these edits made.
    fn with(&self, edits: &[&Edit]) -> Option<Self>;
}

/// A packed file.
struct File(Vec<u8>);

impl Subject for File {
    fn text(&self) -> Option<&str> {
        std::str::from_utf8(without_mark(&self.0)).ok()
    }

    fn takes(&self, _: &Fix) -> bool {
        true
    }

    fn with(&self, edits: &[&Edit]) -> Option<File> {
        let text = rewrite(self.text()?, edits)?;
        let mark = &self.0[..self.0.len() - without_mark(&self.0).len()];
        Some(File([mark, text.as_bytes()].concat()))
    }
}

/// What fixing something came to.
pub(super) struct FixRounds<S> {
    pub(super) subject: S,
    pub(super) fixed: BTreeMap<&'static str, usize>,
    pub(super) stable: bool,
}

impl<S: Subject> FixRounds<S> {
    pub(super) fn run(subject: S, mut check: impl FnMut(&S) -> Vec<Finding>) -> FixRounds<S> {
        let mut rounds = FixRounds {
            subject,
            fixed: BTreeMap::new(),
            stable: false,
        };
        let mut findings = check(&rounds.subject);
        for _ in 0..MAX_ROUNDS {
            let subject = &rounds.subject;
            let takes = |fix: &&Fix| subject.takes(fix);
            let (rules, fixes): (Vec<&Rule>, Vec<&Fix>) = findings
                .iter()
                .filter_map(|finding| Some((finding.rule, finding.fix.as_ref().filter(takes)?)))
                .unzip();
            let Some((edits, made)) = subject.text().and_then(|text| choose(text, &fixes)) else {
                rounds.stable = true;
                break;
            };
            let Some(candidate) = subject.with(&edits) else {
                break;
            };
            let after = check(&candidate);
            if candidate.text() == subject.text() || unreadable(&after) > unreadable(&findings) {
                break;
            }
            for index in made {
                *rounds.fixed.entry(rules[index].code).or_default() += 1;
            }
            rounds.subject = candidate;
            findings = after;
        }
        let undollared = rounds.subject.text().and_then(undollar);
        let undollared = undollared.filter(|fix| rounds.subject.takes(fix));
        if let Some(fix) = undollared {
            let edits: Vec<&Edit> = fix.edits.iter().collect();
            rounds.subject = rounds.subject.with(&edits).unwrap_or(rounds.subject);
        }
        rounds
    }
}

/// How many places could not be read.
fn unreadable(findings: &[Finding]) -> usize {
    let unreadable = [&J001, &J010];
    findings
        .iter()
        .filter(|finding| unreadable.contains(&finding.rule))
        .count()
}

/// The elements of a list that a holder may have.
fn entries<'d>(holder: Option<Node<'d>>, key: &str) -> impl Iterator<Item = Node<'d>> {
    let list = holder.and_then(|holder| holder.get(key));
    list.into_iter().flat_map(Node::elements)
}

/// Declarations without the dollar that readers tolerate and the canonical form drops; nothing
/// when there is none. No finding speaks of them, so they are fixed next to the findings.
fn undollar(text: &str) -> Option<Fix> {
    let doc = Doc::parse_package(text).ok()?;
    let root = doc.root();
    let manifest = root.get("manifest").unwrap_or(root);
    manifest.get("templateVersion")?;
    let plan = manifest.get("plan");
    let mut holders: Vec<Node<'_>> = entries(Some(manifest), "items").collect();
    holders.extend(entries(plan, "steps"));
    for dependency in entries(Some(manifest), "dependencies") {
        holders.push(dependency);
        holders.extend(entries(dependency.get("identity"), "columns"));
        holders.extend(entries(dependency.get("blueprint"), "steps"));
    }
    let refs = holders.into_iter().filter_map(|holder| holder.get("ref"));
    let tables = entries(Some(root), "payloads").filter_map(|entry| entry.get("featureRef"));
    let mut edits: Vec<Edit> = refs
        .chain(entries(plan, "externalRefs"))
        .chain(tables)
        .filter_map(|node| {
            let name = node.as_str()?.strip_prefix('$')?;
            is_declaration(name).then(|| edit::replace(node, write_string(name)))
        })
        .collect();
    edits.sort_by_key(|edit| edit.span.start);
    let any = !edits.is_empty();
    any.then(|| Fix {
        title: "Drop the dollars of declarations".to_owned(),
        safe: true,
        edits,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn declarations_lose_the_dollar_that_uses_keep() {
        let text = "\u{feff}{\"templateVersion\": 1, \"plan\": {\"steps\": [{\"ref\": \"$f_a\", \"args\": {\"x\": \"$f_a\"}}]}}";
        let fixed_text = super::apply_fixes(text.as_bytes(), |_| Vec::new());
        assert!(fixed_text.changed);
        assert_eq!(fixed_text.count(), 0);
        assert_eq!(
            fixed_text.bytes,
            text.replacen("$f_a", "f_a", 1).into_bytes()
        );
    }

    use super::{Fixed, apply_fixes};
    use crate::finding::catalog::R003;
    use crate::finding::{Edit, Finding, Fix, Place};

    fn fix(edits: &[(usize, usize, &str)]) -> Fix {
        let edits = edits.iter().map(|(start, end, text)| Edit {
            span: *start..*end,
            text: (*text).to_owned(),
        });
        Fix {
            title: "fix".to_owned(),
            safe: true,
            edits: edits.collect(),
        }
    }

    /// A made-up rule: every `a` becomes `b`, every `b` becomes `c`.
    fn next_letters(bytes: &[u8]) -> Vec<Finding> {
        let text = std::str::from_utf8(super::without_mark(bytes)).expect("UTF-8");
        let found = text.char_indices().filter_map(|(at, letter)| {
            let next = match letter {
                'a' => "b",
                'b' => "c",
                _ => return None,
            };
            let place = Place {
                pointer: String::new(),
                span: at..at + 1,
            };
            Some(Finding::new(&R003, place, "next").fix(fix(&[(at, at + 1, next)])))
        });
        found.collect()
    }

    #[test]
    fn fixing_goes_on_until_nothing_is_left_and_keeps_mark_and_line_ends() {
        let Fixed {
            bytes,
            fixed,
            stable,
            ..
        } = apply_fixes("\u{feff}ab\r\nz".as_bytes(), next_letters);
        assert_eq!(bytes, "\u{feff}cc\r\nz".as_bytes());
        assert_eq!(fixed.get("R003"), Some(&3));
        assert!(stable);
    }

    #[test]
    fn fixing_that_never_ends_is_ended() {
        let flip = |bytes: &[u8]| {
            let place = Place {
                pointer: String::new(),
                span: 0..1,
            };
            let other = if bytes == b"0" { "1" } else { "0" };
            vec![Finding::new(&R003, place, "flip").fix(fix(&[(0, 1, other)]))]
        };
        let fixed_text = apply_fixes(b"0", flip);
        assert!(!fixed_text.stable);
        assert_eq!(fixed_text.count(), super::MAX_ROUNDS);
    }
}
