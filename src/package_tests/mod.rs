//! Tests that the author of a package declares (`upgrade` 5): what an apply makes, and what its
//! automations do.
//!
//! Goes in: a package without errors, where and how it is applied, and what is expected. Out: what is
//! otherwise. The package is applied, applied once more, and undone; then automations run. Where that happens is
//! a [`Backend`]: in memory by the executor and [`RunState`](crate::automation::run::RunState) ([`check()`]), or
//! on the store of a server. Mails, notifications and requests are shown and not sent. Nothing here reads a file or
//! a clock.
//!
//! | Module | |
//! |---|---|
//! | `expect` | what a report is held to |
//! | `declared` | a test |
//! | `fire` | what an automation run is held to |
//! | `effects` | what a run has done and caused |
//! | `backend` | what a test runs on, as a trait |
//! | `prepare` | the destination and the request with which it begins |
//! | `memory`, `test_workspace`, `writes` | the backend in memory, and the workspace in which automations run there |
//! | `check` | all of a test |
//! | `document` | tests and outcomes as JSON |

mod backend;
mod check;
mod declared;
mod document;
mod effects;
mod expect;
mod fire;
mod memory;
mod prepare;
mod refusals_document;
mod test_workspace;
mod writes;

pub use backend::{AppliedTest, Backend, FireOutcome};
pub use check::{TestOutcome, check, check_on};
pub use declared::Declared;
pub use document::{SCHEMA_VERSION, SuiteOutcome, SuiteTest, TestSuite};
pub use effects::{ExecutedStep, RunEffects, mail_document, notification_document};
pub use expect::{Amount, Expectations};
pub use fire::{Fire, Trigger};
pub use memory::{NO_TABLE, watched_table};
pub use prepare::{TestSetup, prepare};
pub use refusals_document::refusals_document;

use serde::{Deserialize, Serialize};

use crate::json::Value;

/// Something that is not as it was expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
            found: sorted(found.into()),
        }
    }
}

/// With keys in order: rows of a store have no other.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(mut members) => {
            members.sort_unstable_keys();
            let members = members.into_iter();
            Value::Object(members.map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::List(elements) => Value::List(elements.into_iter().map(sorted).collect()),
        other => other,
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
