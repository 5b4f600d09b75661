//! What is decided about: a package, a place, and what somebody decided.

use std::sync::Arc;

use tplkit::apply::Request;
use uuid::Uuid;

use super::{ApplyTarget, LoadedPackage};

/// A package, a place, and what somebody decided.
#[derive(Debug)]
pub(crate) struct DecideInput {
    pub(crate) place: ApplyTarget,
    pub(crate) whole: LoadedPackage,
    pub(crate) request: Request,
    /// The package that the workspace was set up by.
    pub(crate) base: Option<Arc<LoadedPackage>>,
    /// Whether whoever asks chose one of these packages: then what is compared with rows is theirs to choose.
    pub(crate) chosen: bool,
    /// The job to resume.
    pub(crate) job: Option<Uuid>,
    /// Whether an upgrade is asked of that.
    pub(crate) upgrade: bool,
}
