//! Templates over HTTP: the catalog, packages and payloads, promotion.

mod active;
mod apply;
mod cancel;
mod catalog;
mod complete;
mod create;
mod decisions;
mod drift;
mod empty_cells;
mod export;
mod failed_rows;
mod onto;
mod package;
mod patch;
mod payloads;
mod plan;
mod plan_package;
mod promoted;
mod promotion;
mod recognised;
mod redaction;
mod rights;
mod round_trip;
mod rows_modes;
pub(crate) mod shop;
mod undo;
mod upgrade;
