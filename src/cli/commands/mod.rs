//! One file per command.

#[cfg(feature = "client")]
mod api;
#[cfg(feature = "client")]
mod apply;
mod automation;
mod check;
mod completions;
mod diff;
#[cfg(feature = "client")]
mod doctor;
mod explain;
#[cfg(feature = "client")]
mod export;
mod fmt;
mod graph;
#[cfg(feature = "client")]
mod job;
#[cfg(feature = "client")]
mod login;
#[cfg(feature = "client")]
mod logout;
mod man;
mod migrate;
mod new;
mod pack;
#[cfg(feature = "client")]
mod plan;
mod promote;
mod report;
mod resolve;
#[cfg(feature = "client")]
mod rows;
mod rules;
mod schema;
mod show;
mod simulate;
#[cfg(feature = "client")]
mod template;
mod unpack;
#[cfg(feature = "client")]
mod whoami;
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
    #[cfg(feature = "client")]
    Login(login::Args),
    #[cfg(feature = "client")]
    Logout(logout::Args),
    #[cfg(feature = "client")]
    Whoami(whoami::Args),
    #[cfg(feature = "client")]
    Template(template::Args),
    #[cfg(feature = "client")]
    Plan(Box<plan::Args>),
    #[cfg(feature = "client")]
    Apply(Box<apply::Args>),
    #[cfg(feature = "client")]
    Job(job::Args),
    #[cfg(feature = "client")]
    Export(Box<export::Args>),
    #[cfg(feature = "client")]
    Rows(Box<rows::Args>),
    #[cfg(feature = "client")]
    Api(Box<api::Args>),
    #[cfg(feature = "client")]
    Doctor(doctor::Args),
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
        #[cfg(feature = "client")]
        Command::Login(args) => login::run(&args, session),
        #[cfg(feature = "client")]
        Command::Logout(args) => logout::run(&args, session),
        #[cfg(feature = "client")]
        Command::Whoami(args) => whoami::run(&args, session),
        #[cfg(feature = "client")]
        Command::Template(args) => template::run(&args, session),
        #[cfg(feature = "client")]
        Command::Plan(args) => plan::run(&args, session),
        #[cfg(feature = "client")]
        Command::Apply(args) => apply::run(&args, session),
        #[cfg(feature = "client")]
        Command::Job(args) => job::run(&args, session),
        #[cfg(feature = "client")]
        Command::Export(args) => export::run(&args, session),
        #[cfg(feature = "client")]
        Command::Rows(args) => rows::run(&args, session),
        #[cfg(feature = "client")]
        Command::Api(args) => api::run(&args, session),
        #[cfg(feature = "client")]
        Command::Doctor(args) => doctor::run(&args, session),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
