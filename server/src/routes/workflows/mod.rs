//! `/v1/workflows-v2`: versions of automations, and their runs.

mod apply;
mod create;
mod definition_parts;
mod delete;
mod read;
mod runs;
mod validate;
mod versions;

pub(crate) use apply::WorkflowApply;
pub use apply::apply;
pub(crate) use create::WorkflowCreate;
pub use create::create;
pub use delete::delete;
pub use read::{get, list};
pub(crate) use runs::RunCreate;
pub use runs::{get_run, list_runs, run};
pub(crate) use validate::WorkflowValidate;
pub use validate::validate;
pub(crate) use versions::WorkflowVersionCreate;
pub use versions::versions;
