//! The rules about everything except rows, one file per subject.
//!
//! Each function reads [`Facts`](super::facts::Facts) and appends findings; none depends on
//! another. When two rules could report one mistake, the more general one checks that and stays
//! silent.

mod args;
mod automation;
mod blueprint;
mod catalog_fields;
mod dependency;
mod identity;
mod item;
mod leak;
mod name;
mod order;
mod parent;
mod reference;
mod rows_item;
mod shape;
mod step_ids;
#[cfg(test)]
mod tests;
mod text_length;
mod undeclared;
mod unresolved;
mod usage;

use super::facts::Facts;
use crate::finding::Finding;

pub(super) use leak::tenant_places;
pub(super) use shape::version;

/// Runs all of them.
pub(super) fn run(facts: &Facts<'_>, promotion: bool, out: &mut Vec<Finding>) {
    shape::run(facts, out);
    catalog_fields::run(facts, out);
    text_length::run(facts, out);
    identity::run(facts, out);
    item::run(facts, out);
    parent::run(facts, out);
    rows_item::run(facts, out);
    step_ids::run(facts, out);
    dependency::run(facts, out);
    blueprint::run(facts, out);
    usage::run(facts, out);
    unresolved::run(facts, out);
    order::run(facts, out);
    reference::run(facts, out);
    args::run(facts, out);
    automation::run(facts, out);
    name::run(facts, out);
    leak::run(facts, promotion, out);
}
