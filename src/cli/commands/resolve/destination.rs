//! The package (a file or a template) and the destination (a file or a workspace on a server) of
//! the `resolve` commands.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use tplkit::definitions::Definitions;
use tplkit::workspace::Structure;

use crate::cli::destination;
use crate::cli::error::CliError;
use crate::cli::package_file::PackageFile;
use crate::cli::remote::{Connection, ServerArgs, subject::Subject};
use crate::cli::session::Session;
use crate::cli::typed_id::workspace_id;

/// The destination.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "destination", multiple = false)]
pub(super) struct DestinationArgs {
    /// Destination: another package, which is applied first, or a file of `simulate --save`.
    #[arg(long, value_name = "FILE")]
    pub(super) into: Option<PathBuf>,
    /// Destination: a workspace on the server.
    #[arg(long, value_name = "ID", value_parser = workspace_id)]
    pub(super) workspace: Option<tplkit::workspace::Id>,
}

/// Where packages and destinations are read; the server is connected when it is needed.
pub(super) struct DestinationReader<'a> {
    args: &'a DestinationArgs,
    target: &'a ServerArgs,
    session: &'a Session,
    connection: OnceCell<Connection>,
}

impl<'a> DestinationReader<'a> {
    pub(super) fn new(
        args: &'a DestinationArgs,
        target: &'a ServerArgs,
        session: &'a Session,
    ) -> DestinationReader<'a> {
        DestinationReader {
            args,
            target,
            session,
            connection: OnceCell::new(),
        }
    }

    /// The package.
    pub(super) fn package(&self, word: &Path) -> Result<PackageFile, CliError> {
        Subject::of(word).package(|| self.client())
    }

    /// The destination, when one was named.
    pub(super) fn structure(&self) -> Result<Option<Structure>, CliError> {
        if let Some(id) = self.args.workspace {
            use tplkit::workspace::{Source as _, ready};
            let remote = tplkit::client::RemoteWorkspace::new(self.client()?, id);
            return Ok(Some(ready(remote.structure())?));
        }
        let into = self.args.into.as_deref();
        into.map(|path| Ok(destination::read(Some(path), Definitions::embedded())?.structure))
            .transpose()
    }

    fn client(&self) -> Result<&tplkit::client::Client, CliError> {
        if self.connection.get().is_none() {
            let connection = Connection::open(self.target, self.session)?;
            self.connection.set(connection).ok();
        }
        match self.connection.get() {
            Some(connection) => Ok(&connection.client),
            None => Err(CliError::SignedOut { url: None }),
        }
    }
}
