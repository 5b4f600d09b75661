//! Places across the layers: each node as near to the middle of its neighbours as the order in its
//! layer and the room between nodes allow.
//!
//! For one layer that is a least-squares problem with an order to keep, which pooling neighbours
//! that press against each other solves exactly; going through the layers to and fro settles.

use super::NODE_GAP;
use super::layers::Layered;

/// How often the layers are gone through.
const SWEEPS: usize = 16;
/// How much room a stand-in takes: edges that run side by side may be near each other.
const STAND_IN: i64 = 4;
/// How much more a long edge, or one between two nodes that have no other, wants to be straight.
const STRAIGHT: i64 = 8;

/// The middle of each node across the layers, from 0 on.
pub(super) fn places(layered: &Layered, rows: &[Vec<usize>], spans: &[(i64, i64)]) -> Vec<i64> {
    let breadth = |node: usize| spans.get(node).map_or(STAND_IN, |(_, across)| *across);
    let mut at = vec![0; layered.layer.len()];
    for row in rows {
        let mut edge = 0;
        for node in row {
            at[*node] = edge + breadth(*node) / 2;
            edge += breadth(*node) + NODE_GAP;
        }
    }
    let gap = |a: usize, b: usize| {
        let stand_ins = a >= layered.real && b >= layered.real;
        let room = if stand_ins { NODE_GAP / 2 } else { NODE_GAP };
        breadth(a) / 2 + breadth(b) - breadth(b) / 2 + room
    };
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        for step in 0..rows.len() {
            let layer = if down { step } else { rows.len() - 1 - step };
            place_row(layered, &rows[layer], down, &gap, &mut at);
        }
    }
    // Last, everything looks both ways, so that what nothing leads to does not hang at one end.
    for row in rows {
        align_between(layered, row, &gap, &mut at);
    }
    let first = (0..at.len()).map(|node| at[node] - breadth(node) / 2).min();
    let first = first.unwrap_or_default();
    for place in &mut at {
        *place -= first;
    }
    at
}

fn place_row(
    layered: &Layered,
    row: &[usize],
    down: bool,
    gap: &dyn Fn(usize, usize) -> i64,
    at: &mut [i64],
) {
    let preferred = row.iter().map(|node| {
        let near = if down {
            &layered.before[*node]
        } else {
            &layered.after[*node]
        };
        preferred_place(layered, *node, near.iter(), at)
    });
    let preferred: Vec<(i64, i64)> = preferred.collect();
    pool(row, &preferred, gap, at);
}

fn align_between(
    layered: &Layered,
    row: &[usize],
    gap: &dyn Fn(usize, usize) -> i64,
    at: &mut [i64],
) {
    let preferred = row.iter().map(|node| {
        let near = layered.before[*node].iter().chain(&layered.after[*node]);
        preferred_place(layered, *node, near, at)
    });
    let preferred: Vec<(i64, i64)> = preferred.collect();
    pool(row, &preferred, gap, at);
}

/// Where a node wants to be, and how much.
fn preferred_place<'n>(
    layered: &Layered,
    node: usize,
    near: impl Iterator<Item = &'n usize>,
    at: &[i64],
) -> (i64, i64) {
    let (mut sum, mut weight) = (0, 0);
    for other in near {
        let share = if is_line(layered, node, *other) {
            STRAIGHT
        } else {
            1
        };
        sum += share * at[*other];
        weight += share;
    }
    if weight == 0 {
        (at[node], 1)
    } else {
        (sum / weight, 2 * weight)
    }
}

/// Whether two neighbours ought to be in one line.
fn is_line(layered: &Layered, one: usize, other: usize) -> bool {
    if one >= layered.real && other >= layered.real {
        return true;
    }
    let alone =
        |from: usize, to: usize| layered.after[from] == [to] && layered.before[to] == [from];
    alone(one, other) || alone(other, one)
}

/// Gives every node of a layer the place it wishes for, as far as order and gaps allow.
fn pool(
    row: &[usize],
    preferred: &[(i64, i64)],
    gap: &dyn Fn(usize, usize) -> i64,
    at: &mut [i64],
) {
    // With the gaps taken off, places need only not decrease. Blocks: sum, weight, members.
    let mut offsets = Vec::with_capacity(row.len());
    let mut offset = 0;
    let mut blocks: Vec<(i64, i64, usize)> = Vec::new();
    for (index, (wanted, weight)) in preferred.iter().enumerate() {
        if index > 0 {
            offset += gap(row[index - 1], row[index]);
        }
        offsets.push(offset);
        let mut block = ((wanted - offset) * weight, *weight, 1);
        while let Some((sum, heavy, members)) = blocks.last().copied() {
            // sum / heavy > block.0 / block.1, without dividing.
            if i128::from(sum) * i128::from(block.1) <= i128::from(block.0) * i128::from(heavy) {
                break;
            }
            block = (block.0 + sum, block.1 + heavy, block.2 + members);
            blocks.pop();
        }
        blocks.push(block);
    }
    let mut nodes = row.iter().zip(offsets);
    for (sum, weight, members) in blocks {
        let middle = sum.div_euclid(weight);
        for (node, offset) in nodes.by_ref().take(members) {
            at[*node] = middle + offset;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pool;

    #[test]
    fn wishes_are_granted_where_they_can_be() {
        let mut at = vec![0; 4];
        pool(
            &[0, 1, 2, 3],
            &[(0, 1), (100, 1), (100, 1), (400, 1)],
            &|_, _| 20,
            &mut at,
        );
        assert_eq!(at, [0, 90, 110, 400]);
    }
}
