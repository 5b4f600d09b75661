//! `completions`: scripts by which shells complete the words of this program.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use super::examples::examples;
use super::{Arguments as Program, Failure};

/// The name that is typed.
const NAME: &str = "tplkit-server";

/// The name in identifiers of bash.
const ONE_WAY: &str = "tplkit__server";
const OTHER_WAY: &str = "tplkit__subcmd__server";

#[derive(Debug, clap::Args)]
#[command(after_long_help = examples("", &[
        ("Write the completions of bash",
         "tplkit-server completions bash > tplkit-server.bash"),
        ("Write the completions of fish",
         "tplkit-server completions fish > tplkit-server.fish"),
    ]))]
pub(super) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut Program::command(), NAME, &mut script);
    if arguments.shell == Shell::Bash {
        // Where it decides on the command, and where it looks for that decision, the generator writes the
        // hyphen of our name in two ways; no command would have options.
        let text = String::from_utf8_lossy(&script);
        script = text.replace(OTHER_WAY, ONE_WAY).into_bytes();
    }
    Ok(io::stdout().write_all(&script)?)
}
