//! `tplkit lsp`: the language server.

use std::io::{self, IsTerminal as _};

use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::lsp;
use crate::cli::session::Session;

/// Serve an editor: findings while typing, fixes, renames, completion.
///
/// Speaks the Language Server Protocol on standard input and output; docs/EDITORS.md says how to set an
/// editor up. It never changes a file itself.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Serve the editor that starts it", "tplkit lsp"),
    ("The same, for editors that always pass `--stdio`", "tplkit lsp --stdio"),
]))]
pub(crate) struct Args {
    /// Speak on standard input and output, which is the only way there is.
    #[arg(long)]
    stdio: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Exit {
    // Editors pass it or do not: there is nothing else to choose.
    let Args { stdio: _ } = args;
    if io::stdin().is_terminal() {
        session.note(
            "note: this is the language server, and an editor talks to it, not a person; docs/EDITORS.md says how to set one up",
        );
    }
    lsp::serve()
}
