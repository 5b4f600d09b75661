//! `/v1/files`: upload, lists, content, links, deletion.

mod boundary;
mod content;
mod create;
mod delete;
mod get;
mod links;
mod list;
mod receive;

pub use content::content;
pub(crate) use create::FileUpload;
pub use create::create;
pub use delete::delete;
pub use get::get;
pub(crate) use links::{Link, LinkCreate};
pub use links::{create as create_link, open as open_link};
pub use list::list;
