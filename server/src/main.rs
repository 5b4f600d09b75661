//! `tplkit-server`, the command.

use clap::Parser;

/// The multi-tenant /v1 API over template packages.
///
/// This release answers --help and --version only: the commands that serve, migrate and administer
/// come with later releases, each once it works.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {}

fn main() {
    // Answers, or refuses with a usage error (exit 2), by itself.
    let Arguments {} = Arguments::parse();
}
