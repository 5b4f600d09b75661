//! How an upgrade is asked for on the command line (`upgrade` 3.5.1).

use std::path::PathBuf;

use tplkit::apply::Request;
use tplkit::upgrade::Side;

/// An upgrade instead of a plain apply.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct UpgradeArgs {
    /// Bring what was applied before to what the package says: what people changed stays, and what both
    /// sides changed is asked.
    #[arg(long)]
    pub(crate) upgrade: bool,
    /// The package that was applied before.
    #[arg(long, value_name = "FILE", requires = "upgrade")]
    pub(crate) base: Option<PathBuf>,
    /// Upgrade to a package of a lower version, too.
    #[arg(long, requires = "upgrade")]
    allow_downgrade: bool,
    /// Where both sides changed something and no decision says otherwise: take `ours` or `theirs`.
    #[arg(long, value_name = "SIDE", requires = "upgrade", value_parser = side)]
    conflicts: Option<Side>,
}

fn side(word: &str) -> Result<Side, String> {
    Side::parse(word).ok_or_else(|| "give `ours` or `theirs`".to_owned())
}

impl UpgradeArgs {
    /// Puts it into a request; what the command line says wins over a resolutions file.
    pub(crate) fn complete(&self, request: &mut Request) {
        request.upgrade |= self.upgrade;
        request.terms.allow_downgrade |= self.allow_downgrade;
        if self.conflicts.is_some() {
            request.terms.conflicts = self.conflicts;
        }
    }
}
