//! What a run of a test has done and caused, as tests compare it.

use crate::automation::run::Mail;
use crate::json::{Object, Value};
use crate::workspace::Id;

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
