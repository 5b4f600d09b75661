//! Templates over HTTP: the catalog, packages and payloads, promotion.

mod catalog;
mod create;
mod package;
mod patch;
mod payloads;
mod promotion;
