//! How an upgrade is asked for on the command line (`upgrade` 3.5.1).

use std::path::PathBuf;

use tplkit::apply::Request;
use tplkit::check::CheckOptions;
use tplkit::client::Error;
use tplkit::finding::render::Report;
use tplkit::upgrade::Side;
use tplkit::workspace::Id;

use super::client_error;
use super::error::CliError;
use super::package_file;

/// An upgrade instead of a plain apply.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct UpgradeArgs {
    /// Bring what was applied before to what the package says: what people changed stays, and what both
    /// sides changed needs a decision.
    #[arg(long, help_heading = "Upgrade")]
    pub(crate) upgrade: bool,
    /// The package that was applied before; on a server, the one from which people set up the workspace.
    #[arg(
        long,
        value_name = "FILE",
        requires = "upgrade",
        help_heading = "Upgrade"
    )]
    pub(crate) base: Option<PathBuf>,
    /// Upgrade to a package of a lower version, too.
    #[arg(long, requires = "upgrade", help_heading = "Upgrade")]
    allow_downgrade: bool,
    /// Allow decisions that lose cells or rows: taking a type that they do not fit, deleting columns
    /// and tables.
    #[arg(long, requires = "upgrade", help_heading = "Upgrade")]
    allow_destructive: bool,
    /// Where both sides changed something and no decision says otherwise: take `ours` or `theirs`.
    #[arg(long, value_name = "SIDE", requires = "upgrade", value_parser = side, help_heading = "Upgrade")]
    conflicts: Option<Side>,
}

/// The same for a workspace on a server.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ServerUpgradeArgs {
    #[command(flatten)]
    pub(crate) args: UpgradeArgs,
    /// Start from this job, where a template was applied several times (`--copy`).
    #[arg(long, value_name = "ID", requires = "upgrade", conflicts_with = "base", help_heading = "Upgrade", value_parser = crate::cli::typed_id::job_id)]
    job: Option<Id>,
}

fn side(word: &str) -> Result<Side, String> {
    Side::parse(word).ok_or_else(|| "give `ours` or `theirs`".to_owned())
}

impl UpgradeArgs {
    /// Puts it into a request; what the command line says wins over a resolutions file.
    pub(crate) fn complete(&self, request: &mut Request) {
        request.upgrade |= self.upgrade;
        request.terms.allow_downgrade |= self.allow_downgrade;
        request.terms.allow_destructive |= self.allow_destructive;
        if self.conflicts.is_some() {
            request.terms.conflicts = self.conflicts;
        }
    }
}

impl ServerUpgradeArgs {
    /// Puts it into a request.
    pub(crate) fn complete(&self, request: &mut Request) {
        self.args.complete(request);
        if self.job.is_some() {
            request.terms.base_job = self.job;
        }
    }

    /// Whether nothing was said.
    pub(crate) fn is_none(&self) -> bool {
        // Everything else needs it.
        !self.args.upgrade
    }

    /// The package of `--base`, checked: the server gets its text. Or the report that says why it
    /// cannot be used.
    pub(crate) fn base(&self) -> Result<Result<Option<BaseFile>, Box<Report>>, CliError> {
        let Some(path) = &self.args.base else {
            return Ok(Ok(None));
        };
        let source = package_file::read(path)?;
        Ok(
            match package_file::checked(&source, &CheckOptions::default()) {
                Ok((text, _)) => Ok(Some(BaseFile {
                    path: path.clone(),
                    text: text.trim_start_matches('\u{feff}').to_owned(),
                })),
                Err(report) => Err(report),
            },
        )
    }
}

/// The package that a workspace was set up by.
#[derive(Debug)]
pub(crate) struct BaseFile {
    /// As it was named.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// The member of a body that holds it.
const MEMBER: &str = "base";

impl BaseFile {
    /// An error of a server about a body that holds it: what is about it names the file.
    pub(crate) fn name_in(&self, error: Error) -> Error {
        client_error::in_member(error, MEMBER, Some(&self.path))
    }
}
