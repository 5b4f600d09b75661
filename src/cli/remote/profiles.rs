//! The file of profiles: servers, and who is signed in to them.
//!
//! One TOML table per profile. The file is created private, replaced atomically, and refused while
//! other users can read it. Unknown members are kept.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy as _, choose_base_strategy};
use tplkit::client::{BaseUrl, Secret, Tokens};
use tplkit::finding::suggest;
use tplkit::printable;

use crate::cli::candidates::Candidate;
use crate::cli::error::CliError;
use crate::cli::replace;
use crate::cli::shell_word::{shell_path, shell_word};

/// The key that holds the name of the profile in use. A space stands in no name of a profile.
const IN_USE: &str = "in use";

const HEAD: &str = "# Written by tplkit. Whoever can read this file can act as you.\n\n";

/// A profile.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profile {
    /// The server.
    pub(crate) url: Option<String>,
    /// Who signed in.
    pub(crate) email: Option<String>,
    /// A machine's way to sign in.
    pub(crate) api_key: Option<Secret>,
    /// A person's way.
    pub(crate) tokens: Option<Tokens>,
    /// The workspace that commands work on when nothing names one.
    pub(crate) workspace: Option<KeptWorkspace>,
}

/// A workspace that a profile keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptWorkspace {
    pub(crate) id: String,
    /// What people called it when it was kept.
    pub(crate) name: Option<String>,
}

impl Profile {
    /// Whether it is a profile of that server.
    pub(crate) fn belongs_to(&self, base: &BaseUrl) -> bool {
        let own = self.url.as_deref().map(BaseUrl::parse);
        own.and_then(Result::ok).as_ref() == Some(base)
    }

    /// Whether it holds a credential.
    pub(crate) fn is_signed_in(&self) -> bool {
        self.api_key.is_some() || self.tokens.is_some()
    }

    fn read(table: &toml::Table) -> Option<Profile> {
        let text = |name: &str| match table.get(name) {
            None => Some(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())),
        };
        let secret = |name: &str| match text(name)?.map(Secret::new) {
            Some(secret) if !secret.fits_header() => None,
            other => Some(other),
        };
        let access = secret("access_token")?;
        let refresh = secret("refresh_token")?;
        Some(Profile {
            url: text("url")?,
            email: text("email")?,
            api_key: secret("api_key")?,
            tokens: access.map(|access| Tokens { access, refresh }),
            workspace: match text("workspace")? {
                Some(id) => Some(KeptWorkspace {
                    id,
                    name: text("workspace_name")?,
                }),
                None => None,
            },
        })
    }

    fn write(&self, table: &mut toml::Table) {
        let revealed = |secret: &Secret| secret.reveal().to_owned();
        let tokens = self.tokens.as_ref();
        let workspace = self.workspace.as_ref();
        for (name, value) in [
            ("url", self.url.clone()),
            ("email", self.email.clone()),
            ("api_key", self.api_key.as_ref().map(revealed)),
            (
                "access_token",
                tokens.map(|tokens| revealed(&tokens.access)),
            ),
            (
                "refresh_token",
                tokens.and_then(|tokens| tokens.refresh.as_ref().map(revealed)),
            ),
            ("workspace", workspace.map(|kept| kept.id.clone())),
            (
                "workspace_name",
                workspace.and_then(|kept| kept.name.clone()),
            ),
        ] {
            match value {
                Some(value) => table.insert(name.to_owned(), value.into()),
                None => table.remove(name),
            };
        }
    }
}

/// The file.
pub(crate) struct Profiles {
    pub(crate) path: PathBuf,
    table: toml::Table,
}

impl Profiles {
    /// Reads the file; one that does not exist has no profiles.
    pub(crate) fn read() -> Result<Profiles, CliError> {
        Profiles::read_at(path()?)
    }

    /// Reads the file at a path.
    pub(crate) fn read_at(path: PathBuf) -> Result<Profiles, CliError> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(CliError::Read { path, source }),
        };
        if let Some(mode) = exposed(&path) {
            return Err(CliError::Profile {
                why: format!("others may read or change it (mode {mode:03o}), so it is not used"),
                help: format!(
                    "run `chmod 600 {}`, or `tplkit login`, which does",
                    shell_path(&path)
                ),
                path,
            });
        }
        match text.parse() {
            Ok(table) => Ok(Profiles { path, table }),
            // What toml says of it repeats lines of the file.
            Err(_) => Err(CliError::Profile {
                why: "it is not TOML".to_owned(),
                help: "fix it, or remove it and run `tplkit login`".to_owned(),
                path,
            }),
        }
    }

    /// The names of all, in the order of the file.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.table.keys().map(String::as_str);
        names.filter(|name| *name != IN_USE)
    }

    /// The profile that commands use when none is named, if one was chosen that is still there.
    pub(crate) fn in_use(&self) -> Option<&str> {
        let name = self.table.get(IN_USE)?.as_str()?;
        self.names().find(|known| *known == name)
    }

    /// A profile, if there is one of that name.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Profile>, CliError> {
        let Some(entry) = self.table.get(name) else {
            return Ok(None);
        };
        let profile = entry.as_table().and_then(Profile::read);
        let profile = profile.ok_or_else(|| CliError::Profile {
            path: self.path.clone(),
            why: format!("`{name}` in it is not a profile"),
            help: format!(
                "fix it, or run `tplkit login --profile {}`",
                shell_word(name)
            ),
        })?;
        Ok(Some(profile))
    }

    /// The error about a profile that was asked for and does not exist.
    pub(crate) fn missing(&self, name: &str) -> CliError {
        let meant = suggest::nearest(name, self.names());
        let meant = meant.map(|meant| format!("Did you mean `{meant}`? "));
        CliError::Candidates {
            message: format!(
                "`{}`: there is no profile `{}` in it",
                printable::path(&self.path),
                name.escape_debug()
            ),
            help: meant.unwrap_or_default() + "`tplkit login --profile NAME` makes one",
            candidates: self.names().map(|name| self.candidate(name)).collect(),
            more: 0,
            path: Some(self.path.clone()),
        }
    }

    /// A profile, to choose from: its name is all that it takes.
    fn candidate(&self, name: &str) -> Candidate {
        let entry = self.get(name).ok().flatten();
        Candidate {
            id: name.to_owned(),
            name: Some(name.to_owned()),
            label: entry.and_then(|entry| entry.url),
            ..Candidate::default()
        }
    }

    /// Puts a profile in its place and writes the file. The caller holds the lock.
    pub(crate) fn put(mut self, name: &str, profile: &Profile) -> Result<(), CliError> {
        let entry = self.table.entry(name.to_owned());
        let entry = entry.or_insert_with(|| toml::Table::new().into());
        if !entry.is_table() {
            *entry = toml::Table::new().into();
        }
        if let Some(table) = entry.as_table_mut() {
            profile.write(table);
        }
        self.write()
    }

    fn write(&self) -> Result<(), CliError> {
        let text = format!("{HEAD}{}", self.table);
        replace::write_private(&self.path, text.as_bytes())
    }
}

/// Has a profile used when none is named, while no other process changes the file.
pub(crate) fn choose(name: &str) -> Result<Profile, CliError> {
    let path = path()?;
    let lock = lock(&path);
    let mut profiles = Profiles::read_at(path)?;
    // The key of the choice is not a name that a profile can have.
    let profile = profiles.get(name)?.filter(|_| name != IN_USE);
    let profile = profile.ok_or_else(|| profiles.missing(name))?;
    profiles.table.insert(IN_USE.to_owned(), name.into());
    profiles.write()?;
    drop(lock);
    Ok(profile)
}

/// Replaces a profile while no other process changes the file.
pub(crate) fn save(name: &str, profile: &Profile) -> Result<PathBuf, CliError> {
    let path = path()?;
    make_folder(&path).map_err(|source| CliError::Write {
        path: path.clone(),
        source,
    })?;
    let lock = lock(&path);
    let profiles = Profiles::read_at(path.clone())?;
    let saved = profiles.put(name, profile);
    drop(lock);
    saved.map(|()| path)
}

/// Makes other processes wait until it is dropped. Nothing, where locks cannot be had: then the last
/// writer wins.
pub(crate) fn lock(path: &Path) -> Option<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path.with_extension("lock")).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// Where the file is.
pub(crate) fn path() -> Result<PathBuf, CliError> {
    let strategy = choose_base_strategy().map_err(|_| CliError::Usage {
        message: "no home folder is known, so there is no place for profiles".to_owned(),
        help: "set HOME, or sign in by TPLKIT_URL and TPLKIT_TOKEN alone".to_owned(),
    })?;
    Ok(strategy.config_dir().join("tplkit").join("profiles.toml"))
}

fn make_folder(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Takes the permissions of others away from the file, if they have any. Says whether they had.
#[cfg(unix)]
pub(crate) fn close() -> Result<Option<PathBuf>, CliError> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = path()?;
    if exposed(&path).is_none() {
        return Ok(None);
    }
    match fs::set_permissions(&path, fs::Permissions::from_mode(0o600)) {
        Ok(()) => Ok(Some(path)),
        Err(source) => Err(CliError::Write { path, source }),
    }
}

/// Other systems keep the folder of a user to that user.
#[cfg(not(unix))]
pub(crate) fn close() -> Result<Option<PathBuf>, CliError> {
    Ok(None)
}

/// The permissions of the file, if others have any.
#[cfg(unix)]
pub(crate) fn exposed(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Other systems keep the folder of a user to that user.
#[cfg(not(unix))]
pub(crate) fn exposed(_: &Path) -> Option<u32> {
    None
}
