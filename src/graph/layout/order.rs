//! The order of nodes within layers, so that few edges cross: each layer in turn is sorted by the
//! middle of its neighbours, to and fro, and the best order that was met is kept.

use super::layers::Layered;

/// How often the layers are gone through in each direction.
const SWEEPS: usize = 12;

/// Nodes per layer, in order.
pub(super) fn order(layered: &Layered) -> Vec<Vec<usize>> {
    let mut rows = first_order(layered);
    let mut best = rows.clone();
    let mut fewest = crossings(layered, &rows);
    for sweep in 0..2 * SWEEPS {
        if fewest == 0 {
            break;
        }
        let down = sweep % 2 == 0;
        let mut place = vec![0; layered.layer.len()];
        for (at, node) in rows.iter().flat_map(|row| row.iter().enumerate()) {
            place[*node] = at;
        }
        let layers: Vec<usize> = if down {
            (1..rows.len()).collect()
        } else {
            (0..rows.len().saturating_sub(1)).rev().collect()
        };
        for layer in layers {
            let neighbours = if down {
                &layered.before
            } else {
                &layered.after
            };
            sort_by_middle(&mut rows[layer], neighbours, &mut place);
        }
        let count = crossings(layered, &rows);
        if count < fewest {
            fewest = count;
            best.clone_from(&rows);
        }
    }
    best
}

/// Depth first from the first node on, so that what belongs together begins together.
fn first_order(layered: &Layered) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); layered.layers];
    let mut seen = vec![false; layered.layer.len()];
    let mut starts: Vec<usize> = (0..layered.real).collect();
    starts.sort_by_key(|node| layered.layer[*node]);
    for start in starts {
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            rows[layered.layer[node]].push(node);
            stack.extend(layered.after[node].iter().rev());
        }
    }
    rows
}

/// Sorts a layer by the mean place of each node's neighbours; one without neighbours stays.
fn sort_by_middle(row: &mut Vec<usize>, neighbours: &[Vec<usize>], place: &mut [usize]) {
    // In thousandths: whole numbers order alike everywhere.
    let middle = |node: usize, own: usize| {
        let near = &neighbours[node];
        if near.is_empty() {
            return own * 1000;
        }
        near.iter().map(|other| place[*other] * 1000).sum::<usize>() / near.len()
    };
    let mut keyed: Vec<(usize, usize)> = row
        .iter()
        .enumerate()
        .map(|(own, node)| (middle(*node, own), *node))
        .collect();
    keyed.sort_by_key(|(key, _)| *key);
    *row = keyed.into_iter().map(|(_, node)| node).collect();
    for (at, node) in row.iter().enumerate() {
        place[*node] = at;
    }
}

/// How many pairs of edges cross.
fn crossings(layered: &Layered, rows: &[Vec<usize>]) -> usize {
    let mut place = vec![0; layered.layer.len()];
    for (at, node) in rows.iter().flat_map(|row| row.iter().enumerate()) {
        place[*node] = at;
    }
    let mut count = 0;
    for pair in rows.windows(2) {
        // Places of the ends, in order of the beginnings: each pair out of order crosses.
        let mut ends = Vec::new();
        for node in &pair[0] {
            let mut own: Vec<usize> = layered.after[*node].iter().map(|to| place[*to]).collect();
            own.sort_unstable();
            ends.extend(own);
        }
        count += inversions(&ends, pair[1].len());
    }
    count
}

/// Pairs of which the earlier is larger, counted with a tree of partial sums.
fn inversions(values: &[usize], limit: usize) -> usize {
    let mut sums = vec![0usize; limit + 1];
    let mut count = 0;
    for (seen, value) in values.iter().enumerate() {
        let mut not_larger = 0;
        let mut at = value + 1;
        while at > 0 {
            not_larger += sums[at];
            at &= at - 1;
        }
        count += seen - not_larger;
        let mut at = value + 1;
        while at <= limit {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{crossings, inversions, order};
    use crate::graph::layout::layers::Layered;

    #[test]
    fn pairs_out_of_order_are_counted() {
        assert_eq!(inversions(&[0, 1, 2], 3), 0);
        assert_eq!(inversions(&[2, 1, 0], 3), 3);
        assert_eq!(inversions(&[1, 1, 0], 2), 2);
    }

    #[test]
    fn crossings_that_need_not_be_are_gone() {
        let layered = Layered::new(6, &[(0, 5), (1, 4), (2, 3), (0, 4)]);
        assert_eq!(crossings(&layered, &order(&layered)), 0);
    }
}
