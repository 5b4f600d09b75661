//! The facts of all paths below a prefix, including paths without an operation.

use super::path_segments::segments;
use crate::http::problem::RefusalForm;

/// Some paths that have something in common.
#[derive(Debug)]
pub(super) struct Area {
    /// The segments that its paths begin with; at least one more follows.
    prefix: &'static [&'static str],
    /// The form of their refusals.
    pub(super) refusals: RefusalForm,
    /// Whether their responses may hold credentials, whoever asks.
    pub(super) holds_credentials: bool,
    /// Whether their paths are links that are given away.
    pub(super) is_linked: bool,
}

static AREAS: [Area; 3] = [
    // The executor lies outside `/v1`, and refuses in a form of its own.
    Area {
        prefix: &["apply"],
        refusals: RefusalForm::Executor,
        holds_credentials: false,
        is_linked: false,
    },
    Area {
        prefix: &["v1", "auth"],
        refusals: RefusalForm::Problem,
        holds_credentials: true,
        is_linked: false,
    },
    // The signature in the address is a credential.
    Area {
        prefix: &["v1", "file-links"],
        refusals: RefusalForm::Problem,
        holds_credentials: true,
        is_linked: true,
    },
];

static EVERYWHERE: Area = Area {
    prefix: &[],
    refusals: RefusalForm::Problem,
    holds_credentials: false,
    is_linked: false,
};

impl Area {
    /// That of a path, however its segments are encoded.
    pub(super) fn of(path: &str) -> &'static Area {
        let mut areas = AREAS.iter();
        areas.find(|area| area.has(path)).unwrap_or(&EVERYWHERE)
    }

    fn has(&self, path: &str) -> bool {
        let mut segments = segments(path);
        let mut prefix = self.prefix.iter();
        prefix.all(|own| segments.next().is_some_and(|given| given == *own))
            && segments.next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Area;

    #[test]
    fn an_encoded_path_is_in_the_same_area() {
        for path in ["/v1/auth/token", "/v1/%61uth/token", "/%761/auth/x"] {
            assert!(Area::of(path).holds_credentials, "{path}");
        }
        assert!(Area::of("/v1/file%2Dlinks/x/y").is_linked);
        for path in ["/v1/auth", "/v1/authority/x", "/v1%2Fauth/x", "/auth/v1/x"] {
            assert!(!Area::of(path).holds_credentials, "{path}");
        }
    }
}
