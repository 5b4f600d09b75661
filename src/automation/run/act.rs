//! The action of a step, read from its resolved config.

use uuid::Uuid;

use super::compare;
use super::failure::Failure;
use super::id_field::id_field;
use super::recipients;
use super::row_query::RowQuery;
use super::value_text::text_of;
use crate::json::{Object, Value};

/// What is to be done for a step.
#[derive(Debug, Clone)]
pub enum Act {
    /// Nothing: this is its output.
    Output(Object),
    /// A model is asked which of the routes to take; the output is `{"route": name}`.
    Ask {
        /// What it decides on.
        prompt: String,
        /// Names and when to choose them.
        routes: Vec<(String, String)>,
        /// The connection to it.
        connection: Option<String>,
        /// A key instead of the connection's.
        api_key: Option<String>,
    },
    /// Rows are read; the output is `{"count": n, "records": [row…]}`.
    Read(RowQuery),
    /// A row is written; the output is `{"rowId": id, "count": n}`.
    Write(Write),
    /// A mail is sent; the output is `{"messageId": id, "accepted": [address…]}`, and a `note` where there
    /// is one.
    Mail(Mail),
    /// People are notified; the output is `{"notificationId": id}`.
    Notify(Notice),
    /// A request is sent; the output is `{"status": n, "body": value}`.
    Request(Request),
    /// Another automation is run; the output is `{"runId": id}`.
    Run(Uuid),
    /// Time passes; there is no output.
    Wait(Wait),
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// The row that fired.
    UpdateTrigger,
    /// A new one.
    Insert,
    /// Those that match.
    Update,
    /// Those that match, or a new one.
    Upsert,
}

/// A `feature.write`.
#[derive(Debug, Clone)]
pub struct Write {
    /// How.
    pub mode: WriteMode,
    /// The table.
    pub feature: Uuid,
    /// The cells written, in order of their names.
    pub cells: Vec<Binding>,
    /// Which of the cells finds the rows, for update and upsert.
    pub matched: Option<usize>,
}

/// A cell that is written.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The column's technical name.
    pub column: String,
    /// What it is to hold.
    pub value: Value,
    /// What that was resolved from.
    pub expression: Value,
}

/// An `email.send`.
#[derive(Debug, Clone)]
pub struct Mail {
    /// To whom.
    pub to: Vec<String>,
    /// One line.
    pub subject: String,
    /// HTML.
    pub body: String,
    /// The connection; without one the organization's transport.
    pub connection: Option<String>,
    /// Whether the files of the current row go along.
    pub attach_row: bool,
    /// A file that goes along whatever the row is.
    pub attachment: Option<Uuid>,
    /// Whether it was to leave from a mailbox.
    pub mailbox: bool,
}

/// Whom a notification is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those who listen to a channel.
    Channel(Uuid),
    /// One person.
    User(Uuid),
    /// Everybody in the organization.
    Organization,
}

/// A `notify`.
#[derive(Debug, Clone)]
pub struct Notice {
    /// For whom.
    pub scope: Scope,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
}

/// An `http.request`.
#[derive(Debug, Clone)]
pub struct Request {
    /// The connection with the base address.
    pub connection: String,
    /// `GET`, `POST`, …
    pub method: String,
    /// Below the base address.
    pub path: String,
    /// The JSON body.
    pub body: Option<Value>,
    /// A token instead of the connection's.
    pub bearer: Option<String>,
}

/// A `delay`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// So many seconds.
    Seconds(i64),
    /// As long as a named timer says.
    Timer(String),
}

fn text(config: &Object, key: &str) -> String {
    config.get(key).map(text_of).unwrap_or_default()
}

fn named(config: &Object, key: &str) -> Option<String> {
    let name = config.get(key).and_then(Value::as_str);
    name.filter(|name| !name.is_empty()).map(str::to_owned)
}

impl Act {
    /// What the step asks for. `config` is resolved, `written` as it stands.
    pub(super) fn of(key: &str, config: &Object, written: &Object) -> Result<Act, Failure> {
        Ok(match key {
            "agent.route" => Act::Ask {
                prompt: text(config, "prompt"),
                routes: routes(written),
                connection: named(config, "connectionName"),
                api_key: named(written, "apiKey"),
            },
            "feature.read" => Act::Read(RowQuery::of(config, written)?),
            "feature.write" => Act::Write(Write::of(config, written)?),
            "email.send" => Act::Mail(Mail::of(config, written)?),
            "notify" => Act::Notify(Notice::of(config)?),
            "var.set" => Act::Output(Object::from_iter([(
                "value".to_owned(),
                config.get("value").cloned().unwrap_or_default(),
            )])),
            "http.request" => Act::Request(Request {
                connection: named(config, "connectionName")
                    .ok_or_else(|| Failure::at("connectionName", "names no connection"))?,
                method: named(config, "method").unwrap_or_else(|| "POST".to_owned()),
                path: text(config, "path"),
                body: config
                    .get("body")
                    .filter(|body| **body != Value::Null)
                    .cloned(),
                bearer: named(written, "bearerToken"),
            }),
            "automation.run" => Act::Run(id_field(config, "workflowId")?),
            "delay" => Act::Wait(
                match (named(config, "timerProfile"), config.get("seconds")) {
                    // The definitions: a timer instead of seconds.
                    (Some(timer), _) => Wait::Timer(timer),
                    (None, Some(Value::Number(seconds))) => {
                        Wait::Seconds(seconds.as_i64().unwrap_or(0))
                    }
                    _ => Wait::Seconds(0),
                },
            ),
            other => {
                return Err(Failure::new(format!(
                    "`{other}` is not a step that can be run"
                )));
            }
        })
    }
}

fn routes(written: &Object) -> Vec<(String, String)> {
    let routes = written.get("routes").and_then(Value::as_list);
    let routes = routes.into_iter().flatten().filter_map(Value::as_object);
    routes
        .map(|route| (text(route, "name"), text(route, "description")))
        .collect()
}

impl Write {
    fn of(config: &Object, written: &Object) -> Result<Write, Failure> {
        let mode = match config.get("mode").and_then(Value::as_str) {
            Some("updateTrigger") => WriteMode::UpdateTrigger,
            Some("insert") => WriteMode::Insert,
            Some("update") => WriteMode::Update,
            Some("upsert") => WriteMode::Upsert,
            _ => return Err(Failure::at("mode", "is not a way to write rows")),
        };
        let mut cells: Vec<Binding> = Vec::new();
        let bindings = |config: &Object| -> Vec<Value> {
            let bindings = config.get("bindings").and_then(Value::as_list);
            bindings.unwrap_or_default().to_vec()
        };
        for (binding, written) in bindings(config).iter().zip(bindings(written)) {
            let column = binding.get("targetColumn").and_then(Value::as_str);
            let value = |binding: &Value| binding.get("value").cloned().unwrap_or_default();
            if let Some(column) = column.filter(|column| !column.is_empty()) {
                // Of two for one column the later one counts.
                cells.retain(|cell| cell.column != column);
                cells.push(Binding {
                    column: column.to_owned(),
                    value: value(binding),
                    expression: value(&written),
                });
            }
        }
        cells.sort_by(|one, other| one.column.cmp(&other.column));
        let matched = match (mode, named(config, "matchColumn")) {
            (WriteMode::Update | WriteMode::Upsert, Some(column)) => {
                let filled =
                    |cell: &Binding| cell.column == column && !compare::is_empty(&cell.value);
                let found = cells.iter().position(filled);
                Some(found.ok_or_else(|| {
                    let reason = format!("no binding gives `{column}` a value to look for");
                    match cells.iter().find(|cell| cell.column == column) {
                        Some(empty) => Failure::at(format!("bindings.{column}"), reason)
                            .yields(Some(&empty.expression), &empty.value),
                        None => Failure::at("matchColumn", reason),
                    }
                })?)
            }
            _ => None,
        };
        Ok(Write {
            mode,
            feature: id_field(config, "targetFeatureId")?,
            cells,
            matched,
        })
    }
}

impl Mail {
    /// Whether files are to go along.
    pub fn attaches(&self) -> bool {
        self.attach_row || self.attachment.is_some()
    }

    /// What its output says next to what was announced: there are no mailboxes, and `without_files` nothing that could
    /// go along.
    pub fn note(&self, without_files: bool) -> Option<String> {
        let files = "the attachments were left out: there are no files here";
        let mailbox = "it left from the mail server's own address: there are no mailboxes here";
        let left_out = without_files && self.attaches();
        let notes = [(left_out, files), (self.mailbox, mailbox)];
        let notes: Vec<&str> = notes
            .iter()
            .filter(|(so, _)| *so)
            .map(|(_, note)| *note)
            .collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    fn of(config: &Object, written: &Object) -> Result<Mail, Failure> {
        let to = text(config, "to");
        let addresses = recipients::split(&to);
        if addresses.is_empty() {
            let failure = Failure::at("to", "there is nobody to send it to");
            return Err(failure.yields(written.get("to"), &to.into()));
        }
        Ok(Mail {
            to: addresses,
            subject: text(config, "subject"),
            body: text(config, "body"),
            connection: named(config, "connectionName"),
            attach_row: config.get("attachFiles").and_then(Value::as_bool) == Some(true),
            attachment: named(config, "attachmentFileId")
                .map(|_| id_field(config, "attachmentFileId"))
                .transpose()?,
            mailbox: named(config, "mailboxId").is_some(),
        })
    }
}

impl Notice {
    fn of(config: &Object) -> Result<Notice, Failure> {
        let scope = match config.get("scopeType").and_then(Value::as_str) {
            Some("channel") => Scope::Channel(id_field(config, "scopeId")?),
            Some("user") => Scope::User(id_field(config, "scopeId")?),
            Some("organization") => Scope::Organization,
            _ => return Err(Failure::at("scopeType", "names no recipient")),
        };
        Ok(Notice {
            scope,
            title: text(config, "title"),
            body: text(config, "body"),
        })
    }
}
