//! The command line: arguments in, one of the documented exit codes out.
//!
//! `commands::command_line` turns words into typed requests, `commands` has one file per command, `output` is the
//! only place that prints and `failure` the only one that sorts errors into exit codes.

mod active_job;
mod apply_summary;
mod args;
mod candidates;
mod catalog;
mod checker;
mod client_error;
mod command_groups;
pub(crate) mod commands;
mod config;
mod destination;
mod document;
mod error;
mod examples;
pub(crate) mod exit;
pub(crate) mod failure;
mod file_check;
mod folder;
mod folder_check;
mod folder_snapshot;
pub(crate) mod interrupt;
mod interrupt_message;
mod item_titles;
mod job_progress;
mod job_titles;
mod known_path;
mod losses;
mod lsp;
mod output;
mod overwrite;
mod package_file;
mod package_output;
mod plan_view;
mod reference_page;
mod relative_time;
mod remote;
mod replace;
mod resolutions;
mod resume_hint;
mod sections;
pub(crate) mod session;
mod settings;
mod shell_word;
mod source;
mod start_job;
mod toml_file;
mod transfer_rate;
mod typed_id;
mod unpacked_folders;
mod upgrade_args;
mod upgrade_view;
mod walk;
mod watch;
mod word_match;
