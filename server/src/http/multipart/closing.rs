//! The line of a closing delimiter: nothing stands on it behind the delimiter but blanks.
//!
//! The parser ends at the delimiter and takes whatever follows for the end. So the pieces of a body pass here before it
//! gets them, and a body is not taken where a delimiter is only the beginning of a longer line.

use memchr::memchr;

/// Blanks that may follow a delimiter, at most: a piece waits for what comes after them.
const MOST_BLANKS: usize = 1 << 10;

/// Follows a body, piece by piece.
#[derive(Debug)]
pub(super) struct Closing {
    delimiter: Vec<u8>,
    at: At,
}

#[derive(Debug, Clone, Copy)]
enum At {
    /// So many bytes of a delimiter.
    Delimiter(usize),
    /// A delimiter and so many blanks.
    Blanks(usize),
    /// The same, and a carriage return.
    Return,
}

impl Closing {
    pub(super) fn new(boundary: &str) -> Closing {
        Closing {
            delimiter: format!("\r\n--{boundary}--").into_bytes(),
            at: At::Delimiter(0),
        }
    }

    /// Takes the next bytes, and says whether they may stand there.
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        loop {
            if matches!(self.at, At::Delimiter(0)) {
                let Some(found) = memchr(b'\r', rest) else {
                    return true;
                };
                rest = &rest[found..];
            }
            let Some((&byte, behind)) = rest.split_first() else {
                return true;
            };
            self.at = match (self.at, byte) {
                (At::Delimiter(seen), _) if self.delimiter[seen] == byte => {
                    if seen + 1 == self.delimiter.len() {
                        At::Blanks(0)
                    } else {
                        At::Delimiter(seen + 1)
                    }
                }
                // A delimiter has this byte at its beginning alone.
                (At::Delimiter(_), b'\r') => At::Delimiter(1),
                (At::Delimiter(_), _) => At::Delimiter(0),
                (At::Blanks(seen), b' ' | b'\t') if seen < MOST_BLANKS => At::Blanks(seen + 1),
                (At::Blanks(_), b'\r') => At::Return,
                // The end of this line begins the next delimiter, if there is one.
                (At::Return, b'\n') => At::Delimiter(2),
                (At::Blanks(_) | At::Return, _) => return false,
            };
            rest = behind;
        }
    }

    /// Whether the line of a delimiter may go on in the next bytes.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.at, At::Delimiter(_))
    }

    /// Whether the body may end here.
    pub(super) fn may_end(&self) -> bool {
        !matches!(self.at, At::Return)
    }
}

#[cfg(test)]
mod tests {
    use super::{Closing, MOST_BLANKS};

    /// Whether a body is taken, in one piece and in two, wherever it is cut.
    fn taken(body: &str) -> bool {
        let verdicts: Vec<bool> = (0..=body.len())
            .map(|cut| {
                let (first, second) = body.as_bytes().split_at(cut);
                let mut closing = Closing::new("XX");
                closing.take(first) && closing.take(second) && closing.may_end()
            })
            .collect();
        assert!(verdicts.iter().all(|one| *one == verdicts[0]), "{body:?}");
        verdicts[0]
    }

    #[test]
    fn a_closing_delimiter_has_its_line_for_itself() {
        let blanks = |count| format!("a\r\n--XX--{}\r\n", " ".repeat(count));
        for body in [
            "",
            "a\r\n--XX--",
            "a\r\n--XX--\r\n",
            "a\r\n--XX-- \t",
            "a\r\n--XX-- \t\r\nwhatever --XX--x\r\n",
            "\r\r\n--XX--\r\n",
            "\r\n--X\r\n--XX--\r\n",
            "--XX--x",
            "\r\n--XX-x",
            &blanks(MOST_BLANKS),
        ] {
            assert!(taken(body), "{body:?}");
        }
        for body in [
            "a\r\n--XX--x",
            "a\r\n--XX--x\r\n",
            "a\r\n--XX---\r\n",
            "a\r\n--XX--\n",
            "a\r\n--XX-- x",
            "a\r\n--XX--\r",
            "a\r\n--XX--\rx",
            "\r\r\n--XX--x",
            "\r\n--X\r\n--XX--x",
            "a\r\n--XX--\r\n--XX--x",
            &blanks(MOST_BLANKS + 1),
        ] {
            assert!(!taken(body), "{body:?}");
        }
    }

    #[test]
    fn a_line_is_open_until_it_ends() {
        let mut closing = Closing::new("XX");
        for (bytes, open) in [
            ("a\r\n--XX-", false),
            ("-", true),
            (" ", true),
            ("\r", true),
            ("\n", false),
        ] {
            assert!(closing.take(bytes.as_bytes()));
            assert_eq!(closing.is_open(), open, "{bytes:?}");
        }
    }
}
