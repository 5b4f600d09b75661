//! Ids that people type on the command line or in `tplkit.toml`.

use tplkit::workspace::Id;

/// The id of a workspace, as the user typed it.
pub(crate) fn workspace_id(word: &str) -> Result<Id, String> {
    id(word, "workspace")
}

/// The id of a job, as the user typed it.
pub(crate) fn job_id(word: &str) -> Result<Id, String> {
    id(word, "job")
}

fn id(word: &str, what: &str) -> Result<Id, String> {
    let parsed = Some(word).filter(|word| word.len() == 36);
    let parsed = parsed.and_then(|word| Id::try_parse(word).ok());
    parsed.ok_or_else(|| format!("the id of a {what} is a UUID with hyphens"))
}
