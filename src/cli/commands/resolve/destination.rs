//! The package (a file or a template) and the destination (a file or a workspace on a server) of
//! the `resolve` commands.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use tplkit::definitions::Definitions;
use tplkit::workspace::Structure;

use crate::cli::destination;
use crate::cli::error::CliError;
use crate::cli::package_file::PackageFile;
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs};
use crate::cli::remote::{Connection, ServerArgs, subject::Subject};
use crate::cli::session::Session;

/// The destination.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "destination", multiple = false)]
pub(super) struct DestinationArgs {
    /// Destination: another package, which is applied first, or a file of `simulate --save`.
    #[arg(long, value_name = "FILE")]
    pub(super) into: Option<PathBuf>,
    /// Destination: a workspace on the server.
    ///
    /// Its id, name or label, or `ORG/NAME`; without `--into` and `--offline` it is that of the target,
    /// `TPLKIT_WORKSPACE`, or what `tplkit workspace use` keeps, if there is one.
    #[arg(long, value_name = "ID|NAME")]
    pub(super) workspace: Option<String>,
    /// No destination, although a default workspace is kept.
    #[arg(long)]
    pub(super) offline: bool,
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
        let into = self.args.into.as_deref();
        let word = match &self.args.workspace {
            Some(word) => Some(word.clone()),
            None if into.is_some() || self.args.offline => None,
            None => self.default_word()?,
        };
        if let Some(word) = word {
            use tplkit::workspace::{Source as _, ready};
            let client = self.client()?;
            let workspace = NamedWorkspace::find(client, &word)?;
            let remote = tplkit::client::RemoteWorkspace::new(client, workspace.id);
            return Ok(Some(ready(remote.structure())?));
        }
        into.map(|path| Ok(destination::read(Some(path), Definitions::embedded())?.structure))
            .transpose()
    }

    /// The workspace of the target, else the default one.
    fn default_word(&self) -> Result<Option<String>, CliError> {
        let mut server = self.target.clone();
        let target = server.take_target(Path::new("."))?;
        WorkspaceArgs::default().word(&target, &server)
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
