//! Rows that are the same, when no key says so: by content, then by the rows around them.

/// By new row: the earlier one that it is. Rows are numbers that stand for what they hold.
pub(super) fn align(earlier: &[u128], new: &[u128]) -> Vec<Option<usize>> {
    let mut matching = Alignment {
        found: vec![None; new.len()],
        taken: vec![false; earlier.len()],
    };
    // Where no row came or went, cells alone changed: rows that stay keep their place, however
    // often their content is repeated.
    if earlier.len() == new.len() {
        for (at, (one, other)) in earlier.iter().zip(new).enumerate() {
            if one == other {
                matching.pair(at, at);
            }
        }
    }
    matching.by_content(earlier, new);
    matching.by_neighbours();
    matching.found
}

struct Alignment {
    /// By new row.
    found: Vec<Option<usize>>,
    /// By earlier row.
    taken: Vec<bool>,
}

impl Alignment {
    fn pair(&mut self, earlier: usize, new: usize) {
        self.found[new] = Some(earlier);
        self.taken[earlier] = true;
    }

    /// Equal content; repeated content in order.
    fn by_content(&mut self, earlier: &[u128], new: &[u128]) {
        let left = |rows: &[u128], gone: &dyn Fn(usize) -> bool| {
            let rows = rows.iter().copied().enumerate();
            let mut rows: Vec<(u128, usize)> = rows
                .filter(|(at, _)| !gone(*at))
                .map(|(at, content)| (content, at))
                .collect();
            rows.sort_unstable();
            rows
        };
        let earlier_rows = left(earlier, &|at| self.taken[at]);
        let new_rows = left(new, &|at| self.found[at].is_some());
        let mut earlier_rows = earlier_rows.into_iter().peekable();
        for (content, at) in new_rows {
            while earlier_rows
                .next_if(|(other, _)| *other < content)
                .is_some()
            {}
            if let Some((_, old)) = earlier_rows.next_if(|(other, _)| *other == content) {
                self.pair(old, at);
            }
        }
    }

    /// Between two matched neighbours, the ends included, equally many that match nothing are the
    /// same in order.
    fn by_neighbours(&mut self) {
        // Both count from one, so that the ends have a place.
        let (mut before, mut old_before) = (0, 0);
        for at in 1..=self.found.len() + 1 {
            let old = match self.found.get(at - 1) {
                Some(None) => continue,
                Some(Some(old)) => old + 1,
                None => self.taken.len() + 1,
            };
            let count = at - before - 1;
            let neighbours = old.checked_sub(old_before + 1) == Some(count)
                && !self.taken[old_before..old_before + count].contains(&true);
            if neighbours {
                for step in 0..count {
                    self.pair(old_before + step, before + step);
                }
            }
            (before, old_before) = (at, old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::align;

    fn aligned(earlier: &str, new: &str) -> Vec<Option<usize>> {
        let rows = |text: &str| text.bytes().map(u128::from).collect::<Vec<_>>();
        align(&rows(earlier), &rows(new))
    }

    #[test]
    fn equal_content_is_the_same_row_wherever_it_stands() {
        assert_eq!(aligned("abc", "cab"), [Some(2), Some(0), Some(1)]);
        assert_eq!(aligned("abc", "xabc"), [None, Some(0), Some(1), Some(2)]);
        assert_eq!(aligned("abc", "bc"), [Some(1), Some(2)]);
        assert_eq!(aligned("", "a"), [None]);
        assert_eq!(aligned("a", ""), []);
    }

    #[test]
    fn repeated_content_matches_in_order() {
        assert_eq!(aligned("aaa", "aa"), [Some(0), Some(1)]);
        assert_eq!(aligned("aba", "aa"), [Some(0), Some(2)]);
        assert_eq!(aligned("aa", "aaa"), [Some(0), Some(1), None]);
    }

    #[test]
    fn one_changed_cell_moves_no_other_row() {
        assert_eq!(aligned("aab", "xab"), [Some(0), Some(1), Some(2)]);
        // It became the content of another row, or was repeated before.
        assert_eq!(aligned("ba", "aa"), [Some(0), Some(1)]);
        assert_eq!(aligned("aaa", "aax"), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn rows_between_the_same_neighbours_are_the_same_in_order() {
        assert_eq!(
            aligned("axyb", "amnbz"),
            [Some(0), Some(1), Some(2), Some(3), None]
        );
        // At both ends.
        assert_eq!(aligned("xay", "mann"), [Some(0), Some(1), None, None]);
        assert_eq!(aligned("xy", "mn"), [Some(0), Some(1)]);
        // Not equally many.
        assert_eq!(aligned("axb", "amnb"), [Some(0), None, None, Some(2)]);
        // No neighbours: a row between them matches elsewhere.
        assert_eq!(
            aligned("axcb", "cambq"),
            [Some(2), Some(0), None, Some(3), None]
        );
    }
}
