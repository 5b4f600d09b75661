//! Upgrading a workspace to a new version of a template: a merge of three sides.
//!
//! The **base** is what was applied, **theirs** what the new package brings, **ours** what the
//! workspace has. Every difference between base and workspace counts as a change of people.
//!
//! Goes in: the three sides of a record ([`AnyRecord`](crate::workspace::AnyRecord)) with references as the destination holds them, and
//! the decisions ([`TrackedDecisions`]). Comes out: what is written, what is kept, and conflicts to decide.
//! Nothing here reads or writes anything, and nothing here knows packages or ledgers: finding the
//! sides is the business of [`crate::apply`].
//!
//! | Module | What |
//! |---|---|
//! | `key`, `leaf` | where a value stands in it, and which values go together |
//! | `shape` | automations taken apart and put together |
//! | `list` | lists merged by their elements |
//! | `rule`, `decision` | the rule for one leaf, and the decisions |
//! | `guard` | what stands for a value in a decision |
//! | `seen` | what the plan of a job saw of leaves that people had changed |
//! | `measured` | leaves that the cells of a column do not fit |
//! | `merge` | all leaves of a record |
//! | `invalid_together` | records that are refused once they are merged |
//! | `document` | what plan and report say of it |
//! | `drift` | the rule with a package that says what the base says |

mod decision;
mod document;
mod drift;
mod guard;
mod invalid_together;
mod key;
mod leaf;
mod list;
mod measured;
mod merge;
pub(crate) mod rule;
mod seen;
mod shape;

pub use crate::workspace::ledger::MovedLeaf;
pub use decision::{
    Decision, Decisions, EVERYTHING, LeafDecision, RecordDecision, Side, Take, TrackedDecisions,
    takes_theirs,
};
pub use document::{
    BaseView, Conflict, ConflictCode, KeepReason, KeptRecord, LeftRecord, Rename, UnusedDecision,
    Update, shorten,
};
pub use drift::{
    AddedRecord, AppliedTemplate, CellDrift, ChangedLeaf, Drift, DriftBase, RemovedRecord,
    RowsDrift, StructureDrift, drifted,
};
pub use guard::{guard, value_digest};
pub use invalid_together::record_faults;
pub use key::{Key, set_part};
pub use leaf::{Leaf, Sides, declared_fields, field, leaves, order_path};
pub use list::{insert_after, merged};
pub use measured::{Measured, MeasuredLeaf};
pub use merge::{DanglingLeaf, KeptLeaf, LeafConflict, LeafUpdate, Merge, Merged, differing};
pub use seen::SeenLeaves;
