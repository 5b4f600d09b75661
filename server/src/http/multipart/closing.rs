//! The closing delimiter, and what stands behind it: nothing but blanks on its line, and then whatever the client likes.
//!
//! The parser ends at the delimiter and takes whatever follows for the end. So the pieces of a body pass here before it
//! gets them, and a body is not taken where a delimiter is only the beginning of a longer line.

use memchr::memchr;

/// Follows a body, piece by piece.
#[derive(Debug)]
pub(super) struct Closing {
    delimiter: Vec<u8>,
    at: At,
    behind: u64,
}

#[derive(Debug, Clone, Copy)]
enum At {
    /// So many bytes of the delimiter.
    Delimiter(usize),
    /// Blanks behind it.
    Blanks,
    /// The same, and a carriage return.
    Return,
    /// What nobody reads.
    Epilogue,
}

impl Closing {
    pub(super) fn new(boundary: &str) -> Closing {
        Closing {
            delimiter: format!("\r\n--{boundary}--").into_bytes(),
            at: At::Delimiter(0),
            behind: 0,
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
            let Some((&byte, after)) = rest.split_first() else {
                return true;
            };
            self.behind += u64::from(self.has_come());
            self.at = match (self.at, byte) {
                (At::Delimiter(seen), _) if self.delimiter[seen] == byte => {
                    if seen + 1 == self.delimiter.len() {
                        At::Blanks
                    } else {
                        At::Delimiter(seen + 1)
                    }
                }
                // A delimiter has this byte at its beginning alone.
                (At::Delimiter(_), b'\r') => At::Delimiter(1),
                (At::Delimiter(_), _) => At::Delimiter(0),
                (At::Blanks, b' ' | b'\t') => At::Blanks,
                (At::Blanks, b'\r') => At::Return,
                (At::Return, b'\n') | (At::Epilogue, _) => At::Epilogue,
                (At::Blanks | At::Return, _) => return false,
            };
            rest = after;
        }
    }

    /// Whether the delimiter has come.
    pub(super) fn has_come(&self) -> bool {
        !matches!(self.at, At::Delimiter(_))
    }

    /// How many bytes have come behind it.
    pub(super) fn behind(&self) -> u64 {
        self.behind
    }

    /// Whether the body may end here.
    pub(super) fn may_end(&self) -> bool {
        !matches!(self.at, At::Return)
    }
}

#[cfg(test)]
mod tests {
    use super::Closing;

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
            "a\r\n--XX--\r\n--XX--x",
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
        ] {
            assert!(!taken(body), "{body:?}");
        }
    }

    #[test]
    fn what_stands_behind_the_delimiter_is_counted() {
        let mut closing = Closing::new("XX");
        for (bytes, has_come, behind) in [
            ("a\r\n--XX-", false, 0),
            ("-", true, 0),
            (" ", true, 1),
            ("\r", true, 2),
            ("\n", true, 3),
            ("a\r\n--XX--\r\n", true, 14),
        ] {
            assert!(closing.take(bytes.as_bytes()));
            let found = (closing.has_come(), closing.behind());
            assert_eq!(found, (has_come, behind), "{bytes:?}");
        }
    }
}
