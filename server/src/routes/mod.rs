//! The handlers, one module per resource: what HTTP says, and the statements behind it.

pub mod api_keys;
pub mod auth;
pub mod documentation;
pub mod health;
pub mod me;
pub mod members;
pub mod organizations;
pub mod rows;
pub mod users;
