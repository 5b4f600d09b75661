//! Visibility: whose rows a table shows, and who sees a workspace. Only administrators of the
//! organization change it (`rest` 2.4).

use tplkit::json::Value as Json;

use super::input::RecordInput;
use super::kind::RecordKind;
use super::record::Record;
use crate::auth::Role;
use crate::refusal::Refusal;

/// Whether a table with that config keeps the rows of each from the others.
pub(crate) fn shows_own_rows(config: &Json) -> bool {
    config.get("rowAccess").and_then(Json::as_str) == Some("own")
}

/// Makes sure that a caller without that right does not change visibility. `before` is nothing for
/// a new record, which has the defaults until the body says otherwise.
///
/// # Errors
/// 403.
pub(super) fn stays(
    role: Role,
    before: Option<&Record>,
    after: &Record,
    written: &RecordInput,
) -> Result<(), Refusal> {
    let changed = match after.kind.what {
        RecordKind::Feature => written.config.as_ref().and_then(|config| {
            let stored = before.and_then(|before| Json::parse(&before.config).ok());
            let own = stored.is_some_and(|stored| shows_own_rows(&stored));
            // What is not a word for it is reported as a fault of the config.
            let word = config.get("rowAccess").map_or(Some("all"), Json::as_str);
            let says = word.filter(|word| ["all", "own"].contains(word))?;
            ((says == "own") != own).then_some("config.rowAccess")
        }),
        RecordKind::Workspace if written.sets("access") => {
            let before = before.map_or("organization", |before| before.text("access"));
            (after.text("access") != before).then_some("access")
        }
        _ => None,
    };
    match changed.filter(|_| role < Role::Admin) {
        Some(field) => Err(Refusal::forbidden(format!(
            "`{field}` decides who sees what, and takes the role admin: leave it as it is, or ask an \
             administrator of the organization."
        ))),
        None => Ok(()),
    }
}
