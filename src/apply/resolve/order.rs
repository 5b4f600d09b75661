//! Orders records so that targets come before the records that point at them.

/// The order of a graph.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// All nodes.
    pub(super) order: Vec<usize>,
    /// Those that are in a circle, ascending.
    pub(super) cyclic: Vec<usize>,
}

/// Orders nodes so that the targets of each come first; ties, and circles, by number.
pub(super) fn enter(targets: &[Vec<usize>]) -> Order {
    let groups = circles(targets);
    let cyclic: Vec<usize> = {
        let alone = |node: &usize| {
            groups
                .iter()
                .filter(|group| **group == groups[*node])
                .count()
                == 1
        };
        (0..targets.len()).filter(|node| !alone(node)).collect()
    };
    let mut order = Vec::with_capacity(targets.len());
    let mut placed = vec![false; targets.len()];
    let ready = |group: usize, placed: &[bool]| {
        let members = (0..targets.len()).filter(|node| groups[*node] == group);
        members
            .flat_map(|node| &targets[node])
            .all(|target| groups[*target] == group || placed[*target])
    };
    // Some group is always ready: groups form no circle.
    while let Some(first) =
        (0..targets.len()).find(|node| !placed[*node] && ready(groups[*node], &placed))
    {
        for node in 0..targets.len() {
            if groups[node] == groups[first] {
                placed[node] = true;
                order.push(node);
            }
        }
    }
    Order { order, cyclic }
}

/// The group of each node: nodes that reach each other are of one group, named by its lowest.
fn circles(targets: &[Vec<usize>]) -> Vec<usize> {
    let reached: Vec<Vec<bool>> = (0..targets.len())
        .map(|node| reach(targets, node))
        .collect();
    (0..targets.len())
        .map(|node| {
            let together =
                |other: &usize| *other == node || (reached[node][*other] && reached[*other][node]);
            (0..=node).find(together).unwrap_or(node)
        })
        .collect()
}

fn reach(targets: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; targets.len()];
    let mut open: Vec<usize> = targets[from].clone();
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            open.extend(&targets[node]);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::{Order, enter};

    fn order(targets: &[&[usize]]) -> (Vec<usize>, Vec<usize>) {
        let targets: Vec<Vec<usize>> = targets.iter().map(|list| list.to_vec()).collect();
        let Order { order, cyclic } = enter(&targets);
        (order, cyclic)
    }

    #[test]
    fn targets_come_first_and_ties_stay_as_they_stand() {
        assert_eq!(order(&[&[2], &[], &[], &[0]]), (vec![1, 2, 0, 3], vec![]));
        assert_eq!(order(&[&[], &[], &[]]), (vec![0, 1, 2], vec![]));
    }

    #[test]
    fn circles_enter_in_the_order_of_entries_after_what_they_point_at() {
        assert_eq!(order(&[&[2], &[], &[0, 1]]), (vec![1, 0, 2], vec![0, 2]));
        assert_eq!(
            order(&[&[1], &[0], &[3], &[2]]),
            (vec![0, 1, 2, 3], vec![0, 1, 2, 3])
        );
    }
}
