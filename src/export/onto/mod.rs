//! An export that goes on from an earlier package and takes over its identity (`upgrade` 1.1).
//!
//! | What | Module |
//! |---|---|
//! | reading the earlier package, of whichever version | `previous` |
//! | what it selects, and what of it the workspace lacks | `select` |
//! | its uids and refs, by kind, parent and technical name | `identities` |
//! | its rows, by key or by content | `rows`, `content`, `align` |
//! | whether anything but the time differs | `unchanged` |
//!
//! Goes in: an earlier package, and what the exporter is about to give an identity. Comes out: the
//! identity that it had, or none. A ref that the earlier package declares is never given to another thing.

mod align;
mod content;
mod identities;
mod previous;
mod rows;
mod select;
mod unchanged;

pub use previous::{PreviousPackage, to_version_2};
pub use select::MissingItem;

pub(super) use content::Contents;
pub(super) use identities::{Identities, Identity, name_without_ids};
pub(super) use rows::{NewRows, match_rows};
pub(super) use unchanged::Before;

/// The earlier package that an export goes on from.
#[derive(Debug, Clone, Copy)]
pub struct ExportBase<'p> {
    /// The package.
    pub previous: &'p PreviousPackage<'p>,
    /// Whether what it holds is what travels; otherwise the selection counts.
    pub selects: bool,
}
