//! Layers: every edge leads to a later layer, and a longer edge gets a dummy node in each layer
//! between.

/// How many nodes a layer may hold at least.
const LAYER: usize = 14;

/// The way of an edge through the layers.
#[derive(Debug)]
pub(super) struct Chain {
    /// From earlier to later: the node, stand-ins, the node.
    pub(super) nodes: Vec<usize>,
    /// Whether the edge itself runs the other way, since it would have closed a circle.
    pub(super) reversed: bool,
}

/// Nodes in layers; those from `real` on are stand-ins.
#[derive(Debug)]
pub(super) struct Layered {
    pub(super) real: usize,
    pub(super) layers: usize,
    /// Per node.
    pub(super) layer: Vec<usize>,
    /// Per edge, in the order in which they were given.
    pub(super) chains: Vec<Chain>,
    /// Per node, its neighbours in the layer before.
    pub(super) before: Vec<Vec<usize>>,
    /// Per node, its neighbours in the layer after.
    pub(super) after: Vec<Vec<usize>>,
}

impl Layered {
    /// Layers `count` nodes by edges between different nodes.
    pub(super) fn new(count: usize, edges: &[(usize, usize)]) -> Layered {
        let reversed = backward(count, edges);
        let turned = edges.iter().zip(&reversed);
        let forward: Vec<(usize, usize)> = turned
            .map(|((from, to), back)| if *back { (*to, *from) } else { (*from, *to) })
            .collect();
        let mut layer = longest_ways(count, &forward);
        spread(&mut layer);
        let mut layered = Layered {
            real: count,
            layers: 0,
            layer,
            chains: Vec::with_capacity(edges.len()),
            before: vec![Vec::new(); count],
            after: vec![Vec::new(); count],
        };
        layered.layers = layered.layer.iter().max().map_or(0, |last| last + 1);
        for ((from, to), reversed) in forward.into_iter().zip(reversed) {
            let nodes = layered.chain(from, to);
            layered.chains.push(Chain { nodes, reversed });
        }
        layered
    }

    fn chain(&mut self, from: usize, to: usize) -> Vec<usize> {
        let mut nodes = vec![from];
        for layer in self.layer[from] + 1..self.layer[to] {
            nodes.push(self.layer.len());
            self.layer.push(layer);
            self.before.push(Vec::new());
            self.after.push(Vec::new());
        }
        nodes.push(to);
        for pair in nodes.windows(2) {
            self.after[pair[0]].push(pair[1]);
            self.before[pair[1]].push(pair[0]);
        }
        nodes
    }
}

/// Which edges lead back to a node that is being visited: without them there are no circles.
fn backward(count: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut entered = vec![false; count];
    for (at, (from, to)) in edges.iter().enumerate() {
        leaving[*from].push(at);
        entered[*to] = true;
    }
    let mut reversed = vec![false; edges.len()];
    // 0 not seen, 1 being visited, 2 done.
    let mut state = vec![0u8; count];
    // Where nothing leads to comes first, so that circles are cut where they are entered.
    let starts = (0..count)
        .filter(|node| !entered[*node])
        .chain(0..count)
        .collect::<Vec<_>>();
    for start in starts {
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let Some(at) = leaving[*node].get(*next).copied() else {
                state[*node] = 2;
                stack.pop();
                continue;
            };
            *next += 1;
            let to = edges[at].1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    stack.push((to, 0));
                }
                1 => reversed[at] = true,
                _ => {}
            }
        }
    }
    reversed
}

/// Layers by the longest way from a node to an end, so that each stands just before what it leads
/// to; an end moves back to the last that leads to it.
fn longest_ways(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut entering: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut leaving = vec![0usize; count];
    for (from, to) in edges {
        entering[*to].push(*from);
        leaving[*from] += 1;
    }
    let ends: Vec<usize> = (0..count).filter(|node| leaving[*node] == 0).collect();
    // Counted from the ends.
    let mut height = vec![0usize; count];
    let mut ready = ends.clone();
    let mut done = 0;
    while let Some(node) = ready.get(done).copied() {
        done += 1;
        for from in &entering[node] {
            height[*from] = height[*from].max(height[node] + 1);
            leaving[*from] -= 1;
            if leaving[*from] == 0 {
                ready.push(*from);
            }
        }
    }
    let highest = height.iter().max().copied().unwrap_or_default();
    let mut layer: Vec<usize> = height.iter().map(|height| highest - height).collect();
    for end in ends {
        let last = entering[end].iter().map(|from| layer[*from]).max();
        layer[end] = last.map_or(0, |last| last + 1);
    }
    layer
}

/// Splits layers that hold too many nodes into several: nodes of one layer have no edge between
/// them, so any split is one.
fn spread(layer: &mut [usize]) {
    let most = LAYER.max((2 * layer.len()).isqrt());
    let layers = layer.iter().max().map_or(0, |last| last + 1);
    let mut nodes: Vec<Vec<usize>> = vec![Vec::new(); layers];
    for (node, layer) in layer.iter().enumerate() {
        nodes[*layer].push(node);
    }
    let mut next = 0;
    for nodes in nodes.iter().filter(|nodes| !nodes.is_empty()) {
        let parts = nodes.len().div_ceil(most);
        let size = nodes.len().div_ceil(parts);
        for (part, nodes) in nodes.chunks(size).enumerate() {
            for node in nodes {
                layer[*node] = next + part;
            }
        }
        next += parts;
    }
}

#[cfg(test)]
mod tests {
    use super::Layered;

    #[test]
    fn circles_are_cut_once_and_long_edges_get_stand_ins() {
        let layered = Layered::new(4, &[(0, 1), (1, 2), (2, 0), (0, 3), (2, 3)]);
        assert_eq!(layered.layer[..4], [0, 1, 2, 3]);
        let reversed: Vec<bool> = layered.chains.iter().map(|chain| chain.reversed).collect();
        assert_eq!(reversed, [false, false, true, false, false]);
        assert_eq!(layered.chains[3].nodes.len(), 4);
        assert_eq!(layered.layer.len(), 4 + 1 + 2);
    }

    #[test]
    fn nodes_stand_just_before_what_they_lead_to() {
        let layered = Layered::new(5, &[(0, 1), (1, 2), (3, 2), (0, 4)]);
        assert_eq!(layered.layer[..5], [0, 1, 2, 1, 1]);
    }

    #[test]
    fn a_crowded_layer_becomes_several() {
        let edges: Vec<(usize, usize)> = (1..=30).map(|node| (0, node)).collect();
        let layered = Layered::new(31, &edges);
        assert_eq!(layered.layers, 4);
        assert_eq!((layered.layer[1], layered.layer[30]), (1, 3));
    }
}
