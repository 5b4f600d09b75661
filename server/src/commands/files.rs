//! Where a process has its files, and how long it keeps those that nothing uses.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tplkit_server::files::{FileStorage, Files};

use super::{Failure, IN_MEMORY};

/// What follows the name of a SQLite file in that of the folder with its files.
const FOLDER: &str = ".files";

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) place: StorageArguments,
    /// How long a file that nothing uses is kept, such as 30m, 24h or 7d.
    #[arg(
        long,
        value_name = "DURATION",
        env = "TPLKIT_FILE_GRACE",
        default_value = "24h",
        value_parser = duration
    )]
    file_grace: Duration,
}

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct StorageArguments {
    /// Where the bytes of files are: `file:DIR`, `s3://BUCKET/PREFIX` or `memory:`. Without it next to a SQLite
    /// file, and nowhere with PostgreSQL.
    #[arg(long, value_name = "URL", env = "TPLKIT_FILES")]
    files: Option<String>,
}

/// A place that nothing is made in.
#[derive(Debug)]
pub(super) enum ExistingStorage {
    There(FileStorage),
    /// The folder next to a store is not there.
    Absent(PathBuf),
}

/// Seconds, minutes, hours or days.
fn duration(text: &str) -> Result<Duration, String> {
    let refused =
        || "use a number and one of s, m, h and d, such as 90s, 30m, 24h or 7d".to_owned();
    let unit = text.chars().next_back().ok_or_else(refused)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(refused()),
    };
    let count: u32 = text[..text.len() - 1].parse().map_err(|_| refused())?;
    Ok(Duration::from_secs(seconds * u64::from(count)))
}

impl StorageArguments {
    /// The place of the files of a store, if it has any; a folder is made where there is none.
    fn open(&self, database: &str) -> Result<Option<FileStorage>, Failure> {
        self.open_by(database, FileStorage::open)
    }

    /// The same without making a folder. The one next to a store may not be there yet, or be gone.
    pub(super) fn open_existing(&self, database: &str) -> Result<Option<ExistingStorage>, Failure> {
        let is_named = self.files.as_ref().is_some_and(|url| !url.is_empty());
        if !is_named
            && database != IN_MEMORY
            && let Some(file) = database.strip_prefix("sqlite:")
        {
            let folder = format!("{}{FOLDER}", file.strip_prefix("//").unwrap_or(file));
            if matches!(Path::new(&folder).try_exists(), Ok(false)) {
                return Ok(Some(ExistingStorage::Absent(folder.into())));
            }
        }
        let place = self.open_by(database, FileStorage::open_existing)?;
        Ok(place.map(ExistingStorage::There))
    }

    fn open_by(
        &self,
        database: &str,
        open: fn(&str) -> Result<FileStorage, String>,
    ) -> Result<Option<FileStorage>, Failure> {
        let usual = match database.strip_prefix("sqlite:") {
            _ if database == IN_MEMORY => Some("memory:".to_owned()),
            Some(file) => Some(format!("file:{file}{FOLDER}")),
            None => None,
        };
        let named = self.files.clone().filter(|url| !url.is_empty());
        let Some(url) = named.or(usual) else {
            return Ok(None);
        };
        let place = open(&url).map_err(|why| Failure::Usage(format!("--files: {why}")))?;
        if place.is_memory() && database != IN_MEMORY {
            tracing::warn!(
                "--files memory: the bytes of files go with this process, and the store lasts"
            );
        }
        Ok(Some(place))
    }
}

impl Arguments {
    /// How the files of a store are kept.
    pub(super) fn open(&self, database: &str) -> Result<Files, Failure> {
        let place = self.place.open(database)?;
        Ok(Files {
            grace: self.file_grace,
            ..Files::in_place(place)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::duration;

    #[test]
    fn a_duration_has_a_unit() {
        for (text, seconds) in [
            ("90s", 90),
            ("30m", 1800),
            ("24h", 86_400),
            ("7d", 604_800),
            ("0s", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "24", "h", "1.5h", "-1h", "24H", "1é"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
