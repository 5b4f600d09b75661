//! What holds for a package that is checked: what the command line says, and the nearest `tplkit.toml`.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tplkit::definitions::Definitions;
use tplkit::finding::selection::Selection;

use super::config::{Configs, NamedFile};
use super::error::CliError;
use super::known_path::known_path;
use super::overwrite::refuse_input;
use super::source;

/// What the command line says of every package. It goes before the files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    pub(crate) selection: Selection,
    pub(crate) definitions: Option<PathBuf>,
    pub(crate) baseline: Option<PathBuf>,
}

/// What holds for one package.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Which rules speak.
    pub(crate) selection: Selection,
    /// The registry to hold it against.
    pub(crate) definitions: Arc<Cow<'static, Definitions>>,
    /// The file of accepted findings.
    pub(crate) baseline: Option<BaselineFile>,
}

/// A file of accepted findings.
#[derive(Debug, Clone)]
pub(crate) struct BaselineFile {
    pub(crate) path: PathBuf,
    /// The place in a `tplkit.toml` that names it, if one does.
    named: Option<NamedFile>,
    /// What the paths in it are relative to: the folder of the `tplkit.toml` that names it, else its own.
    folder: PathBuf,
}

impl BaselineFile {
    fn new(path: PathBuf, named: Option<NamedFile>) -> BaselineFile {
        let folder = named
            .as_ref()
            .map_or(path.as_path(), |named| named.place.file());
        let folder = folder.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        BaselineFile {
            path,
            named,
            folder,
        }
    }

    /// The error about it, with the place that names it.
    pub(crate) fn unread(&self, error: CliError) -> CliError {
        match &self.named {
            Some(named) => named.unread(error),
            None => error,
        }
    }

    /// The path that it knows a package by.
    pub(crate) fn known_path(&self, package: &Path) -> String {
        known_path(&self.folder, package)
    }

    /// Whether there is something at a path that it knows.
    pub(crate) fn has(&self, known: &str) -> bool {
        self.folder.join(known).exists()
    }
}

/// Finds what holds, and reads each file once.
#[derive(Debug, Default)]
pub(crate) struct SettingsFinder {
    flags: Flags,
    configs: Configs,
    /// By the path of the `tplkit.toml`; without one, by none.
    known: HashMap<Option<PathBuf>, Arc<Settings>>,
    registries: HashMap<Option<PathBuf>, Arc<Cow<'static, Definitions>>>,
    /// Baselines and registries, also those that cannot be read.
    files: BTreeSet<PathBuf>,
}

impl SettingsFinder {
    pub(crate) fn new(flags: Flags) -> SettingsFinder {
        SettingsFinder {
            flags,
            ..SettingsFinder::default()
        }
    }

    /// The baselines and registries that count for what was asked about so far.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// The same, and the `tplkit.toml` that name them.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Path> {
        let configs = self.known.keys().flatten().map(PathBuf::as_path);
        self.files().chain(configs)
    }

    /// What holds for a package or a folder.
    ///
    /// # Errors
    /// A `tplkit.toml` or a registry cannot be used.
    pub(crate) fn of(&mut self, path: &Path) -> Result<Arc<Settings>, CliError> {
        let config = self.configs.of(path)?;
        let key = config.as_ref().map(|config| config.path.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(Arc::clone(known));
        }
        let flags = self.flags.clone();
        let config = config.as_deref();
        let named = config.and_then(|config| config.definitions.as_ref());
        let definitions = match (flags.definitions, named) {
            (None, Some(named)) => {
                let read = self.registry(Some(named.path.clone()));
                read.map_err(|error| named.unread(error))?
            }
            (flag, _) => self.registry(flag)?,
        };
        let settings = Arc::new(Settings {
            selection: match config {
                Some(config) => flags.selection.over(config.selection.clone()),
                None => flags.selection,
            },
            baseline: match flags.baseline {
                Some(path) => Some(BaselineFile::new(path, None)),
                None => config.and_then(|config| {
                    let named = config.baseline.clone()?;
                    Some(BaselineFile::new(named.path.clone(), Some(named)))
                }),
            },
            definitions,
        });
        let baseline = settings.baseline.as_ref();
        self.files.extend(baseline.map(|file| file.path.clone()));
        self.known.insert(key, Arc::clone(&settings));
        Ok(settings)
    }

    fn registry(
        &mut self,
        file: Option<PathBuf>,
    ) -> Result<Arc<Cow<'static, Definitions>>, CliError> {
        if let Some(known) = self.registries.get(&file) {
            return Ok(Arc::clone(known));
        }
        self.files.extend(file.clone());
        let read = Arc::new(definitions(file.as_deref())?);
        self.registries.insert(file, Arc::clone(&read));
        Ok(read)
    }
}

/// The registry for a package: that of the flag, else of the nearest `tplkit.toml`, else the embedded one.
///
/// # Errors
/// A `tplkit.toml` or a registry cannot be used.
///
/// # Errors
/// It cannot be read, or the result would go over it.
pub(crate) fn definitions_for(
    flag: Option<&PathBuf>,
    package: &Path,
    output: Option<&Path>,
) -> Result<Cow<'static, Definitions>, CliError> {
    if flag.is_some() {
        return definitions(flag.map(PathBuf::as_path));
    }
    let config = Configs::default().of(package)?;
    let named = config.and_then(|config| config.definitions.clone());
    let Some(named) = named else {
        return definitions(None);
    };
    refuse_input(output, [Some(named.path.as_path())])?;
    definitions(Some(&named.path)).map_err(|error| named.unread(error))
}

/// The registry in a file; the embedded one without.
pub(crate) fn definitions(file: Option<&Path>) -> Result<Cow<'static, Definitions>, CliError> {
    let Some(path) = file else {
        return Ok(Cow::Borrowed(Definitions::embedded()));
    };
    let text = source::read_text(path)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let parsed = Definitions::parse(text);
    Ok(Cow::Owned(parsed.map_err(|source| {
        CliError::Definitions {
            path: path.to_owned(),
            source,
        }
    })?))
}
