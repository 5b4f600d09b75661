//! The language server from outside: a scripted client over the real standard input and output.

mod answers;
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
mod rules;
mod text;
