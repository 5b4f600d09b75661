//! What the parts do alone that no server can do without: responding over HTTP, and writing rows into the
//! trees of the store. Whoever does more on the same processors is slower than they are.

pub(crate) mod http;
pub(crate) mod sqlite;
