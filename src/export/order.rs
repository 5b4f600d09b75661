//! Orders records so that targets come before the records that refer to them.

/// The nodes `0..count`, each after the nodes it needs, otherwise in their order. In a cycle one
/// node comes before another that it needs.
pub(super) fn topological(count: usize, needs: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        New,
        Open,
        Done,
    }
    let mut marks = vec![VisitState::New; count];
    let mut order = Vec::with_capacity(count);
    // A chain of links can be as long as a workspace is large: no recursion.
    let mut stack: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
    for start in 0..count {
        if marks[start] != VisitState::New {
            continue;
        }
        marks[start] = VisitState::Open;
        stack.push((start, needs(start).into_iter()));
        while let Some((node, rest)) = stack.last_mut() {
            match rest.next() {
                Some(needed) if needed < count && marks[needed] == VisitState::New => {
                    marks[needed] = VisitState::Open;
                    stack.push((needed, needs(needed).into_iter()));
                }
                Some(_) => {}
                None => {
                    marks[*node] = VisitState::Done;
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::topological;

    #[test]
    fn what_is_needed_comes_first_and_the_rest_stays() {
        let needs = [vec![3], vec![], vec![1], vec![2], vec![]];
        assert_eq!(topological(5, |node| needs[node].clone()), [1, 2, 3, 0, 4]);
        assert_eq!(topological(3, |_| Vec::new()), [0, 1, 2]);
    }

    #[test]
    fn only_a_cycle_breaks_the_order() {
        // 0 needs the cycle of 1 and 2, and is not part of it.
        let needs = [vec![1], vec![2], vec![1], vec![3]];
        assert_eq!(topological(4, |node| needs[node].clone()), [2, 1, 0, 3]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let order = topological(200_000, |node| vec![node + 1]);
        assert_eq!(order.first(), Some(&199_999));
    }
}
