//! The errors of commands. Findings are not errors.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tplkit::apply::Refusal;
use tplkit::definitions::DefinitionsError;
use tplkit::finding::baseline::BaselineError;
use tplkit::finding::render::ReportError;
use tplkit::printable::path as shown;
use tplkit::problem::Code;
use tplkit::simulate::SimulateError;

use super::candidates::{self, Candidate};
use super::client_error;
use super::exit::Exit;
use super::shell_word::shell_word;

/// An error of the command line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The arguments make no sense; or they ask for help, which is not an error to the exit code.
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
    /// More than one thing can be meant, or one that nobody agreed to.
    #[error("{message}")]
    Candidates {
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
        /// What could be meant.
        candidates: Vec<Candidate>,
        /// How many more there are that are not listed.
        more: usize,
        /// The file that they come from, if they come from one.
        path: Option<PathBuf>,
    },
    /// A word that is none of those that are known.
    #[error("{message}")]
    UnknownWord {
        /// What is wrong.
        message: String,
        /// What was probably meant, and what to do.
        help: String,
        /// What could be meant, for documents.
        candidates: Vec<Candidate>,
    },
    /// A `tplkit.toml` that leads nowhere.
    #[error(
        "`{}` is a link to `{}`, and no file is there",
        shown(path),
        shown(target)
    )]
    DanglingConfig {
        /// The link.
        path: PathBuf,
        /// What it says.
        target: PathBuf,
    },
    /// There is no file of accepted findings.
    #[error("there is no baseline `{}`", shown(path))]
    NoBaseline {
        /// Where it would be.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`: {source}", shown(path))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file does not hold any more what was read of it: what was made of it is not written.
    #[error(
        "`{}` was {since} after it was read: nothing was written to {}",
        shown(path),
        written_to(path, package)
    )]
    ChangedSince {
        /// The file.
        path: PathBuf,
        /// What became of it: `changed` or `removed`.
        since: &'static str,
        /// What it is of: an unpacked folder, or itself.
        package: PathBuf,
    },
    /// A registry file cannot be used.
    #[error("`{}`: {source}", shown(path))]
    Definitions {
        /// The file.
        path: PathBuf,
        /// Why.
        source: DefinitionsError,
    },
    /// A baseline file cannot be used.
    #[error("`{}`: {source}", shown(path))]
    Baseline {
        /// The file.
        path: PathBuf,
        /// Why.
        source: BaselineError,
    },
    /// A resolutions file cannot be used.
    #[error("`{}` is not a resolutions file: {}", shown(path), listed(refusals))]
    Resolutions {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong with it.
        refusals: Vec<Refusal>,
    },
    /// A TOML file cannot be used.
    #[error("{}:{line}:{column}: {message}", shown(path))]
    Toml {
        /// The file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// In Unicode scalar values, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
        /// What to do.
        help: &'static str,
    },
    /// A simulation did not finish.
    #[error("the apply did not finish: {0}")]
    Simulate(Box<SimulateError>),
    /// A server refused something, or did not respond.
    #[error("{}", client_error::describe(.0))]
    Remote(#[from] Box<tplkit::client::Error>),
    /// Nobody is signed in.
    #[error("not signed in{}", url.as_ref().map(|url| format!(" to `{url}`")).unwrap_or_default())]
    SignedOut {
        /// The server, if one is known.
        url: Option<String>,
    },
    /// The server has only the routes of the specification, and more is needed.
    #[error("{message}")]
    Degraded {
        /// What cannot be done.
        message: String,
        /// What to do instead.
        help: String,
    },
    /// A plan or a workspace has changed: nothing was written.
    #[error("{message}")]
    Moved {
        /// What moved.
        message: String,
        /// What to do.
        help: String,
    },
    /// Something that happened while a remote job was at work, or may have been.
    #[error("{source}")]
    Job {
        /// The job, once it is known.
        job: Option<String>,
        /// What happened.
        source: Box<CliError>,
        /// How to return to it.
        resume_hint: String,
    },
    /// What was given is not an id that a job can have.
    #[error("there is no job `{}` (`{}`): the id of a job is a UUID", id.escape_debug(), Code::NotFound.as_str())]
    NoJob {
        /// What was given.
        id: String,
    },
    /// A refusal that has a better explanation than its code.
    #[error("{}", client_error::describe(source))]
    Explained {
        /// The refusal.
        source: Box<tplkit::client::Error>,
        /// What it means here, and what to do.
        help: String,
    },
    /// A row does not take the file that was uploaded for it.
    #[error("{}", client_error::describe(source))]
    NotAttached {
        /// The refusal.
        source: Box<tplkit::client::Error>,
        /// What became of the file, and what to do.
        help: String,
    },
    /// What is on the server does not take what was asked for; nothing was changed.
    #[error("{message}")]
    Impossible {
        /// Why.
        message: String,
        /// What to do.
        help: String,
    },
    /// A workspace cannot be exported.
    #[error("this package cannot be built: {0}")]
    Export(#[from] tplkit::export::Fault),
    /// The file of profiles cannot be used.
    #[error("`{}`: {why}", shown(path))]
    Profile {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
        /// What to do.
        help: String,
    },
    /// The user interrupted a prompt.
    #[error("interrupted: nothing was written")]
    Interrupted,
    /// The user declined a prompt.
    #[error("not confirmed: nothing was written")]
    Declined,
    /// An action that cannot be undone needs a confirmation, and there is no prompt.
    #[error("{why}: pass `--yes` to confirm; nothing was changed")]
    Unconfirmed {
        /// Why there is none.
        why: &'static str,
        /// What would go.
        losses: Box<Value>,
    },
    /// Files cannot be watched.
    #[error("cannot watch for changes: {0}")]
    Watch(#[from] notify::Error),
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// Nothing began, and that is reported already.
    #[error("nothing was begun")]
    Reported(Exit),
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
}

impl From<tplkit::client::Error> for CliError {
    fn from(error: tplkit::client::Error) -> CliError {
        CliError::Remote(Box::new(error))
    }
}

impl CliError {
    /// What was planned is not what would be done now.
    pub(crate) fn stale(message: String) -> CliError {
        CliError::Moved {
            message,
            help: "nothing was written; plan again, look at it, and apply that".to_owned(),
        }
    }

    /// The error as reports have it.
    pub(crate) fn report_error(&self) -> ReportError {
        ReportError {
            path: self.path().cloned(),
            message: self.to_string(),
            help: self.help(),
        }
    }

    /// How a command ends that met it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            CliError::Remote(error) => client_error::exit(error),
            CliError::SignedOut { .. } => Exit::Denied,
            CliError::Degraded { .. } | CliError::NoJob { .. } | CliError::Impossible { .. } => {
                Exit::Findings
            }
            CliError::NotAttached { source, .. } if client_error::is_verdict(source) => {
                Exit::Findings
            }
            CliError::Moved { .. } => Exit::Stale,
            CliError::Reported(exit) => *exit,
            CliError::Job { source, .. } => source.exit(),
            CliError::Explained { source, .. } | CliError::NotAttached { source, .. } => {
                client_error::exit(source)
            }
            CliError::Declined | CliError::Interrupted => Exit::Interrupted,
            _ => Exit::Usage,
        }
    }

    /// What a document says of it beyond message, path and help.
    pub(crate) fn members(&self) -> Map<String, Value> {
        match self {
            CliError::Remote(error) => client_error::members(error),
            CliError::Explained { source, .. } | CliError::NotAttached { source, .. } => {
                client_error::members(source)
            }
            CliError::NoJob { .. } => {
                let mut members = Map::new();
                members.insert("code".to_owned(), Code::NotFound.as_str().into());
                members
            }
            CliError::Toml { line, column, .. } => {
                let mut members = Map::new();
                members.insert("line".to_owned(), (*line).into());
                members.insert("column".to_owned(), (*column).into());
                members
            }
            CliError::Candidates { candidates, .. } | CliError::UnknownWord { candidates, .. } => {
                candidates::members(candidates)
            }
            CliError::Arguments(error) => match candidates::of_argument(error).as_slice() {
                [] => Map::new(),
                candidates => candidates::members(candidates),
            },
            CliError::Unconfirmed { losses, .. } => {
                let mut members = Map::new();
                members.insert("losses".to_owned(), (**losses).clone());
                members
            }
            CliError::Job { job, source, .. } => {
                let mut members = source.members();
                if let Some(job) = job {
                    members.insert("job_id".to_owned(), job.as_str().into());
                }
                members
            }
            _ => Map::new(),
        }
    }

    /// Single faults, for people; documents have them as members.
    pub(crate) fn faults(&self) -> Vec<String> {
        match self {
            CliError::Remote(error) => client_error::faults(error),
            CliError::Explained { source, .. } | CliError::NotAttached { source, .. } => {
                client_error::faults(source)
            }
            CliError::Job { source, .. } => source.faults(),
            CliError::Candidates {
                candidates, more, ..
            } => {
                let mut lines = candidates::lines(candidates);
                if *more > 0 {
                    lines.push(format!("and {more} more"));
                }
                lines
            }
            _ => Vec::new(),
        }
    }

    /// The file that it is about.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            CliError::Read { path, .. }
            | CliError::NoBaseline { path }
            | CliError::DanglingConfig { path, .. }
            | CliError::Write { path, .. }
            | CliError::ChangedSince { path, .. }
            | CliError::Resolutions { path, .. }
            | CliError::Definitions { path, .. }
            | CliError::Toml { path, .. }
            | CliError::Baseline { path, .. }
            | CliError::Profile { path, .. } => Some(path),
            CliError::Candidates { path, .. } => path.as_ref(),
            _ => None,
        }
    }

    /// What to do about it.
    pub(crate) fn help(&self) -> Option<String> {
        let help = match self {
            CliError::Usage { help, .. }
            | CliError::UnknownWord { help, .. }
            | CliError::Candidates { help, .. }
            | CliError::Profile { help, .. }
            | CliError::Degraded { help, .. }
            | CliError::Moved { help, .. }
            | CliError::Impossible { help, .. }
            | CliError::NotAttached { help, .. }
            | CliError::Explained { help, .. } => help,
            CliError::Job {
                source,
                resume_hint,
                ..
            } => {
                let help = source.help().map(|help| format!("{help}; "));
                return Some(help.unwrap_or_default() + resume_hint);
            }
            CliError::Export(_) => "choose what travels with `--feature`, `--rows` and their like",
            CliError::Remote(error) => return Some(client_error::help(error)),
            CliError::SignedOut { url } => {
                let url = shell_word(url.as_deref().unwrap_or("URL"));
                return Some(format!(
                    "run `tplkit login --url {url}`, or set TPLKIT_URL and TPLKIT_TOKEN"
                ));
            }
            CliError::Read { source, .. } => reading_help(source),
            CliError::DanglingConfig { .. } => "correct the link, or remove it",
            CliError::NoBaseline { .. } => "check the path, or write one with `--write-baseline`",
            CliError::Write { source, .. } => writing_help(source),
            CliError::ChangedSince { .. } => "run the command again, for what is there now",
            CliError::Definitions { .. } => {
                "name a stored response of `GET /v1/schema/definitions`, or leave `--definitions` out"
            }
            CliError::Baseline { .. } => {
                "name a baseline; or remove the file, and write it again with `--write-baseline`"
            }
            CliError::Resolutions { .. } => "write one with `tplkit resolve init` and change it",
            CliError::Toml { help, .. } => help,
            CliError::Simulate(_) => "simulate with `--no-rows` to see whether rows are the reason",
            CliError::Watch(_) => "run the check without `--watch`",
            CliError::Threads(_) => "ask for fewer threads with `-j`",
            CliError::Arguments(_)
            | CliError::Output(_)
            | CliError::Interrupted
            | CliError::Reported(_)
            | CliError::Declined => return None,
            CliError::NoJob { .. } => "`tplkit job list` shows the jobs that you may see",
            CliError::Unconfirmed { .. } => "look at what goes, and give `--yes`",
        };
        Some(help.to_owned())
    }
}

/// What stays as it is when a file has changed.
fn written_to(path: &Path, package: &Path) -> String {
    if path == package {
        "it".to_owned()
    } else {
        format!("`{}`", shown(package))
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

/// What to do about a file that cannot be written.
fn writing_help(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room there, and run the command again"
        }
        _ => "check that the folder exists and may be written to",
    }
}

/// Standard input was named for two things.
#[derive(Debug, thiserror::Error)]
#[error("standard input can be read for one thing only")]
pub(crate) struct ReadTwice;

/// What to do about a file that cannot be read.
pub(crate) fn reading_help(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "check the path; a pattern that matched nothing is passed on as it is by some shells"
        }
        io::ErrorKind::PermissionDenied => "check who may read it, for example with `ls -l`",
        _ if error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<ReadTwice>())
            .is_some() =>
        {
            "name a file for the other"
        }
        _ => "check that it is a readable file",
    }
}
