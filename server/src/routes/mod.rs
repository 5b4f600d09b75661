//! The handlers, one module per resource.

pub mod api_keys;
pub mod auth;
pub mod channels;
pub mod columns;
pub mod connections;
mod export;
pub mod features;
pub mod files;
pub mod health;
pub mod me;
pub mod members;
pub mod modules;
pub mod notifications;
mod organization_scope;
pub mod organizations;
mod path_record;
pub mod rails;
mod records;
pub mod rows;
pub mod schema;
pub mod template_jobs;
pub mod templates;
pub mod views;
pub mod workflows;
pub mod workspace_members;
pub mod workspace_templates;
pub mod workspaces;
