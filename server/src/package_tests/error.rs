//! Why tests were not carried out.

use tplkit::check::NotChecked;
use tplkit::package_tests::SCHEMA_VERSION;

use crate::refusal::Refusal;
use crate::store::StoreError;

/// Why tests were not carried out: no fault of theirs.
#[derive(Debug, thiserror::Error)]
pub enum DeclaredError {
    /// The tests are of another program.
    #[error("tests of schema version {0} cannot be read: this program reads {SCHEMA_VERSION}")]
    SchemaVersion(u32),
    /// A package cannot be applied anywhere.
    #[error("{0}")]
    Package(#[from] NotChecked),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A destination cannot be set up.
    #[error("the destination of a test cannot be set up: {0}")]
    Destination(String),
}

impl From<Refusal> for DeclaredError {
    fn from(refusal: Refusal) -> DeclaredError {
        DeclaredError::Destination(refusal.detail().to_owned())
    }
}
