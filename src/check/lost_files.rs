//! Findings of a folder that exist only because one of its files could not be read.
//!
//! Such a file has its finding (J001, J010). What it holds is not known: it may declare any ref of its kind, be the item
//! that a uid names, use what nothing else uses, hold as many rows as are counted. So nothing is said of what is missing
//! and may stand there. What is wrong with what is there is reported as ever.

use crate::finding::{Finding, Origin as _};
use crate::layout::Joined;
use crate::package::reference;

/// Folders of what items and steps declare, by the letters of its refs.
const FOLDERS: [(&str, &str); 6] = [
    ("f", "features/"),
    ("c", "columns/"),
    ("v", "views/"),
    ("m", "modules/"),
    ("r", "rails/"),
    ("w", "w"), // `workflows/`, and `workspace.json`
];

/// Where anything may stand.
const ANYTHING: [&str; 3] = ["dependencies/", "others/", "other.json"];

/// Whether a finding says no more than that something is missing which a file may hold that could not be read.
pub(super) fn may_be_there(finding: &Finding, joined: &Joined) -> bool {
    let lost = |prefix: &str| joined.lost().any(|name| name.starts_with(prefix));
    let items = || joined.lost().any(|name| rows_of(name).is_none());
    let anything = || ANYTHING.into_iter().any(lost);
    match finding.rule.code {
        // A uid, a use, or a declaration.
        "D012" | "D015" | "D016" | "D019" | "I008" | "S014" | "U004" => items(),
        "S006" => anything() || declared_in(&finding.message).map_or_else(items, lost),
        // Links make a table one of reference data.
        "I012" | "R005" => lost("columns/") || anything(),
        "R002" => lost("features/") || anything(),
        // What excuses an empty reference.
        "A003" | "A016" | "S009" => lost("other.json"),
        "R026" => lost("other.json") || lost("rows/"),
        "R012" | "R023" | "R024" => lost("rows/"),
        // The rows of this entry.
        "R003" | "R006" | "R025" => {
            let place = joined.locate(&finding.place.span);
            let mut lost = joined.lost();
            place.file.is_some() && lost.any(|name| rows_of(name) == place.file)
        }
        _ => false,
    }
}

/// The file of the entry that a file of rows belongs to; nothing for other files.
fn rows_of(name: &str) -> Option<&str> {
    name.strip_suffix('l')
}

/// The folder of what a ref names, where its letter says it.
fn declared_in(message: &str) -> Option<&'static str> {
    let (_, named) = message.split_once("`$")?;
    let letter = reference::prefix(named);
    let mut folders = FOLDERS.into_iter();
    folders
        .find(|(known, _)| *known == letter)
        .map(|(_, folder)| folder)
}
