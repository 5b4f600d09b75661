//! Row security and the predicates of statements: either layer alone keeps apart what is to be apart.

#[cfg(unix)]
mod distribution;
mod files;
mod one_table;
mod organizations;
#[cfg(unix)]
mod policies;
mod scopes;
mod seed;
mod templates;
mod workspaces;
