//! `man`: manual pages from the declarations of this program.

use std::io::{self, Write as _};

use clap::CommandFactory as _;

use super::examples::examples;
use super::{Arguments as Program, Failure};

#[derive(Debug, clap::Args)]
#[command(after_long_help = examples("", &[
        ("Write the manual page of the program",
         "tplkit-server man > tplkit-server.1"),
        ("Write that of a command",
         "tplkit-server man serve > tplkit-server-serve.1"),
    ]))]
pub(super) struct Arguments {
    /// The command, such as `serve` or `admin create-user`; the whole program when not given.
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut command = Program::command();
    command.build();
    for word in &arguments.words {
        let inner = command.find_subcommand(word).cloned();
        command = inner.ok_or_else(|| {
            let known = command.get_subcommands().map(clap::Command::get_name);
            let known: Vec<&str> = known.collect();
            Failure::Usage(format!(
                "there is no command `{}`: there are {}",
                word.escape_debug(),
                known.join(", ")
            ))
        })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let page = String::from_utf8_lossy(&page);
    let page = page.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n");
    Ok(io::stdout().write_all(page.as_bytes())?)
}
