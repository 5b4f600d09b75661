//! The handlers, one module per resource.

pub mod api_keys;
pub mod auth;
pub mod channels;
mod checked;
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
