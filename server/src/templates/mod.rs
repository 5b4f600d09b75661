//! Templates of the catalog: packages split into parts for the store, and joined again.
//!
//! The manifest and each payload entry are stored as canonical text with the layout of a whole
//! file, so joining is concatenation. Columns repeat what lists show of a manifest; the visibility
//! of the record is always written into the manifest. In: text and a caller. Out: records, text, or
//! refusals with the codes of broken rules. The library checks packages; this module never reads
//! rows as values.

mod applied;
pub(crate) mod apply;
mod apply_refusal;
pub(crate) mod cancel;
mod catalog;
mod change;
mod content;
pub(crate) mod document;
mod drift;
mod export;
mod finding_documents;
mod identity;
mod manifest;
mod package;
mod package_parts;
mod package_refusal;
mod payloads;
mod promotion;
mod record;
mod status;
pub(crate) mod undo;
mod visibility_words;
mod write;

pub(crate) use catalog::{Filter, get, page};
pub(crate) use change::Change;
pub(crate) use drift::{DriftRequest, drift};
pub(crate) use export::{EarlierPackage, Export, earlier};
pub(crate) use finding_documents::PackageVerdict;
pub(crate) use package::{read as read_package, read_spooled};
pub(crate) use package_parts::{Origin, PackageParts};
pub(crate) use payloads::{
    Entry, Payload, page as page_of_payloads, put as put_payload, remove as remove_payload,
};
pub(crate) use record::{Record, Template, find, hold};
pub(crate) use status::applied;
pub(crate) use write::{Create, Remove, Replace, create, manage, remove, replace};
