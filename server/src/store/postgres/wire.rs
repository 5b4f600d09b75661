//! A session on which reads leave in one message and come back in one: the statement that sets the scope, and the one
//! that reads.
//!
//! Both stand between two `Sync` messages without a `BEGIN`, so they are one transaction, which ends with the second
//! `Sync` whether it failed or not: nothing that it set stays. The task that waits for the response sends and reads; no
//! other one is woken. The driver signs in (`socket`), and is not used on such a session afterwards.
//!
//! What must not happen here: anything that goes on from one transaction to the next.

use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::BytesMut;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend::{self, BindError};
use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};
use tokio_postgres::fallible_iterator::FallibleIterator as _;
use tokio_postgres::types::{IsNull, ToSql, Type};

use super::socket::Socket;
use crate::store::StoreError;
use crate::store::statement::Statement;
use crate::store::wire_row::WireRow;

/// How much room there is at least for what is read at once.
const MIN_READ_BYTES: usize = 16 << 10;
/// How much room stays for the next response.
const MAX_KEPT_BYTES: usize = 1 << 20;
/// The status of a session in which no transaction is open.
const IDLE: u8 = b'I';
/// The format of columns.
const BINARY: i16 = 1;
/// Of a statement, all rows are wanted.
const ALL_ROWS: i32 = 0;

/// A statement with its parameters.
pub(super) struct WireStatement<'a> {
    pub(super) text: &'a str,
    /// What keeps the text where it is.
    pub(super) kept_by: Option<&'a Arc<Statement>>,
    pub(super) parameters: &'a [&'a (dyn ToSql + Sync)],
    /// After how many bytes its response may end.
    pub(super) most: Option<usize>,
}

/// What the database said against a statement.
#[derive(Debug)]
pub(super) struct DatabaseError {
    pub(super) code: String,
    message: String,
}

/// Why there is no response.
#[derive(Debug)]
pub(super) enum WireError {
    /// The connection is of no use any more.
    Lost(io::Error),
    Database(DatabaseError),
    /// The statement does not take what it was given: a bug.
    Parameters(String),
}

/// The responses to two statements that left together.
pub(super) struct WireResponses {
    pub(super) first: Vec<WireRow>,
    /// An error where only this one failed.
    pub(super) second: Result<Vec<WireRow>, DatabaseError>,
}

/// A session.
pub(super) struct Wire {
    socket: Socket,
    received: BytesMut,
    sending: BytesMut,
    /// By where the text is in memory and how long it is.
    known: HashMap<(usize, usize), KnownStatement>,
    /// What was sent and has no response yet, or is not to be read.
    pending: bool,
}

/// A statement that the session has prepared.
struct KnownStatement {
    name: String,
    parameters: Vec<Type>,
    columns: Arc<[Type]>,
    /// While it lives, no other text has that place.
    _kept_by: Option<Arc<Statement>>,
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> WireError {
        WireError::Lost(error)
    }
}

impl From<WireError> for StoreError {
    fn from(error: WireError) -> StoreError {
        match error {
            WireError::Lost(error) => {
                StoreError::Unavailable(format!("the connection was lost: {error}"))
            }
            WireError::Database(error) => error.into(),
            WireError::Parameters(text) => StoreError::Internal(text),
        }
    }
}

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> StoreError {
        // What only reads violates no constraint.
        StoreError::of_database(&error.code, &error.message, None)
    }
}

impl DatabaseError {
    fn read(body: &ErrorResponseBody) -> io::Result<DatabaseError> {
        let (mut code, mut message) = (String::new(), String::new());
        let mut fields = body.fields();
        while let Some(field) = fields.next()? {
            let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'C' => code = text(),
                b'M' => message = text(),
                _ => {}
            }
        }
        Ok(DatabaseError { code, message })
    }
}

impl Wire {
    pub(super) fn new(socket: Socket) -> Wire {
        Wire {
            socket,
            received: BytesMut::new(),
            sending: BytesMut::new(),
            known: HashMap::new(),
            pending: false,
        }
    }

    /// Whether a response is still to come, so that nothing else may be sent.
    pub(super) fn is_pending(&self) -> bool {
        self.pending
    }

    /// Whether the other side has said nothing since the last response. An end of the connection is announced.
    pub(super) async fn is_silent(&mut self) -> bool {
        if self.pending || !self.received.is_empty() {
            return false;
        }
        let mut one = [0];
        poll_fn(|cx| {
            let mut buffer = ReadBuf::new(&mut one);
            let read = Pin::new(&mut self.socket).poll_read(cx, &mut buffer);
            Poll::Ready(read.is_pending())
        })
        .await
    }

    /// Runs two statements as one transaction.
    ///
    /// # Errors
    /// That of the first one, or the loss of the connection.
    pub(super) async fn transact(
        &mut self,
        first: &WireStatement<'_>,
        second: &WireStatement<'_>,
    ) -> Result<WireResponses, WireError> {
        self.prepare(first).await?;
        self.prepare(second).await?;
        self.sending.clear();
        let of_first = self.bind(first)?;
        let of_second = self.bind(second)?;
        frontend::sync(&mut self.sending);
        self.send().await?;
        let first = match self.rows(&of_first, first.most).await {
            Ok((rows, _)) => rows,
            Err(error) => return Err(self.after(error).await),
        };
        let second = match self.rows(&of_second, second.most).await {
            // What else comes nobody reads: the session stays pending, and is closed.
            Ok((rows, true)) => {
                let second = Ok(rows);
                return Ok(WireResponses { first, second });
            }
            Ok((rows, false)) => Ok(rows),
            Err(WireError::Database(error)) => Err(error),
            Err(other) => return Err(other),
        };
        let ended = self.end().await;
        if second.is_ok() {
            ended?;
        }
        Ok(WireResponses { first, second })
    }

    /// Prepares a statement, unless the session knows it.
    async fn prepare(&mut self, statement: &WireStatement<'_>) -> Result<(), WireError> {
        let key = key(statement);
        if self.known.contains_key(&key) {
            return Ok(());
        }
        let name = format!("r{}", self.known.len());
        self.sending.clear();
        frontend::parse(&name, statement.text, [], &mut self.sending)?;
        frontend::describe(b'S', &name, &mut self.sending)?;
        frontend::sync(&mut self.sending);
        self.send().await?;
        let described = match self.describe().await {
            Ok(described) => described,
            Err(error) => return Err(self.after(error).await),
        };
        self.end().await?;
        let (parameters, columns) = described;
        let known = KnownStatement {
            name,
            parameters: types(&parameters)?,
            columns: types(&columns)?.into(),
            _kept_by: statement.kept_by.cloned(),
        };
        self.known.insert(key, known);
        Ok(())
    }

    /// The types of parameters and columns of a statement that was just sent to be prepared.
    async fn describe(&mut self) -> Result<(Vec<u32>, Vec<u32>), WireError> {
        let mut parameters = Vec::new();
        loop {
            match self.message().await? {
                Message::ParseComplete => {}
                Message::ParameterDescription(body) => {
                    parameters = body.parameters().collect()?;
                }
                Message::RowDescription(body) => {
                    let columns = body.fields().map(|field| Ok(field.type_oid()));
                    return Ok((parameters, columns.collect()?));
                }
                Message::NoData => return Ok((parameters, Vec::new())),
                other => return Err(unexpected(&other)),
            }
        }
    }

    /// Adds a statement to what is sent next, and gives the types of its columns.
    fn bind(&mut self, statement: &WireStatement<'_>) -> Result<Arc<[Type]>, WireError> {
        let Some(known) = self.known.get(&key(statement)) else {
            return Err(WireError::Parameters("it was not prepared".to_owned()));
        };
        let (values, types) = (statement.parameters, &known.parameters);
        if values.len() != types.len() {
            let why = format!("{} parameters instead of {}", values.len(), types.len());
            return Err(WireError::Parameters(why));
        }
        let formats = values.iter().zip(types);
        let formats = formats.map(|(value, of)| value.encode_format(of) as i16);
        frontend::bind(
            "",
            &known.name,
            formats,
            values.iter().zip(types),
            |(value, of), buffer| {
                Ok(match value.to_sql_checked(of, buffer)? {
                    IsNull::Yes => postgres_protocol::IsNull::Yes,
                    IsNull::No => postgres_protocol::IsNull::No,
                })
            },
            [BINARY],
            &mut self.sending,
        )
        .map_err(|error| match error {
            BindError::Conversion(error) => WireError::Parameters(error.to_string()),
            BindError::Serialization(error) => WireError::Parameters(error.to_string()),
        })?;
        frontend::execute("", ALL_ROWS, &mut self.sending)?;
        Ok(known.columns.clone())
    }

    async fn send(&mut self) -> io::Result<()> {
        self.pending = true;
        self.socket.write_all(&self.sending).await?;
        self.socket.flush().await
    }

    /// The rows of the next statement, and whether there are more, beyond what was to be read.
    async fn rows(
        &mut self,
        columns: &Arc<[Type]>,
        most: Option<usize>,
    ) -> Result<(Vec<WireRow>, bool), WireError> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        loop {
            match self.message().await? {
                Message::BindComplete => {}
                Message::DataRow(body) => {
                    if most.is_some_and(|most| bytes > most) {
                        return Ok((rows, true));
                    }
                    let row = WireRow::new(columns.clone(), body)?;
                    bytes += row.bytes();
                    rows.push(row);
                }
                Message::CommandComplete(_) | Message::EmptyQueryResponse => {
                    return Ok((rows, false));
                }
                other => return Err(unexpected(&other)),
            }
        }
    }

    /// Reads to the end of what was sent after an error, which is given back.
    async fn after(&mut self, error: WireError) -> WireError {
        if let WireError::Database(_) = error {
            // Where the end does not come, the session stays pending, and the error says more than that.
            let _ = self.end().await;
        }
        error
    }

    /// Reads to the end of what was sent.
    async fn end(&mut self) -> io::Result<()> {
        loop {
            if let Message::ReadyForQuery(body) = self.message().await? {
                if body.status() != IDLE {
                    return Err(io::Error::other("a transaction was left open"));
                }
                self.pending = false;
                if self.received.capacity() > MAX_KEPT_BYTES {
                    self.received = BytesMut::new();
                }
                return Ok(());
            }
        }
    }

    /// The next message that belongs to a response.
    async fn message(&mut self) -> io::Result<Message> {
        loop {
            match Message::parse(&mut self.received)? {
                Some(
                    Message::NoticeResponse(_)
                    | Message::NotificationResponse(_)
                    | Message::ParameterStatus(_),
                ) => {}
                Some(message) => return Ok(message),
                None => {
                    self.received.reserve(MIN_READ_BYTES);
                    if self.socket.read_buf(&mut self.received).await? == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
            }
        }
    }
}

fn key(statement: &WireStatement<'_>) -> (usize, usize) {
    (statement.text.as_ptr().addr(), statement.text.len())
}

/// The types that every database knows by these numbers.
fn types(numbers: &[u32]) -> Result<Vec<Type>, WireError> {
    let known = |number: &u32| {
        Type::from_oid(*number)
            .ok_or_else(|| WireError::Parameters(format!("the type {number} is not known")))
    };
    numbers.iter().map(known).collect()
}

/// What an error says, or that something else came than can come.
fn unexpected(message: &Message) -> WireError {
    match message {
        Message::ErrorResponse(body) => match DatabaseError::read(body) {
            Ok(error) => WireError::Database(error),
            Err(error) => error.into(),
        },
        _ => io::Error::other("a message that does not belong here").into(),
    }
}
