//! Numbers by which siblings stand in a sequence, as few of them other ones as can be.

use crate::workspace::Id;

/// A sibling of a sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbered {
    pub(super) id: Id,
    /// The number that it has.
    pub(super) stands: i64,
    /// The one that it should have if there is room.
    pub(super) order: i64,
    /// Whether it gives way to the next one: it comes back among records that stand.
    pub(super) gives_way: bool,
}

/// A sibling that has its number.
#[derive(Clone, Copy)]
struct Placed {
    order: i64,
    id: Id,
    moved: bool,
}

impl Placed {
    /// Whether another one comes after it by its number. The number of a moved record is unique.
    fn precedes(self, order: i64, id: Id) -> bool {
        self.order < order || !self.moved && (self.order, self.id) < (order, id)
    }
}

/// The numbers that become others, so that all ascend.
pub(super) fn ascending(sequence: &[Numbered]) -> Vec<(Id, i64)> {
    let mut numbers = Vec::new();
    let mut last: Option<Placed> = None;
    for (at, one) in sequence.iter().enumerate() {
        let mut later = sequence.iter().skip(at + 1);
        let next = later.find(|next| !next.gives_way);
        let follows = last.is_none_or(|last| last.precedes(one.order, one.id));
        let fits = next.is_none_or(|next| (one.order, one.id) < (next.order, next.id));
        let order = match (last, next) {
            _ if follows && (fits || !one.gives_way) => one.order,
            (Some(last), _) => last.order.saturating_add(1),
            (None, Some(next)) => next.order.saturating_sub(1),
            (None, None) => one.order,
        };
        if order != one.stands {
            numbers.push((one.id, order));
        }
        last = Some(Placed {
            order,
            id: one.id,
            moved: order != one.order,
        });
    }
    numbers
}
