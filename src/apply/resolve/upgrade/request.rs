//! What is known of an upgrade before anything is merged.

use std::cmp::Ordering;

use crate::apply::{JobHistory, Refusal, Request, UpgradeWork};
use crate::check::Checked;
use crate::package::semver::compare;
use crate::problem::Code;
use crate::upgrade::BaseView;
use crate::workspace::ledger::Entry;

/// What of an upgrade cannot be, known from what is asked alone.
pub(in crate::apply::resolve) fn check_request(
    package: &Checked<'_>,
    request: &Request,
    past: JobHistory<'_>,
) -> Vec<Refusal> {
    let refuse = |code, detail: String| vec![Refusal::new(code, detail)];
    if !request.upgrade {
        let members = request.terms.given();
        let members: Vec<String> = members.map(|name| format!("`{name}`")).collect();
        if !members.is_empty() {
            let detail = format!(
                "{} without `upgrade`: ask for an upgrade, or leave that out.",
                members.join(", ")
            );
            return refuse(Code::ValidationFailed, detail);
        }
        return Vec::new();
    }
    if request.copy {
        let detail = "`copy` makes a second copy, and `upgrade` changes the one that is there. Ask for one of the two.";
        return refuse(Code::ValidationFailed, detail.to_owned());
    }
    let has_base = |entry: &Entry| matches!(entry, Entry::Structure(done) if !done.base.is_empty());
    if past.base.is_none() && !past.entries.iter().any(has_base) {
        let detail = "nothing of this template is applied here, so that there is nothing to upgrade. Apply it (without `upgrade`), or give the package that the workspace was set up by (`base`).";
        return refuse(Code::NoBase, detail.to_owned());
    }
    let semver = |package: &Checked<'_>| package.manifest.catalog.semver.clone();
    let (new, base) = (
        semver(package),
        past.base.and_then(|base| semver(base.package)),
    );
    if let (Some(new), Some(base), false) = (new, base, request.terms.allow_downgrade)
        && compare(&new, &base) == Some(Ordering::Less)
    {
        let detail = format!(
            "the package is version {new}, and {base} is applied here. Upgrade to a newer version, or allow the downgrade (`allowDowngrade`)."
        );
        return refuse(Code::Downgrade, detail);
    }
    Vec::new()
}

/// What is known of an upgrade before anything is merged.
pub(in crate::apply::resolve) fn begin(request: &Request, past: JobHistory<'_>) -> UpgradeWork {
    UpgradeWork {
        base: past.base.map(|base| BaseView {
            job_id: base.job,
            semver: base.package.manifest.catalog.semver.clone(),
        }),
        terms: request.terms.clone(),
        ..UpgradeWork::default()
    }
}
