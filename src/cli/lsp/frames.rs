//! Messages as they come: lines of a header, an empty line, and as many bytes of JSON as the header says.
//!
//! No length is taken at its word: memory is for bytes that have come, up to a bound.

use std::io::{self, BufRead, Read as _};

use lsp_server::Message;
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

/// The next message; nothing where the input ends before it.
pub(super) fn read(input: &mut impl BufRead) -> Result<Option<Message>, FrameError> {
    let Some(length) = read_header(input)? else {
        return Ok(None);
    };
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(FrameError::Cut);
    }
    Ok(Some(serde_json::from_slice(&body)?))
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

    use super::{FrameError, MOST_HEADER, read};

    const EXIT: &str = r#"{"jsonrpc":"2.0","method":"exit"}"#;

    fn after(header: &str) -> Result<Option<Message>, FrameError> {
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
            assert!(
                matches!(message, Some(Message::Notification(one)) if one.method == "exit"),
                "{header}"
            );
        }
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
