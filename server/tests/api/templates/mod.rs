//! Templates over HTTP: the catalog, packages and payloads, promotion.

mod active;
mod apply;
mod cancel;
mod catalog;
mod create;
mod decisions;
mod empty_cells;
mod export;
mod failed_rows;
mod package;
mod patch;
mod payloads;
mod plan;
mod promoted;
mod promotion;
mod recognised;
mod rights;
mod round_trip;
mod rows_modes;
pub(crate) mod shop;
mod undo;
mod veil;
mod whole;
