//! Files: bytes that people bring into a workspace, and their records.
//!
//! - The bytes are in a [`FileStorage`]: a folder, the memory of the process, or a bucket. Objects there are named by
//!   organization and content ([`objects`]).
//! - The records, the cells that use them, and what else keeps them are in the store. Row security shows a file to
//!   its uploader, to administrators, and to whoever sees a row that uses it ([`find`]).
//!
//! An object is in its place before a record names it, and goes after the last record did. Knows no route.

pub mod claim_storage;
pub mod create;
pub mod find;
pub mod link;
pub mod name;
pub mod objects;
mod record;
pub(crate) mod release;
pub mod remove;
pub mod settings;
pub mod storage;
pub mod sweep;
pub mod upload_hold;
pub mod uploads;
pub mod verify;

pub use record::File;
pub use settings::Files;
pub use storage::FileStorage;
