//! The facts of all paths below a prefix, including paths without an operation.

use crate::http::problem::RefusalForm;

/// Some paths that have something in common.
#[derive(Debug)]
pub(super) struct Area {
    prefix: &'static str,
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
        prefix: "/apply/",
        refusals: RefusalForm::Executor,
        holds_credentials: false,
        is_linked: false,
    },
    Area {
        prefix: "/v1/auth/",
        refusals: RefusalForm::Problem,
        holds_credentials: true,
        is_linked: false,
    },
    // The signature in the address is a credential.
    Area {
        prefix: "/v1/file-links/",
        refusals: RefusalForm::Problem,
        holds_credentials: true,
        is_linked: true,
    },
];

static EVERYWHERE: Area = Area {
    prefix: "",
    refusals: RefusalForm::Problem,
    holds_credentials: false,
    is_linked: false,
};

impl Area {
    /// That of a path.
    pub(super) fn of(path: &str) -> &'static Area {
        let mut areas = AREAS.iter();
        let found = areas.find(|area| path.starts_with(area.prefix));
        found.unwrap_or(&EVERYWHERE)
    }
}
