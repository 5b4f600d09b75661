//! `/v1/features/{feature_id}/rows`

mod batch;
mod create;
mod delete;
mod get;
mod patch;
mod prepared;

pub use batch::batch;
pub use create::create;
pub use delete::delete;
pub use get::get;
pub use patch::patch;
mod aggregate;
mod list;
mod row_filter;

pub use aggregate::aggregate;
pub use list::list;
