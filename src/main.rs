//! The `tplkit` command: from what was typed to an exit code.

mod cli;

use std::ffi::OsString;
use std::process::ExitCode;

use cli::{args, commands, failure, interrupt, session::Session};

fn main() -> ExitCode {
    interrupt::install();
    let words: Vec<OsString> = std::env::args_os().collect();
    let exit = failure::guard(&words, || {
        let request = args::parse(&words)?;
        let session = Session::new(&request.global);
        commands::run(request.command, &session)
    });
    exit.into()
}
