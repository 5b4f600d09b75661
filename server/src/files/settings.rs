//! What every request about files has at hand: the place, limits, and the uploads in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::storage::FileStorage;
use super::uploads::Uploads;
use crate::refusal::Refusal;

/// How files are to be kept.
#[derive(Debug, Clone)]
pub struct Files {
    /// Where the bytes are, if anywhere.
    pub place: Option<FileStorage>,
    /// Bytes that a file may have.
    pub max_file: u64,
    /// How long a file without a use is kept.
    pub grace: Duration,
    /// How slowly an upload may come.
    pub pace: UploadPace,
    /// Those in progress.
    pub uploads: Uploads,
    /// Nobody has made sure yet that the place is this store's.
    pub unclaimed: Arc<AtomicBool>,
}

/// How slowly an upload may come. Only the time that its client is waited for counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadPace {
    /// How long it may bring nothing.
    pub idle: Duration,
    /// In so much time
    pub window: Duration,
    /// it brings so many bytes at least.
    pub least: u64,
}

impl Default for UploadPace {
    fn default() -> UploadPace {
        UploadPace {
            idle: Duration::from_secs(30),
            window: Duration::from_secs(60),
            least: 60 << 10,
        }
    }
}

impl Default for Files {
    fn default() -> Files {
        Files {
            place: Some(FileStorage::memory()),
            max_file: 100 << 20,
            grace: Duration::from_secs(24 * 3600),
            pace: UploadPace::default(),
            uploads: Uploads::default(),
            unclaimed: Arc::default(),
        }
    }
}

impl Files {
    /// In that place, or nowhere.
    pub fn in_place(place: Option<FileStorage>) -> Files {
        Files {
            place,
            ..Files::default()
        }
    }

    /// The place.
    ///
    /// # Errors
    /// 503 where none was configured, or it is not known to be this store's.
    pub fn place(&self) -> Result<&FileStorage, Refusal> {
        if self.unclaimed.load(Ordering::Acquire) {
            return Err(Refusal::unavailable(
                "The place where files are kept is not available at the moment.",
            ));
        }
        self.place.as_ref().ok_or_else(|| {
            Refusal::unavailable(
                "This server has no place for files: its operator has to start it with --files (TPLKIT_FILES).",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Files, UploadPace};

    #[test]
    fn a_server_that_is_told_nothing_has_these_limits() {
        let files = Files::default();
        assert_eq!(files.max_file, 100 * 1024 * 1024);
        assert_eq!(files.grace, Duration::from_secs(24 * 60 * 60));
        let UploadPace {
            idle,
            window,
            least,
        } = files.pace;
        assert_eq!(idle, Duration::from_secs(30));
        // One KiB a second, over a minute.
        assert_eq!((window, least), (Duration::from_secs(60), 60 * 1024));
    }
}
