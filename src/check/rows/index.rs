//! An index from keyed hashes to rows: sixteen bytes a row, built once, then read-only.

use std::collections::HashSet;

/// Rows in buckets by the leading bits of their hash.
#[derive(Debug, Default)]
pub(super) struct Index {
    hashes: Box<[u64]>,
    rows: Box<[u32]>,
    /// Where the hashes of each leading bit pattern begin; one more at the end.
    starts: Box<[u32]>,
    shift: u32,
}

impl Index {
    /// Builds the table from hashes with their rows, rows ascending.
    pub(super) fn new(pairs: &[(u64, u32)]) -> Index {
        // As many buckets as rows, about: a search looks at one or two hashes.
        let bits = usize::BITS - pairs.len().max(2).leading_zeros() - 1;
        let shift = u64::BITS - bits;
        // Sorting by counting: one pass to measure the buckets, one to fill them.
        let mut starts = vec![0u32; (1 << bits) + 1];
        for (hash, _) in pairs {
            starts[bucket(*hash, shift) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut hashes = vec![0; pairs.len()];
        let mut rows = vec![0; pairs.len()];
        let mut next = starts.clone();
        for (hash, row) in pairs {
            let place = &mut next[bucket(*hash, shift)];
            hashes[*place as usize] = *hash;
            rows[*place as usize] = *row;
            *place += 1;
        }
        Index {
            hashes: hashes.into(),
            rows: rows.into(),
            starts: starts.into(),
            shift,
        }
    }

    /// Pairs of rows that share a hash, offered until confirmed: each row with the earlier ones
    /// that are not repetitions themselves.
    pub(super) fn for_each_pair(&self, mut confirm: impl FnMut(u64, u32, u32) -> bool) {
        let mut repetitions: HashSet<u32> = HashSet::new();
        for bounds in self.starts.windows(2) {
            let bucket = bounds[0] as usize..bounds[1] as usize;
            for later in bucket.clone().skip(1) {
                let hash = self.hashes[later];
                for earlier in bucket.start..later {
                    if self.hashes[earlier] == hash
                        && !repetitions.contains(&self.rows[earlier])
                        && confirm(hash, self.rows[earlier], self.rows[later])
                    {
                        repetitions.insert(self.rows[later]);
                        break;
                    }
                }
            }
        }
    }

    /// Rows of that hash, ascending.
    pub(super) fn rows(&self, hash: u64) -> impl Iterator<Item = u32> + '_ {
        let at = bucket(hash, self.shift);
        let bounds = (self.starts.get(at), self.starts.get(at + 1));
        let range = match bounds {
            (Some(from), Some(to)) => *from as usize..*to as usize,
            _ => 0..0,
        };
        let rows = range.clone();
        let hashes = self.hashes[range].iter();
        hashes
            .zip(&self.rows[rows])
            .filter(move |(known, _)| **known == hash)
            .map(|(_, row)| *row)
    }
}

fn bucket(hash: u64, shift: u32) -> usize {
    usize::try_from(hash >> shift).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Index;

    #[test]
    fn an_empty_index_knows_nothing() {
        assert_eq!(Index::default().rows(0).count(), 0);
        assert_eq!(Index::new(&[]).rows(u64::MAX).count(), 0);
    }

    proptest! {
        #[test]
        fn agrees_with_a_search(hashes in prop::collection::vec(prop_oneof![0u64..20, any::<u64>(), Just(u64::MAX)], 0..200)) {
            let pairs: Vec<(u64, u32)> = hashes.iter().copied().zip(0..).collect();
            let index = Index::new(&pairs);
            let mut repeated = Vec::new();
            index.for_each_pair(|_, _, later| {
                repeated.push(later);
                true
            });
            repeated.sort_unstable();
            let again = |row: &u32| hashes[..*row as usize].contains(&hashes[*row as usize]);
            let expected: Vec<u32> = (0..).take(hashes.len()).filter(again).collect();
            prop_assert_eq!(repeated, expected);
            for hash_of_row in hashes.iter().copied().chain([0, 7, u64::MAX]) {
                let expected: Vec<u32> = hashes.iter().zip(0..).filter(|(hash, _)| **hash == hash_of_row).map(|(_, row)| row).collect();
                prop_assert_eq!(index.rows(hash_of_row).collect::<Vec<_>>(), expected);
            }
        }
    }
}
