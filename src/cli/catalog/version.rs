//! Whether the version of a template rose along with its content.

use std::cmp::Ordering;

use tplkit::client::Client;
use tplkit::diff::Diff;
use tplkit::json::{Object, Value};
use tplkit::package::semver;

use crate::cli::error::CliError;
use crate::cli::remote::subject;
use crate::cli::session::Session;

/// A package next to the one that it replaces.
#[derive(Debug)]
pub(crate) struct Compared {
    /// Whether anything but the version and the time differs.
    changed: bool,
    before: Option<String>,
    after: Option<String>,
}

/// Asks that the version rises with the content.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct VersionBump {
    /// End with 1, and change nothing, when the content changed and `semver` did not rise.
    #[arg(long)]
    require_version_bump: bool,
}

/// Compares a package with the one that a template has; nothing where the server does not show it.
pub(crate) fn compare(
    client: &Client,
    template: &str,
    text: &str,
) -> Result<Option<Compared>, CliError> {
    match client.package(template) {
        Ok(stored) => Ok(Compared::of(&stored, text)),
        Err(error) if subject::lacks_route(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Compared {
    fn of(before: &str, after: &str) -> Option<Compared> {
        let (one, before) = without_version(before)?;
        let (other, after) = without_version(after)?;
        let differs = Diff::of(&one, &other, true).is_ok_and(|diff| !diff.is_empty());
        Some(Compared {
            changed: differs,
            before,
            after,
        })
    }

    /// What is to be said about the version, if anything is.
    fn complaint(&self) -> Option<String> {
        if !self.changed {
            return None;
        }
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            let which = if self.after.is_none() {
                "the package has no `semver`"
            } else {
                return None;
            };
            return Some(format!("the content changed, and {which}"));
        };
        let order = semver::compare(after, before);
        let (after, before) = (after.escape_debug(), before.escape_debug());
        match order {
            Some(Ordering::Greater) => None,
            Some(Ordering::Equal) => Some(format!(
                "the content changed, and the version is still {after}"
            )),
            Some(Ordering::Less) => Some(format!(
                "the content changed, and the version fell from {before} to {after}"
            )),
            None => Some(format!(
                "the content changed, and it cannot be said whether {after} is higher than {before}"
            )),
        }
    }

    /// Says when the version did not rise although the content changed; gives whether that is in order.
    pub(crate) fn report(&self, bump: VersionBump, session: &Session) -> bool {
        let Some(complaint) = self.complaint() else {
            return true;
        };
        if bump.require_version_bump {
            session.note(format!("error: {complaint}; nothing was changed"));
            return false;
        }
        // Who never gave a version does not want one.
        if self.before.is_some() || self.after.is_some() {
            session.note(format!("note: {complaint}"));
        }
        true
    }
}

/// A package without its version and what the catalog decides, and the version.
fn without_version(text: &str) -> Option<(String, Option<String>)> {
    let mut package = Value::parse(text.trim_start_matches('\u{feff}')).ok()?;
    let Value::Object(members) = &mut package else {
        return None;
    };
    let manifest: &mut Object = if members.contains_key("manifest") {
        match members.get_mut("manifest") {
            Some(Value::Object(manifest)) => manifest,
            _ => return None,
        }
    } else {
        members
    };
    manifest.shift_remove("visibility");
    let version = manifest.shift_remove("semver");
    let version = version.as_ref().and_then(Value::as_str).map(str::to_owned);
    Some((package.write(), version))
}

#[cfg(test)]
mod tests {
    use super::Compared;

    fn complaint(before: Option<&str>, after: Option<&str>, changed: bool) -> Option<String> {
        let compared = Compared {
            changed,
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        compared.complaint()
    }

    #[test]
    fn a_version_has_to_rise_when_the_content_changed() {
        let message = |before, after| complaint(before, after, true);
        assert_eq!(message(Some("1.9.0"), Some("1.10.0")), None);
        assert_eq!(message(None, Some("0.1.0")), None);
        assert_eq!(complaint(Some("1.0.0"), Some("1.0.0"), false), None);
        for (before, after, words) in [
            (Some("1.0.0"), Some("1.0.0+2"), "is still 1.0.0+2"),
            (Some("1.10.0"), Some("1.9.0"), "fell from 1.10.0 to 1.9.0"),
            (Some("1.0.0"), None, "has no `semver`"),
            (None, None, "has no `semver`"),
            (Some("one"), Some("1.0.0"), "cannot be said"),
        ] {
            let message = message(before, after).unwrap_or_default();
            assert!(message.contains(words), "{message}");
        }
    }
}
