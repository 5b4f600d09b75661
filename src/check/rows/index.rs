//! A table from keyed hashes to rows: sixteen bytes a row, built once, then only asked.

/// Rows by hash, ascending, with a directory over the leading bits.
#[derive(Debug, Default)]
pub(super) struct Index {
    hashes: Box<[u64]>,
    rows: Box<[u32]>,
    /// Where the hashes of each leading bit pattern begin; one more at the end.
    starts: Box<[u32]>,
    shift: u32,
}

impl Index {
    /// Builds the table. The pairs are sorted by hash, then row, on the way.
    pub(super) fn new(pairs: &mut [(u64, u32)]) -> Index {
        pairs.sort_unstable();
        // As many buckets as rows, about: a search looks at one or two hashes.
        let bits = usize::BITS - pairs.len().max(2).leading_zeros() - 1;
        let shift = u64::BITS - bits;
        let mut starts = vec![0u32; (1 << bits) + 1];
        for (hash, _) in pairs.iter() {
            starts[bucket(*hash, shift) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Index {
            hashes: pairs.iter().map(|pair| pair.0).collect(),
            rows: pairs.iter().map(|pair| pair.1).collect(),
            starts: starts.into(),
            shift,
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
        assert_eq!(Index::new(&mut []).rows(u64::MAX).count(), 0);
    }

    proptest! {
        #[test]
        fn agrees_with_a_search(hashes in prop::collection::vec(prop_oneof![0u64..20, any::<u64>(), Just(u64::MAX)], 0..200)) {
            let mut pairs: Vec<(u64, u32)> = hashes.iter().copied().zip(0..).collect();
            let index = Index::new(&mut pairs);
            for asked in hashes.iter().copied().chain([0, 7, u64::MAX]) {
                let expected: Vec<u32> = hashes.iter().zip(0..).filter(|(hash, _)| **hash == asked).map(|(_, row)| row).collect();
                prop_assert_eq!(index.rows(asked).collect::<Vec<_>>(), expected);
            }
        }
    }
}
