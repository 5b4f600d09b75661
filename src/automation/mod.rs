//! Automations (workflow v2): their model and their validator.
//!
//! One validator serves the three places where automations are checked: `create_workflow_v2`
//! steps of a package, definition files, and the server before it saves. An [`Environment`] holds
//! their differences; the definitions declare triggers and steps.
//!
//! In: the two nodes of an [`Automation`]. Out: [`Issue`]s, never an error. It reads nothing except
//! its input. [`run`] executes automations.
//!
//! | Module | Checks |
//! |---|---|
//! | `trigger` | A001, A002, A019 |
//! | `graph_shape` | A005, A006, A017, J005, J007 |
//! | `config` | A003, A016; S018 over the API |
//! | `reads` | A007, A008, A009, A015, A018 |
//! | `writes` | A010, A011, A014 |
//! | `graph_warnings` | A004, A012, A013 |

mod attached;
mod between_filter;
mod config;
mod cron;
mod declared_values;
mod definition;
mod environment;
mod graph;
mod graph_shape;
mod graph_warnings;
mod ids;
mod issue;
mod parsed_trigger;
mod reads;
pub mod run;
pub(crate) mod secret_names;
mod secrets;
mod step_walk;
#[cfg(test)]
mod tests;
mod tokens;
mod trigger;
mod undeclared_secrets;
mod validate;
mod validation_context;
mod writes;

pub use attached::{attached_files, named_in_steps};
pub(crate) use config::{is_needed, needed_fields};
pub use definition::validate_file;
pub use environment::{EmptyEnvironment, Environment, PackageEnvironment, Setting};
pub use graph::{Graph, Step, step_ids};
pub use ids::{assign_step_ids, complete_step_ids, step_id};
pub use issue::{Issue, IssueTarget};
pub use run::Timer;
pub(crate) use secrets::keep_secrets;
pub use secrets::{SecretPlace, each_secret, empty_secrets};
pub(crate) use step_walk::{each_step, read_steps};
pub use tokens::{Path, Piece, Pieces, Token, TokenError, lone_token, pieces};
pub use validate::{Automation, validate};
