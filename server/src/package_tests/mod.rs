//! Tests that the author of a package declares, on the store: what `tplkit test --server` asks for.
//!
//! In: a package and its tests as [`TestSuite`], and an empty folder. Out: their outcomes, as the library found
//! them. Each apply has a server of its own (`TestServer`): a SQLite file in that folder, the operations of
//! the API without a network, the worker of jobs, the executor of runs, a clock that the test moves. Nothing leaves
//! it. What is expected, and how it is compared, is the library's alone ([`tplkit::package_tests`]).
//!
//! | Module | |
//! |---|---|
//! | `backend` | the library's [`Backend`](tplkit::package_tests::Backend) |
//! | `server` | a server for one apply |
//! | `seed` | a workspace in memory → the same one in a store |
//! | `responses` | what is read of responses of the API |
//! | `contents` | all that a workspace holds, to compare |
//! | `fire` | an automation and what its writes fire, run after run |

mod backend;
mod contents;
mod error;
mod fire;
mod responses;
mod seed;
mod server;

use std::path::Path;

use tplkit::check::{CheckOptions, Checked};
use tplkit::definitions::Definitions;
use tplkit::package_tests::{SCHEMA_VERSION, SuiteOutcome, TestSetup, TestSuite, check_on};

use self::backend::StoreBackend;
pub use self::error::DeclaredError;

/// Carries tests out, one after the other; stores are made in that folder.
///
/// # Errors
/// When a package does not check, or a store fails.
pub async fn run(suite: &TestSuite, folder: &Path) -> Result<SuiteOutcome, DeclaredError> {
    if suite.schema_version != SCHEMA_VERSION {
        return Err(DeclaredError::SchemaVersion(suite.schema_version));
    }
    let options = CheckOptions::default();
    let package = Checked::read(&suite.package, &options)?;
    let mut tests = Vec::new();
    for (at, test) in suite.tests.iter().enumerate() {
        let base = test.base.as_deref();
        let base = base.map(|base| Checked::read(base, &options)).transpose()?;
        let setup = TestSetup {
            package: &package,
            text: &suite.package,
            base: base.as_ref(),
            destination: &test.destination,
            definitions: Definitions::embedded(),
        };
        let folder = folder.join(at.to_string());
        let mut backend = StoreBackend::new(setup, test.base.as_deref(), folder);
        let checked = Box::pin(check_on(&test.test, &package.manifest, &mut backend));
        tests.push(checked.await?);
        backend.close().await;
    }
    Ok(SuiteOutcome {
        schema_version: SCHEMA_VERSION,
        tests,
    })
}
