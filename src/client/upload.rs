//! The body of a request that counts what has left of it.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bodies of more bytes than this are worth a word while they are sent.
pub(super) const LARGE: usize = 1_000_000;

/// A body that is read by the connection.
pub(super) struct Counted {
    body: Cursor<Vec<u8>>,
    sent: Arc<AtomicU64>,
}

impl Counted {
    pub(super) fn new(body: Vec<u8>, sent: Arc<AtomicU64>) -> Counted {
        Counted {
            body: Cursor::new(body),
            sent,
        }
    }
}

impl Read for Counted {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        let length = self.body.read(part)?;
        self.sent.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Counted;

    #[test]
    fn what_was_read_is_counted() {
        let sent = Arc::new(AtomicU64::new(0));
        let mut body = Counted::new(vec![7; 10], Arc::clone(&sent));
        let mut part = [0; 4];
        assert_eq!(body.read(&mut part).ok(), Some(4));
        assert_eq!(sent.load(Ordering::Relaxed), 4);
        let mut rest = Vec::new();
        assert_eq!(body.read_to_end(&mut rest).ok(), Some(6));
        assert_eq!(sent.load(Ordering::Relaxed), 10);
    }
}
