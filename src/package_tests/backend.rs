//! What a test runs on, as a trait: `memory` implements it for workspaces in memory, the server for its store.
//!
//! A backend carries out, and says what happened. Whether that is as expected is decided by `check` alone.

use super::{Declared, Trigger};
use crate::apply::{Preview, Report, Request};
use crate::automation::run::Mail;
use crate::json::{Object, Value};
use crate::workspace::Id;
use crate::workspace::ledger::Entry;

/// What a test runs on.
pub trait Backend {
    /// Why it does not respond: no fault of the test.
    type Error;

    /// Applies the package of the test as it asks, applies it again, and undoes both; afterwards automations
    /// run where the first apply has left the workspace. When the apply is refused: why, as `found` of a failure.
    fn apply(
        &mut self,
        test: &Declared,
    ) -> impl Future<Output = Result<Result<AppliedTest, Value>, Self::Error>>;

    /// Runs an automation, then what its writes fire.
    fn fire(
        &mut self,
        automation: Id,
        trigger: &Trigger,
    ) -> impl Future<Output = Result<FireOutcome, Self::Error>>;

    /// The cells of all rows of a table, in order of their ids.
    fn rows(&mut self, table: Id) -> impl Future<Output = Result<Vec<Object>, Self::Error>>;
}

/// What an apply did.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedTest {
    /// How it was asked for, with ids in place of names.
    pub request: Request,
    /// What it was going to do.
    pub preview: Preview,
    /// What it did.
    pub report: Report,
    /// What it wrote, and its base before it.
    pub ledger: Vec<Entry>,
    /// Whether the same apply once more changed anything.
    pub again_changed: bool,
    /// Whether the undo gave back the workspace that was there before.
    pub restored: bool,
}

/// What came of firing an automation.
#[derive(Debug, Clone, PartialEq)]
pub enum FireOutcome {
    /// There is no such automation.
    Missing,
    /// It did not run, and why.
    NotFired(String),
    /// It ran.
    Ran(RunEffects),
}

/// What a run has done, and what it has caused.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunEffects {
    /// The steps that were carried out.
    pub steps: Vec<ExecutedStep>,
    /// Why it ended early.
    pub error: Option<String>,
    /// Notifications of people.
    pub notifications: Vec<Object>,
    /// What was sent.
    pub mails: Vec<Object>,
}

/// A step that was carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutedStep {
    /// Its id.
    pub id: String,
    /// Its key.
    pub key: String,
    /// Nothing of one that failed.
    pub output: Option<Object>,
}

/// A mail, as tests compare it.
pub fn mail_document(mail: &Mail) -> Object {
    let to = mail.to.iter().map(|address| address.as_str().into());
    let connection = mail.connection.as_deref();
    let members: [(&str, Value); 4] = [
        ("to", Value::List(to.collect())),
        ("subject", mail.subject.as_str().into()),
        ("body", mail.body.as_str().into()),
        (
            "connectionName",
            connection.map_or(Value::Null, Value::from),
        ),
    ];
    Object::from_iter(members.map(|(key, value)| (key.to_owned(), value)))
}

/// A notification, as tests compare it: `scope` is `channel`, `user` or `organization`.
pub fn notification_document(title: &str, body: &str, scope: &str, to: Option<Id>) -> Object {
    let to = to.map_or(Value::Null, |id| id.to_string().into());
    // By the names of the API and by those of the step.
    let members: [(&str, Value); 6] = [
        ("title", title.into()),
        ("body", body.into()),
        ("scope_type", scope.into()),
        ("scope_id", to.clone()),
        ("scopeType", scope.into()),
        ("scopeId", to),
    ];
    Object::from_iter(members.map(|(key, value)| (key.to_owned(), value)))
}
