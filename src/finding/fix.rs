//! Fixes: what a tool may do about findings, and the text with as many of them made as fit together.

use std::collections::BTreeMap;
use std::ops::Range;

use super::edit::Edit;

/// A fix that a tool can make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an imperative.
    pub title: String,
    /// Whether the meaning of the package stays what its author surely meant.
    pub safe: bool,
    /// Edits that do not overlap, in any order.
    pub edits: Vec<Edit>,
}

/// Applies the edits of as many fixes as fit together: see [`choose`]. Gives the new text and which
/// fixes were made, or nothing when none was.
pub fn apply(text: &str, fixes: &[&Fix]) -> Option<(String, Vec<usize>)> {
    let (edits, made) = choose(text, fixes)?;
    Some((rewrite(text, &edits)?, made))
}

/// The edits of as many fixes as fit together, in order of place, and which fixes that are; of two
/// that touch the same bytes the earlier one is made, the other waits for the next round.
pub fn choose<'f>(text: &str, fixes: &[&'f Fix]) -> Option<(Vec<&'f Edit>, Vec<usize>)> {
    let mut order: Vec<usize> = (0..fixes.len()).collect();
    order.sort_by_key(|index| {
        fixes[*index]
            .edits
            .iter()
            .map(|edit| (edit.span.start, edit.span.end))
            .min()
    });
    // By where they begin; what is in here never collides, so two neighbours decide.
    let mut edits: BTreeMap<usize, &Edit> = BTreeMap::new();
    let mut made = Vec::new();
    for index in order {
        let fix = fixes[index];
        let fits = |edit: &Edit| {
            let mut neighbours = edits.range(..=edit.span.end).rev().take(2);
            text.get(edit.span.clone()).is_some()
                && neighbours.all(|(_, other)| !collide(&other.span, &edit.span))
        };
        if !fix.edits.is_empty() && fix.edits.iter().all(fits) {
            edits.extend(fix.edits.iter().map(|edit| (edit.span.start, edit)));
            made.push(index);
        }
    }
    made.sort_unstable();
    let any = !made.is_empty();
    any.then(|| (edits.into_values().collect(), made))
}

/// Makes edits that do not collide and are in order of place.
pub fn rewrite(text: &str, edits: &[&Edit]) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.span.start)?);
        out.push_str(&edit.text);
        at = edit.span.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// Whether two edits cannot both be made: they share bytes, or insert at one place.
fn collide(a: &Range<usize>, b: &Range<usize>) -> bool {
    let touch = a.end == b.start || b.end == a.start;
    let overlap = a.start < b.end && b.start < a.end;
    overlap || a.start == b.start || touch && (a.is_empty() || b.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Edit, Fix, apply};

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

    #[test]
    fn fixes_that_fit_are_made_and_others_wait() {
        let (a, b, c) = (
            fix(&[(4, 6, "X"), (0, 1, "_")]),
            fix(&[(5, 7, "Y")]),
            fix(&[(8, 8, "!")]),
        );
        let (text, made) = apply("0123456789", &[&b, &a, &c]).expect("some fit");
        assert_eq!(text, "_123X67!89");
        assert_eq!(made, [1, 2]);
    }

    #[test]
    fn edits_outside_the_text_are_never_made() {
        assert!(apply("é", &[&fix(&[(1, 2, "x")])]).is_none());
        assert!(apply("é", &[&fix(&[(2, 9, "x")])]).is_none());
        assert!(apply("é", &[&fix(&[])]).is_none());
    }
}
