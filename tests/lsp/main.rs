//! The language server from outside: a scripted client over the real standard input and output.

mod client;
mod completion;
mod conversation;
mod findings;
mod folders;
mod hostile;
#[cfg(unix)]
mod neovim;
mod packages;
mod renames;
mod responses;
mod rules;
mod text;
