//! All leaves of one record merged.

use super::decision::TrackedDecisions;
use super::document::KeepReason;
use super::leaf::{Leaf, Sides, leaves};
use super::rule::{DecidedLeaf, LeafOutcome, verdict};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::workspace::AnyRecord;

/// What records are merged with.
#[derive(Clone, Copy)]
pub struct Merge<'m> {
    /// Whether an element of a list of the destination names a record that is gone, and is created again under
    /// another id.
    pub dead: &'m dyn Fn(&Value) -> bool,
    /// Whether an element of a list of the destination names a record that is there, though it reads like one that
    /// is gone.
    pub living: &'m dyn Fn(&Value) -> bool,
    /// The registry.
    pub definitions: &'m Definitions,
    /// What somebody decided.
    pub tracked: &'m TrackedDecisions<'m>,
    /// Turns a value in the words of the package into one of the destination.
    pub read: &'m dyn Fn(&Value) -> Value,
    /// Whether whoever applies may not decide the leaf at a path.
    pub forbidden: &'m dyn Fn(&AnyRecord, &str) -> bool,
    /// The refs of records that the destination does not have and that a marked value names.
    pub absent: &'m dyn Fn(&Value) -> Vec<String>,
    /// The same value without marks: what it was when the record was there.
    pub plain: &'m dyn Fn(&Value) -> Value,
}

/// What a record comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The record, with what is written.
    pub record: AnyRecord,
    /// What its base is afterwards.
    pub base: AnyRecord,
    /// Leaves that are written.
    pub updates: Vec<LeafUpdate>,
    /// Leaves that somebody has to decide.
    pub conflicts: Vec<LeafConflict>,
    /// Leaves that stay.
    pub kept: Vec<KeptLeaf>,
    /// Leaves, or elements of them, that stay away because they would name a record that is not there.
    pub dangling: Vec<DanglingLeaf>,
    /// How many leaves were decided.
    pub decided: u64,
}

/// A leaf that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafUpdate {
    /// Its path.
    pub path: String,
    /// Its base.
    pub base: Value,
    /// What it holds.
    pub before: Value,
    /// What it gets.
    pub after: Value,
}

/// A leaf that somebody has to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafConflict {
    /// Its path.
    pub path: String,
    /// Its base.
    pub base: Value,
    /// What the package says.
    pub theirs: Value,
    /// What it holds.
    pub ours: Value,
}

/// A leaf that stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLeaf {
    /// Its path.
    pub path: String,
    /// Its base.
    pub base: Value,
    /// What it holds.
    pub ours: Value,
    /// Why it stays.
    pub because: KeepReason,
}

/// A leaf, or elements of one, that would name a record which is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DanglingLeaf {
    /// Its path.
    pub path: String,
    /// Its base.
    pub base: Value,
    /// What the package says.
    pub theirs: Value,
    /// Refs of the records that are not there.
    pub refs: Vec<String>,
}

impl Merge<'_> {
    /// Merges a record. In `marked`, which else are the same sides, names of records that are not at the destination
    /// are marked: in what the package says all, in the base those that the destination has another record of.
    pub fn merge(self, reference: &str, sides: Sides<'_>, marked: Sides<'_>) -> Merged {
        let mut merged = Merged {
            record: sides.ours.clone(),
            base: AnyRecord {
                order: sides.theirs.order.or(sides.base.order),
                icon: sides
                    .theirs
                    .icon
                    .clone()
                    .or_else(|| sides.base.icon.clone()),
                ..sides.theirs.clone()
            },
            updates: Vec::new(),
            conflicts: Vec::new(),
            kept: Vec::new(),
            dangling: Vec::new(),
            decided: 0,
        };
        for leaf in leaves(sides, self.definitions) {
            self.leaf(reference, &leaf, sides, marked, &mut merged);
        }
        merged
    }

    fn leaf(
        self,
        reference: &str,
        leaf: &Leaf,
        sides: Sides<'_>,
        marked: Sides<'_>,
        merged: &mut Merged,
    ) {
        self.tracked.knows(reference, &leaf.path);
        let mut values = sides.values(leaf, self.definitions);
        let stay = |merged: &mut Merged, base: &Value| {
            leaf.set(sides, &mut merged.base, base, self.definitions);
        };
        let [marked_base, marked_theirs, _] = marked.values(leaf, self.definitions);
        if leaf.list {
            let added = self.added(&values[0], &marked_theirs);
            if !added.is_empty() {
                let [base, theirs, _] = values.clone();
                merged.dangling.push(DanglingLeaf {
                    path: leaf.path.clone(),
                    base,
                    theirs,
                    refs: added,
                });
            }
            self.leave_out(&mut values, marked_base, marked_theirs);
        } else {
            let refs = (self.absent)(&marked_theirs);
            if !refs.is_empty() {
                let [base, theirs, _] = values;
                if base != theirs {
                    merged.dangling.push(DanglingLeaf {
                        path: leaf.path.clone(),
                        base,
                        theirs,
                        refs,
                    });
                }
                return;
            }
            values[0] = marked_base;
        }
        let decided = DecidedLeaf {
            reference,
            path: &leaf.path,
            list: leaf.list,
        };
        let verdict = if (self.forbidden)(sides.theirs, &leaf.path) {
            match super::rule::natural(&values, leaf.list) {
                LeafOutcome::Written(_) | LeafOutcome::Conflict => {
                    let [base, _, ours] = values;
                    let base = (self.plain)(&base);
                    stay(merged, &base);
                    merged.kept.push(KeptLeaf {
                        path: leaf.path.clone(),
                        base,
                        ours,
                        because: KeepReason::Forbidden,
                    });
                    return;
                }
                verdict => verdict,
            }
        } else {
            let read =
                |written: &Value| leaf.plain((self.read)(written), sides.ours, self.definitions);
            verdict(decided, &values, self.tracked, &read)
        };
        let alone = super::rule::natural(&values, leaf.list);
        let [base, theirs, ours] = values;
        let base = (self.plain)(&base);
        match verdict {
            LeafOutcome::Same => {}
            LeafOutcome::Kept { decided } => {
                merged.decided += u64::from(decided);
                let because = if decided {
                    KeepReason::Decided
                } else {
                    KeepReason::UnchangedInPackage
                };
                merged.kept.push(KeptLeaf {
                    path: leaf.path.clone(),
                    base,
                    ours,
                    because,
                });
            }
            LeafOutcome::Written(after) => {
                // What cells do not fit is written because somebody decided so.
                let is_measured = self.tracked.measured(reference, &leaf.path).is_some();
                let by_itself = alone == LeafOutcome::Written(after.clone());
                merged.decided += u64::from(is_measured || !by_itself);
                leaf.set(sides, &mut merged.record, &after, self.definitions);
                merged.updates.push(LeafUpdate {
                    path: leaf.path.clone(),
                    base,
                    before: ours,
                    after,
                });
            }
            LeafOutcome::Conflict => {
                stay(merged, &base);
                merged.conflicts.push(LeafConflict {
                    path: leaf.path.clone(),
                    base,
                    theirs,
                    ours,
                });
            }
        }
    }

    /// The refs of absent records that elements of a list name which the base does not have.
    fn added(self, base: &Value, marked_theirs: &Value) -> Vec<String> {
        let known = base.as_list().unwrap_or_default();
        let added = marked_theirs.as_list().unwrap_or_default().iter();
        let added = added.filter(|element| !known.contains(&(self.plain)(element)));
        added.flat_map(|element| (self.absent)(element)).collect()
    }

    /// Leaves out of every side of a list the elements that name records which are gone. Base and theirs
    /// come with their marks, too.
    fn leave_out(self, values: &mut [Value; 3], marked_base: Value, marked_theirs: Value) {
        let stands = |element: &Value| (self.absent)(element).is_empty();
        let gone = marked_theirs.as_list().unwrap_or_default().iter();
        let gone = gone.filter(|element| !stands(element));
        let gone: Vec<Value> = gone.map(|element| (self.plain)(element)).collect();
        let retain = |side: &mut Value, keep: &dyn Fn(&Value) -> bool| {
            if let Value::List(elements) = side {
                elements.retain(keep);
            }
        };
        values[0] = marked_base;
        values[1] = marked_theirs;
        let [base, theirs, ours] = values;
        retain(base, &|one| stands(one) && !gone.contains(one));
        retain(theirs, &stands);
        retain(ours, &|one| {
            !(self.dead)(one) && (!gone.contains(one) || (self.living)(one))
        });
    }
}

/// The leaves in which a package differs from the base: path, base, theirs.
pub fn differing(
    base: &AnyRecord,
    theirs: &AnyRecord,
    definitions: &Definitions,
) -> Vec<(String, Value, Value)> {
    // Most are what they were, and an automation has a leaf for each key of each step.
    if base == theirs {
        return Vec::new();
    }
    let sides = Sides {
        base,
        theirs,
        ours: base,
    };
    let leaves = leaves(sides, definitions).into_iter();
    leaves
        .filter_map(|leaf| {
            let [base, theirs, _] = sides.values(&leaf, definitions);
            (base != theirs).then_some((leaf.path, base, theirs))
        })
        .collect()
}
