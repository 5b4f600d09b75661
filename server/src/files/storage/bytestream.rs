//! Bytes of an object as they come, and the error of those that are not what was uploaded.

use std::io;

use bytes::Bytes;
use futures_util::stream::BoxStream;

/// Bytes as they come.
pub type Bytestream = BoxStream<'static, io::Result<Bytes>>;

/// The bytes of an object are not those that were uploaded.
#[derive(Debug, thiserror::Error)]
#[error("the bytes are not those that were uploaded")]
pub struct OtherBytes;

/// The error of a stream that ends because of that.
pub(super) fn other_bytes() -> io::Error {
    tracing::error!("a file is damaged: its bytes are not those that were uploaded");
    io::Error::other(OtherBytes)
}
