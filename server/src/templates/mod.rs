//! Templates of the catalog: packages taken apart into what the store keeps, and put together again.
//!
//! The manifest and each payload entry are kept as canonical text, laid out as in a whole file, so that
//! a package is put together by joining texts. What lists show of a manifest stands in columns, too;
//! the visibility of the record is written into the manifest whenever it changes, whatever a file says.
//!
//! Goes in: text, and who asks. Comes out: records, text, refusals with the codes of the rules that are
//! broken. Whether a package is good is the library's to say; rows are never read as values here.

pub(crate) mod apply;
pub(crate) mod cancel;
mod catalog;
mod change;
mod export;
mod identity;
mod manifest;
mod package;
mod package_parts;
mod payloads;
mod promotion;
mod record;
mod refusals;
pub(crate) mod undo;
mod verdict;
mod write;

pub(crate) use catalog::{Filter, get, page};
pub(crate) use change::Change;
pub(crate) use export::Export;
pub(crate) use package::{Package, read as read_package};
pub(crate) use package_parts::{Origin, PackageParts};
pub(crate) use payloads::{
    Entry, page as page_of_payloads, put as put_payload, remove as remove_payload,
};
pub(crate) use record::find;
pub(crate) use write::{Create, Manage, Replace, create, manage, remove, replace};
