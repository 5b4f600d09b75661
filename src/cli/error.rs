//! What can keep a command from doing its job. Findings are no errors.

use std::io;
use std::path::PathBuf;

use tplkit::apply::Refusal;
use tplkit::check::baseline::BaselineError;
use tplkit::definitions::DefinitionsError;
use tplkit::simulate::SimulateError;

/// An error of the command line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The arguments make no sense; or they ask for help, which is no error to the exit code.
    #[error("{0}")]
    Arguments(#[from] clap::Error),
    /// The arguments are understood and cannot be followed.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A registry file cannot be used.
    #[error("`{}`: {source}", path.display())]
    Definitions {
        /// The file.
        path: PathBuf,
        /// Why.
        source: DefinitionsError,
    },
    /// A baseline file cannot be used.
    #[error("`{}`: {source}", path.display())]
    Baseline {
        /// The file.
        path: PathBuf,
        /// Why.
        source: BaselineError,
    },
    /// A resolutions file cannot be used.
    #[error("`{}` is no resolutions file: {}", path.display(), listed(refusals))]
    Resolutions {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong with it.
        refusals: Vec<Refusal>,
    },
    /// A simulation came to no end.
    #[error("the apply came to no end: {0}")]
    Simulate(Box<SimulateError>),
    /// Somebody stopped it while it was asking.
    #[error("interrupted: nothing was written")]
    Interrupted,
    /// Files cannot be watched.
    #[error("cannot watch for changes: {0}")]
    Watch(#[from] notify::Error),
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
}

impl CliError {
    /// The file that it is about.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            CliError::Read { path, .. }
            | CliError::Write { path, .. }
            | CliError::Resolutions { path, .. }
            | CliError::Definitions { path, .. }
            | CliError::Baseline { path, .. } => Some(path),
            _ => None,
        }
    }

    /// What to do about it.
    pub(crate) fn help(&self) -> Option<String> {
        let help = match self {
            CliError::Usage { help, .. } => help,
            CliError::Read { source, .. } => reading_help(source),
            CliError::Write { .. } => "check that the folder exists and may be written to",
            CliError::Definitions { .. } => {
                "name a stored answer of `GET /v1/schema/definitions`, or leave `--definitions` out"
            }
            CliError::Baseline { .. } => "write it again with `--write-baseline`",
            CliError::Resolutions { .. } => "write one with `tplkit resolve init` and change it",
            CliError::Simulate(_) => "simulate with `--no-rows` to see whether rows are the reason",
            CliError::Watch(_) => "run the check without `--watch`",
            CliError::Threads(_) => "ask for fewer threads with `-j`",
            CliError::Arguments(_) | CliError::Output(_) | CliError::Interrupted => return None,
        };
        Some(help.to_owned())
    }
}

/// All reasons in one line.
fn listed(refusals: &[Refusal]) -> String {
    let details: Vec<&str> = refusals
        .iter()
        .map(|refusal| refusal.detail.as_str())
        .collect();
    details.join("; ")
}

/// What to do about a file that cannot be read.
pub(crate) fn reading_help(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "check the path; a pattern that matched nothing is passed on as it is by some shells"
        }
        io::ErrorKind::PermissionDenied => "check who may read it, for example with `ls -l`",
        _ => "check that it is a readable file",
    }
}
