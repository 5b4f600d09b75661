//! Tests that the author of a package declares (`upgrade` 5): what an apply makes, and what its
//! automations do.
//!
//! Goes in: a package without errors, where and how it is applied, and what is expected. Out: what is
//! otherwise. The package is applied in memory by the executor, once more, and undone; automations run
//! with [`RunState`](crate::automation::run::RunState), as on a server, over rows in memory. Mails, notifications and requests are
//! shown and not sent. Nothing here reads a file or a clock.
//!
//! | Module | |
//! |---|---|
//! | `expect` | what a report is held to |
//! | `fire` | one automation run, and what is expected of it |
//! | `world`, `writes` | the workspace in which automations run |
//! | `check` | all of a test |

mod check;
mod expect;
mod fire;
mod world;
mod writes;

pub use check::{Declared, Place, TestOutcome, check};
pub use expect::{Amount, Expectations};
pub use fire::{Fire, Trigger};

use crate::json::Value;

/// Something that is not as it was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFailure {
    /// Where in the test it is expected.
    pub path: String,
    /// What is expected.
    pub expected: Value,
    /// What was found.
    pub found: Value,
}

impl TestFailure {
    fn new(path: impl Into<String>, expected: impl Into<Value>, found: impl Into<Value>) -> Self {
        TestFailure {
            path: path.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// Compares the keys that are given, and notes each that is otherwise.
fn compare_keys(
    path: &str,
    expected: &crate::json::Object,
    found: &crate::json::Object,
    failures: &mut Vec<TestFailure>,
) {
    for (key, value) in expected {
        let stands = found.get(key).cloned().unwrap_or_default();
        if !is_same(value, &stands) {
            let mut place = path.to_owned();
            crate::json::path::push_dotted(&mut place, key);
            failures.push(TestFailure::new(place, value.clone(), stands));
        }
    }
}

/// Whether two values are equal as cells are: 1 and 1.0 are one number.
fn is_same(one: &Value, other: &Value) -> bool {
    crate::rows::equal(&one.write(), &other.write())
}
