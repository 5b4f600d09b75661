//! The loop: one message after the other, and the end.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use serde_json::Value;
use tplkit::printable;

use super::event::Event;
use super::frames::{self, Frame, FrameError};
use super::server::Server;
use crate::cli::exit::Exit;

/// What the editor gets.
#[derive(Debug)]
enum Outgoing {
    Message(Message),
    /// The response to JSON that is no message.
    Invalid(Value),
}

/// Ids of requests that the editor has taken back.
type Cancelled = Arc<Mutex<HashSet<String>>>;

/// Serves an editor on standard input and output until it says `exit`.
pub(crate) fn serve() -> Exit {
    let (events, incoming) = mpsc::channel();
    let cancelled = Cancelled::default();
    let (forward, taken_back) = (events.clone(), Arc::clone(&cancelled));
    let reader = thread::spawn(move || {
        let read = read_all(&mut io::stdin().lock(), &forward, &taken_back);
        forward.send(Event::Closed).ok();
        read
    });
    // One message at a time: an editor that does not read stops the loop, so no responses pile up. What it sends
    // meanwhile does, in `events`: its cancellations are taken in at once.
    let (sender, outgoing) = mpsc::sync_channel(0);
    let writer = thread::spawn(move || write_all(&mut io::stdout().lock(), outgoing));
    let send = move |outgoing: Outgoing| sender.send(outgoing).is_ok();
    let exit = run(&incoming, events, &cancelled, &send);
    drop(send);
    let read = reader.join();
    writer.join().ok();
    match read {
        Ok(Ok(())) => exit,
        Ok(Err(error)) => {
            // Whoever wrote the client reads its log; there is nobody to respond to any more.
            let why = printable::line(&error.to_string());
            let _ = writeln!(
                io::stderr(),
                "error: what was sent is not a message of the language server protocol, so the server ends: {why}\n  \
                 = help: a message is `Content-Length: N`, an empty line, and N bytes of JSON-RPC"
            );
            Exit::Findings
        }
        // The panic hook has written to stderr where.
        Err(_) => Exit::Bug,
    }
}

/// Hands over every message up to `exit`. Taken in at once, a cancellation is known before the request that it is about
/// is begun.
fn read_all(
    input: &mut impl BufRead,
    forward: &Sender<Event>,
    cancelled: &Cancelled,
) -> Result<(), FrameError> {
    while let Some(frame) = frames::read(input)? {
        let event = match frame {
            Frame::Message(message) => Event::Message(message),
            Frame::Invalid { id } => Event::Invalid(id),
        };
        let mut last = false;
        if let Event::Message(Message::Notification(notification)) = &event {
            last = notification.method == "exit";
            if notification.method == "$/cancelRequest"
                && let (Some(id), Ok(mut ids)) = (notification.params.get("id"), cancelled.lock())
            {
                ids.insert(id.to_string());
            }
        }
        if forward.send(event).is_err() || last {
            break;
        }
    }
    Ok(())
}

/// Writes messages until there are no more, or the reader has closed.
fn write_all(output: &mut impl Write, messages: Receiver<Outgoing>) -> io::Result<()> {
    messages
        .into_iter()
        .try_for_each(|outgoing| match outgoing {
            Outgoing::Message(message) => message.write(output),
            Outgoing::Invalid(id) => frames::write_invalid(output, &id),
        })
}

fn run(
    incoming: &Receiver<Event>,
    events: Sender<Event>,
    cancelled: &Cancelled,
    send: &dyn Fn(Outgoing) -> bool,
) -> Exit {
    let mut server = Server::new(events);
    let mut stage = Stage::Waiting;
    loop {
        let event = match server.next_due() {
            Some(wait) => incoming.recv_timeout(wait),
            None => incoming.recv().map_err(RecvTimeoutError::from),
        };
        let out = match event {
            Ok(Event::Message(Message::Request(request))) => {
                let response = respond(&mut server, &mut stage, cancelled, request);
                vec![Outgoing::Message(response)]
            }
            Ok(Event::Message(Message::Notification(notification))) => {
                if notification.method == "exit" {
                    return stage.exit();
                }
                if stage == Stage::Serving {
                    notified(&mut server, &notification);
                }
                Vec::new()
            }
            Ok(Event::Message(Message::Response(_))) => Vec::new(),
            Ok(Event::Invalid(id)) => vec![Outgoing::Invalid(id)],
            Ok(Event::Checked(checked)) => {
                server.checked(*checked);
                Vec::new()
            }
            Err(RecvTimeoutError::Timeout) => {
                server.check_due();
                Vec::new()
            }
            Ok(Event::Closed) | Err(RecvTimeoutError::Disconnected) => return stage.gone(),
        };
        let messages = server.take_messages().into_iter();
        for outgoing in out.into_iter().chain(messages.map(Outgoing::Message)) {
            if !send(outgoing) {
                return stage.exit();
            }
        }
    }
}

/// How far the conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before `initialize`.
    Waiting,
    Serving,
    /// After `shutdown`.
    Ending,
}

impl Stage {
    /// The input has ended: no failure where nobody has asked for anything.
    fn gone(self) -> Exit {
        if self == Stage::Waiting {
            Exit::Done
        } else {
            self.exit()
        }
    }

    /// `exit` without `shutdown` before it is a failure, the protocol says.
    fn exit(self) -> Exit {
        if self == Stage::Ending {
            Exit::Done
        } else {
            Exit::Findings
        }
    }
}

fn respond(
    server: &mut Server,
    stage: &mut Stage,
    cancelled: &Cancelled,
    request: Request,
) -> Message {
    let id = request.id;
    let refused = |code: ErrorCode, message: &str| {
        Message::Response(Response::new_err(
            id.clone(),
            code as i32,
            message.to_owned(),
        ))
    };
    let key = serde_json::to_string(&id).unwrap_or_default();
    let taken_back = cancelled.lock().is_ok_and(|mut ids| ids.remove(&key));
    let result = match (*stage, request.method.as_str()) {
        (Stage::Waiting, "initialize") => {
            *stage = Stage::Serving;
            Ok(server.initialize(&request.params))
        }
        (Stage::Waiting, _) => {
            return refused(
                ErrorCode::ServerNotInitialized,
                "the first request is `initialize`",
            );
        }
        (Stage::Ending, _) => {
            return refused(ErrorCode::InvalidRequest, "the server is shutting down");
        }
        (Stage::Serving, "initialize") => {
            return refused(
                ErrorCode::InvalidRequest,
                "the server is initialized already",
            );
        }
        (Stage::Serving, "shutdown") => {
            *stage = Stage::Ending;
            Ok(Value::Null)
        }
        (Stage::Serving, _) if taken_back => {
            return refused(ErrorCode::RequestCanceled, "cancelled");
        }
        (Stage::Serving, method) => {
            let work = AssertUnwindSafe(|| server.respond(method, &request.params));
            match catch_unwind(work) {
                Ok(Some(result)) => result,
                Ok(None) => {
                    let message = format!("tplkit lsp does not know `{method}`");
                    return refused(ErrorCode::MethodNotFound, &message);
                }
                // The panic hook has written to stderr where.
                Err(_) => return refused(ErrorCode::InternalError, "tplkit has a bug"),
            }
        }
    };
    Message::Response(match result {
        Ok(result) => Response::new_ok(id, result),
        Err(refusal) => Response::new_err(id, refusal.code, refusal.message),
    })
}

fn notified(server: &mut Server, notification: &Notification) {
    let work = AssertUnwindSafe(|| server.notified(&notification.method, &notification.params));
    // The panic hook has written to stderr where; the next change checks again.
    catch_unwind(work).ok();
}
