//! The pieces of an object in memory. Small ones are joined: each has a cost of its own, however short it is, and keeps
//! all of what it was read into.

use std::mem::take;

use bytes::{Bytes, BytesMut};
use object_store::PutPayload;

/// A piece below so many bytes is copied; one of so many stays where it came in.
pub const SMALL_PIECE: usize = 16 << 10;
/// Bytes that a joined piece has at most.
pub const JOINED_PIECE: usize = 64 << 10;

/// Pieces, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    whole: Vec<Bytes>,
    /// Small ones that came behind them.
    joined: BytesMut,
    length: usize,
}

impl Pieces {
    /// Takes one more.
    pub(super) fn push(&mut self, piece: Bytes) {
        self.length += piece.len();
        if piece.len() >= SMALL_PIECE {
            self.end_joined();
            self.whole.push(piece);
            return;
        }
        if self.joined.len() + piece.len() > JOINED_PIECE {
            self.end_joined();
        }
        self.joined.extend_from_slice(&piece);
    }

    fn end_joined(&mut self) {
        if !self.joined.is_empty() {
            self.whole.push(take(&mut self.joined).freeze());
        }
    }

    /// Bytes of all of them.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Gives all of them away.
    pub(super) fn take(&mut self) -> PutPayload {
        self.end_joined();
        self.length = 0;
        PutPayload::from_iter(take(&mut self.whole))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{JOINED_PIECE, Pieces, SMALL_PIECE};

    #[test]
    fn small_pieces_are_joined_and_large_ones_stay_where_they_are() {
        let mut pieces = Pieces::default();
        let large = Bytes::from(vec![b'l'; SMALL_PIECE]);
        for _ in 0..=JOINED_PIECE {
            pieces.push(Bytes::from_static(b"s"));
        }
        pieces.push(large.clone());
        pieces.push(large.clone());
        pieces.push(Bytes::from_static(b"e"));
        pieces.push(Bytes::from_static(b"nd"));
        let length = JOINED_PIECE + 1 + 2 * SMALL_PIECE + 3;
        assert_eq!(pieces.length(), length);
        let payload = pieces.take();
        assert_eq!(payload.content_length(), length);
        let lengths: Vec<usize> = payload.iter().map(Bytes::len).collect();
        assert_eq!(lengths, [JOINED_PIECE, 1, SMALL_PIECE, SMALL_PIECE, 3]);
        let found: Vec<&Bytes> = payload.iter().collect();
        assert_eq!(found[2].as_ptr(), large.as_ptr());
        assert_eq!(found[4], "end");
        assert_eq!((pieces.length(), pieces.take().content_length()), (0, 0));
    }
}
