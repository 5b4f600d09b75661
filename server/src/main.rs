//! `tplkit-server`, the command.

mod commands;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    commands::run(commands::Arguments::parse())
}
