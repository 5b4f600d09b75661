//! One file per command.

mod automation;
mod check;
mod completions;
mod diff;
mod explain;
mod fmt;
mod graph;
mod man;
mod migrate;
mod new;
mod pack;
mod promote;
mod report;
mod resolve;
mod rules;
mod schema;
mod show;
mod simulate;
mod unpack;
mod why;

use super::error::CliError;
use super::exit::Exit;
use super::session::Session;

/// The commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Check(Box<check::Args>),
    Promote(promote::Args),
    Explain(explain::Args),
    Rules(rules::Args),
    Show(show::Args),
    Why(why::Args),
    Diff(diff::Args),
    Graph(graph::Args),
    Report(report::Args),
    Fmt(fmt::Args),
    Unpack(unpack::Args),
    Pack(pack::Args),
    Migrate(migrate::Args),
    Simulate(Box<simulate::Args>),
    Resolve(resolve::Args),
    Automation(automation::Args),
    New(new::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command, session: &Session) -> Result<Exit, CliError> {
    match command {
        Command::Check(args) => check::run(&args, session),
        Command::Promote(args) => promote::run(&args, session),
        Command::Explain(args) => explain::run(&args, session),
        Command::Rules(args) => rules::run(&args),
        Command::Show(args) => show::run(&args, session),
        Command::Why(args) => why::run(&args, session),
        Command::Graph(args) => graph::run(&args, session),
        Command::Report(args) => report::run(&args, session),
        Command::Simulate(args) => simulate::run(&args, session),
        Command::Resolve(args) => resolve::run(&args, session),
        Command::Automation(args) => automation::run(&args, session),
        Command::Diff(args) => diff::run(&args, session),
        Command::Fmt(args) => fmt::run(&args, session),
        Command::Unpack(args) => unpack::run(&args, session),
        Command::Pack(args) => pack::run(&args, session),
        Command::Migrate(args) => migrate::run(&args, session),
        Command::New(args) => new::run(&args, session),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
