//! Ids that people type on the command line or in `tplkit.toml`.

use tplkit::workspace::Id;

/// The id of a job, as the user typed it.
pub(crate) fn job_id(word: &str) -> Result<Id, String> {
    parse_id(word).ok_or_else(|| "the id of a job is a UUID with hyphens".to_owned())
}

/// A UUID with hyphens.
pub(crate) fn parse_id(word: &str) -> Option<Id> {
    let word = Some(word).filter(|word| word.len() == 36);
    word.and_then(|word| Id::try_parse(word).ok())
}
