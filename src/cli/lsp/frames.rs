//! Messages as they come: lines of a header, an empty line, and as many bytes of JSON as the header says.
//!
//! No length is taken at its word: memory is for bytes that have come, up to a bound. JSON that is no message gets the
//! protocol's response, and the next frame is read; where a frame ends is known only as long as all before it were frames.
//! A text that is JSON but for half a character is read with a stand-in for it.

use std::io::{self, BufRead, Read as _, Write};

use lsp_server::{ErrorCode, Message};
use serde_json::{Value, json};
use tplkit::finding::suggest::short_text;

/// How many bytes a header has at most.
const MOST_HEADER: u64 = 16 << 10;
/// How many bytes a message has at most.
const MOST_BYTES: u64 = 1 << 30;

/// Why there is no message.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error("a line of a header is `Name: value`, not `{0}`")]
    Line(String),
    #[error("the header is longer than 16 KiB")]
    LongHeader,
    #[error("the header has no `Content-Length`")]
    NoLength,
    #[error("`Content-Length: {0}` is no number of bytes up to 1 GiB")]
    Length(String),
    #[error("the input ends within a message")]
    Cut,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// What came in one piece.
#[derive(Debug)]
pub(super) enum Frame {
    Message(Message),
    /// JSON that is no message. The id is null but for a request that has one.
    Invalid {
        id: Value,
    },
}

/// The next frame; nothing where the input ends before it.
pub(super) fn read(input: &mut impl BufRead) -> Result<Option<Frame>, FrameError> {
    let Some(length) = read_header(input)? else {
        return Ok(None);
    };
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(FrameError::Cut);
    }
    let frame = parse(&body).or_else(|_| parse(repaired(&body).as_bytes()))?;
    Ok(Some(frame))
}

fn parse(body: &[u8]) -> Result<Frame, serde_json::Error> {
    if let Ok(message) = serde_json::from_slice(body) {
        return Ok(Frame::Message(message));
    }
    let value: Value = serde_json::from_slice(body)?;
    // Without a method it may be meant as a response, whose id is one of ours.
    let id = value.get("method").and_then(|_| value.get("id"));
    let id = id.filter(|id| id.is_string() || id.is_number());
    Ok(Frame::Invalid {
        id: id.cloned().unwrap_or_default(),
    })
}

/// The text with a stand-in for what no text can hold: halves of surrogate pairs, which editors in JavaScript write as
/// they have them, and bytes that are no UTF-8. A half and its stand-in are one unit of UTF-16, so columns stay.
fn repaired(body: &[u8]) -> String {
    const STAND_IN: &str = "\\ufffd";
    let text = String::from_utf8_lossy(body);
    let mut whole = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let unit = code_unit(escape);
        let is_pair = || {
            let next = escape.get(6..).and_then(code_unit);
            next.is_some_and(|next| (0xDC00..0xE000).contains(&next))
        };
        let length = match unit {
            Some(0xD800..0xDC00) if is_pair() => 12,
            Some(0xD800..0xE000) => {
                whole.push_str(STAND_IN);
                rest = &escape[6..];
                continue;
            }
            Some(_) => 6,
            // The character behind it is escaped, be it another backslash.
            None => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        let (escape, behind) = escape.split_at(length);
        whole.push_str(escape);
        rest = behind;
    }
    whole.push_str(rest);
    whole
}

/// The unit of UTF-16 that a text begins with as `\u` and four digits.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| are_digits)
}

/// Responds to JSON that is no message. The library has no response without an id.
pub(super) fn write_invalid(output: &mut impl Write, id: &Value) -> io::Result<()> {
    let error = json!({
        "code": ErrorCode::InvalidRequest as i32,
        "message": "this is no request, notification or response of JSON-RPC 2.0",
    });
    let body = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

/// How long the message is. Other fields of the header say nothing that matters.
fn read_header(input: &mut impl BufRead) -> Result<Option<u64>, FrameError> {
    let mut header = input.by_ref().take(MOST_HEADER);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        header.read_until(b'\n', &mut line)?;
        let Some(line) = line.strip_suffix(b"\n") else {
            return match header.limit() {
                0 => Err(FrameError::LongHeader),
                MOST_HEADER => Ok(None),
                _ => Err(FrameError::Cut),
            };
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return length.map(Some).ok_or(FrameError::NoLength);
        }
        let text = String::from_utf8_lossy(line);
        let Some((name, value)) = text.split_once(':') else {
            return Err(FrameError::Line(short_text(&text)));
        };
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            length = Some(parse_length(value.trim())?);
        }
    }
}

fn parse_length(text: &str) -> Result<u64, FrameError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse::<u64>().ok();
    number
        .filter(|number| digits && *number <= MOST_BYTES)
        .ok_or_else(|| FrameError::Length(short_text(text)))
}

#[cfg(test)]
mod tests {
    use lsp_server::Message;
    use serde_json::Value;

    use super::{Frame, FrameError, MOST_HEADER, read, repaired, write_invalid};

    const EXIT: &str = r#"{"jsonrpc":"2.0","method":"exit"}"#;

    fn after(header: &str) -> Result<Option<Frame>, FrameError> {
        read(&mut format!("{header}{EXIT}").as_bytes())
    }

    #[test]
    fn a_header_may_be_written_in_many_ways() {
        let length = EXIT.len();
        for header in [
            format!("Content-Length: {length}\r\n\r\n"),
            format!("content-length:{length}\r\n\r\n"),
            format!("CONTENT-LENGTH:  {length} \r\n\r\n"),
            format!("Content-Length: {length}\n\n"),
            format!("X-A:\r\nContent-Length: {length}\r\nX-B: a: b\r\n\r\n"),
            format!("Content-Length: {length}\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n"),
        ] {
            let message = after(&header).expect("a message");
            let notification = match message {
                Some(Frame::Message(Message::Notification(notification))) => notification,
                other => panic!("{header}: {other:?}"),
            };
            assert_eq!(notification.method, "exit", "{header}");
        }
    }

    #[test]
    fn json_that_is_no_message_is_no_end() {
        for (body, id) in [
            (r#"{"foo":1}"#, "null"),
            ("[]", "null"),
            ("5", "null"),
            (r#"{"jsonrpc":"2.0","id":3}"#, "null"),
            (r#"{"id":3,"method":{}}"#, "3"),
            (r#"{"id":"a","method":5}"#, r#""a""#),
            (r#"{"id":[3],"method":5}"#, "null"),
        ] {
            let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
            let Ok(Some(Frame::Invalid { id: found })) = read(&mut text.as_bytes()) else {
                panic!("{body}");
            };
            assert_eq!(found.to_string(), id, "{body}");
        }
        let error = read(&mut &b"Content-Length: 3\r\n\r\n{{{"[..]);
        assert!(matches!(error, Err(FrameError::Json(_))));
        let mut written = Vec::new();
        write_invalid(&mut written, &Value::Null).expect("written");
        let text = String::from_utf8(written).expect("UTF-8");
        let (header, body) = text.split_once("\r\n\r\n").expect("a header");
        assert_eq!(header, format!("Content-Length: {}", body.len()));
        let response: Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(response["error"]["code"], -32600);
        assert!(response.get("id").is_some_and(Value::is_null), "{response}");
    }

    #[test]
    fn half_a_character_has_a_stand_in() {
        for (text, whole) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00x""#, r#""\ufffdx""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\n\ude00""#, r#""\ufffd\n\ufffd""#),
            // Not the escape itself, but one that a text speaks of.
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\u00e9é""#, r#""\u00e9é""#),
            (r#""\ud83"#, r#""\ud83"#),
            ("\"\\", "\"\\"),
        ] {
            assert_eq!(repaired(text.as_bytes()), whole, "{text}");
        }
        assert_eq!(repaired(b"\"a\xffb\""), "\"a\u{fffd}b\"");
        let body = r#"{"jsonrpc":"2.0","method":"m","params":["\ud83d"]}"#;
        let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let Ok(Some(Frame::Message(Message::Notification(notification)))) =
            read(&mut text.as_bytes())
        else {
            panic!("{body}");
        };
        assert_eq!(notification.params[0], "\u{fffd}");
    }

    #[test]
    fn a_length_that_is_none_is_refused_before_anything_is_read() {
        for length in [
            "",
            "-1",
            "+5",
            "5 5",
            "0x10",
            "1e3",
            "1073741825",
            "9223372036854775807",
            "18446744073709551615",
            "99999999999999999999",
        ] {
            let error = after(&format!("Content-Length: {length}\r\n\r\n"));
            assert!(matches!(error, Err(FrameError::Length(_))), "{length}");
        }
        let error = after("Content-Type: x\r\n\r\n");
        assert!(matches!(error, Err(FrameError::NoLength)));
        let error = after("nonsense\r\n\r\n");
        assert!(matches!(error, Err(FrameError::Line(line)) if line == "nonsense"));
        let long = "x".repeat(usize::try_from(MOST_HEADER).expect("a size"));
        let error = after(&format!("X-A: {long}\r\n\r\n"));
        assert!(matches!(error, Err(FrameError::LongHeader)));
    }

    #[test]
    fn an_input_ends_between_messages_or_within_one() {
        assert!(matches!(read(&mut &b""[..]), Ok(None)));
        for cut in [
            "Conte",
            "Content-Length: 9\r\n",
            "Content-Length: 9\r\n\r\n{}",
        ] {
            let error = read(&mut cut.as_bytes());
            assert!(matches!(error, Err(FrameError::Cut)), "{cut}");
        }
        // What is announced takes no memory before it comes.
        let error = after("Content-Length: 1073741824\r\n\r\n");
        assert!(matches!(error, Err(FrameError::Cut)));
    }
}
