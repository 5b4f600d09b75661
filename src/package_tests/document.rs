//! Tests and their outcomes as JSON: what `tplkit test --server` gives to `tplkit-server test`, and gets back.

use serde::{Deserialize, Serialize};

use super::{Declared, TestOutcome};
use crate::workspace::memory::State;

/// The number of this form of the documents.
pub const SCHEMA_VERSION: u32 = 1;

/// A package, and tests of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestSuite {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The package, as text.
    pub package: String,
    /// Its tests.
    pub tests: Vec<SuiteTest>,
}

/// A test with what its file names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SuiteTest {
    /// What is there before.
    pub destination: State,
    /// The package that is upgraded, as text.
    pub base: Option<String>,
    /// The test.
    pub test: Declared,
}

/// What came of the tests, one outcome for each, in the same order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SuiteOutcome {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// By test.
    pub tests: Vec<TestOutcome>,
}

/// A request, in the form of the body of an apply.
pub(super) mod request {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use crate::apply::Request;
    use crate::json::Value;

    pub(in super::super) fn serialize<S: Serializer>(
        request: &Request,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        request.to_value().serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Request, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Request::from_value(&value).map_err(|refusals| {
            let details = refusals.into_iter().map(|refusal| refusal.detail);
            D::Error::custom(details.collect::<Vec<_>>().join("; "))
        })
    }
}

/// An instant, as text.
pub(super) mod instant {
    use jiff::Timestamp;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(
        instant: &Timestamp,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(instant)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use indexmap::IndexMap;
    use jiff::Timestamp;

    use super::super::{Amount, Declared, Expectations, Fire, Trigger};
    use crate::apply::Request;
    use crate::json::{Object, Value};

    #[test]
    fn a_test_is_read_as_it_was_written() {
        let now: Timestamp = "2026-03-02T08:00:00.000001Z".parse().expect("an instant");
        let cells: Object = serde_json::from_str(r#"{"amount":1.10,"x":null}"#).expect("JSON");
        let fire = |trigger| Fire {
            automation: "w_x".to_owned(),
            trigger,
            steps: Some(vec!["notify".to_owned()]),
            outputs: IndexMap::from([("stp_1".to_owned(), cells.clone())]),
            rows: IndexMap::new(),
            notifications: None,
            mails: Some(Vec::new()),
        };
        let amounts = [
            ("created".to_owned(), Amount::Sum(3)),
            (
                "inserted".to_owned(),
                Amount::Each(BTreeMap::from([("f_x".to_owned(), 2)])),
            ),
        ];
        let resolutions = r#"{"resolutions":{"f_y":{"action":"map","id":"y"}},"upgrade":true}"#;
        let test = Declared {
            request: Request::from_value(&Value::parse(resolutions).expect("JSON"))
                .expect("a request"),
            now,
            expect: Expectations {
                amounts: BTreeMap::from(amounts),
            },
            fires: vec![
                fire(Trigger::Row(cells.clone())),
                fire(Trigger::Body(cells.clone())),
                fire(Trigger::At(now)),
                fire(Trigger::Nothing),
            ],
        };
        let text = serde_json::to_string(&test).expect("writes");
        let read: Declared = serde_json::from_str(&text).expect("reads");
        assert_eq!(read, test, "{text}");
    }
}
