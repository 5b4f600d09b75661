//! `tplkit-server`, the command.

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    tplkit_server::release_memory::prepare();
    commands::run(commands::Arguments::read())
}
