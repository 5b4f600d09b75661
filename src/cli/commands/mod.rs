//! One file per command; `command_line` reads the words that name one.

mod api;
mod api_fields;
mod apply;
mod automation;
mod bash_words;
mod check;
pub(crate) mod command_line;
pub(crate) mod completion;
mod completions;
mod diff;
mod doctor;
mod drift;
mod explain;
mod export;
mod files;
mod fmt;
mod graph;
mod job;
mod login;
mod logout;
mod lsp;
mod man;
mod migrate;
mod new;
mod pack;
mod plan;
mod profile;
mod promote;
mod report;
mod resolve;
mod rows;
mod rules;
mod schema;
mod show;
mod simulate;
mod status;
mod template;
mod test;
mod unpack;
mod whoami;
mod why;
mod workspace;

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
    Test(test::Args),
    Resolve(resolve::Args),
    Automation(automation::Args),
    New(new::Args),
    Schema(schema::Args),
    Login(login::Args),
    Logout(logout::Args),
    Whoami(whoami::Args),
    Profile(profile::Args),
    Workspace(workspace::Args),
    Template(template::Args),
    Plan(Box<plan::Args>),
    Apply(Box<apply::Args>),
    Job(job::Args),
    Status(status::Args),
    Drift(drift::Args),
    Export(Box<export::Args>),
    Rows(Box<rows::Args>),
    Files(files::Args),
    Api(Box<api::Args>),
    Doctor(doctor::Args),
    Lsp(lsp::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command, session: &Session) -> Result<Exit, CliError> {
    match command {
        Command::Check(args) => check::run(&args, session),
        Command::Promote(args) => promote::run(&args, session),
        Command::Explain(args) => explain::run(&args, session),
        Command::Rules(args) => rules::run(&args, session),
        Command::Show(args) => show::run(&args, session),
        Command::Why(args) => why::run(&args, session),
        Command::Graph(args) => graph::run(&args, session),
        Command::Report(args) => report::run(&args, session),
        Command::Simulate(args) => simulate::run(&args, session),
        Command::Test(args) => test::run(&args, session),
        Command::Resolve(args) => resolve::run(&args, session),
        Command::Automation(args) => automation::run(&args, session),
        Command::Diff(args) => diff::run(&args, session),
        Command::Fmt(args) => fmt::run(&args, session),
        Command::Unpack(args) => unpack::run(&args, session),
        Command::Pack(args) => pack::run(&args, session),
        Command::Migrate(args) => migrate::run(&args, session),
        Command::New(args) => new::run(&args, session),
        Command::Schema(args) => schema::run(&args),
        Command::Login(args) => login::run(&args, session),
        Command::Logout(args) => logout::run(&args, session),
        Command::Whoami(args) => whoami::run(&args, session),
        Command::Profile(args) => profile::run(&args, session),
        Command::Workspace(args) => workspace::run(&args, session),
        Command::Template(args) => template::run(&args, session),
        Command::Plan(args) => plan::run(&args, session),
        Command::Apply(args) => apply::run(&args, session),
        Command::Job(args) => job::run(&args, session),
        Command::Status(args) => status::run(&args, session),
        Command::Drift(args) => drift::run(&args, session),
        Command::Export(args) => export::run(&args, session),
        Command::Rows(args) => rows::run(&args, session),
        Command::Files(args) => files::run(&args, session),
        Command::Api(args) => api::run(&args, session),
        Command::Doctor(args) => doctor::run(&args, session),
        Command::Lsp(args) => Ok(lsp::run(&args, session)),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
