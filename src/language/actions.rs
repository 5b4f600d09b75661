//! One text made into another by a small edit, so that an editor keeps cursors and folds.

use crate::finding::Edit;

/// The edit that makes `old` into `new`: what both begin and end with stays. Nothing when they are the same.
pub fn changed(old: &str, new: &str) -> Option<Edit> {
    if old == new {
        return None;
    }
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let mut start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(start)
        || !new.is_char_boundary(start)
        || splits_line_end(old, start)
    {
        start -= 1;
    }
    let rest = a.len().min(b.len()) - start;
    let same = a.iter().rev().zip(b.iter().rev()).take(rest);
    let mut end = same.take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(a.len() - end)
        || !new.is_char_boundary(b.len() - end)
        || splits_line_end(old, a.len() - end)
    {
        end -= 1;
    }
    Some(Edit {
        span: start..a.len() - end,
        text: new[start..b.len() - end].to_owned(),
    })
}

/// Whether a place is between CR and LF, which no editor can name.
fn splits_line_end(text: &str, at: usize) -> bool {
    text[..at].ends_with('\r') && text[at..].starts_with('\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::changed;

    proptest! {
        #[test]
        fn the_edit_makes_the_new_text(old in "[aé😀\r\n]{0,12}", new in "[aé😀\r\n]{0,12}") {
            match changed(&old, &new) {
                None => prop_assert_eq!(old, new),
                Some(edit) => {
                    let mut text = old.clone();
                    text.replace_range(edit.span, &edit.text);
                    prop_assert_eq!(text, new);
                }
            }
        }
    }
}
