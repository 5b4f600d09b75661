//! `/v1/workflows-v2`: versions of automations, and their runs.

mod apply;
mod create;
mod definition_parts;
mod delete;
mod read;
mod runs;
mod validate;
mod versions;

pub use apply::apply;
pub use create::create;
pub use delete::delete;
pub use read::{get, list};
pub use runs::{get_run, list_runs, run};
pub use validate::validate;
pub use versions::versions;
