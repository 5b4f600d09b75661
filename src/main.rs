//! The `tplkit` command: arguments in, exit code out.

mod cli;

use std::ffi::OsString;
use std::process::ExitCode;

use cli::commands::{self, command_line, completion};
use cli::{exit::Exit, failure, interrupt, session::Session};

fn main() -> ExitCode {
    interrupt::install();
    let words: Vec<OsString> = std::env::args_os().collect();
    let exit = failure::guard(&words, || {
        if completion::handled(&words)? {
            return Ok(Exit::Done);
        }
        let request = command_line::parse(&words)?;
        let session = Session::new(&request.global);
        commands::run(request.command, &session)
    });
    exit.into()
}
