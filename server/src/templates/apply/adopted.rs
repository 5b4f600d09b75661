//! An upgrade of what people set up by hand (`upgrade` 3.1.3).

use tplkit::apply::{
    self, BasePackage, adopt, base_exists, base_resolutions, check_base, is_adopted,
};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::workspace::Source as _;

use super::DecideInput;
use super::history::{AppliedPackage, StoredHistory};
use crate::refusal::Refusal;
use crate::rows::Tables;
use crate::store::Tx;
use crate::workspace::Snapshot;

/// Puts what was given as a base into what an apply starts from. A job that goes on has it in its ledger, as
/// far as it has got.
///
/// # Errors
/// Why it cannot be a base, and the errors of the store.
pub(super) async fn adopted(
    tx: &mut Tx,
    input: &DecideInput,
    package: &Checked<'_>,
    history: &mut StoredHistory,
    tables: &Tables,
) -> Result<Result<(), apply::Refusal>, Refusal> {
    let Some(given) = &input.base else {
        return Ok(Ok(()));
    };
    if history.base.is_some() {
        // Jobs came after the one that goes on.
        return Ok(input.job.map(|_| ()).ok_or_else(base_exists));
    }
    let base = given.read()?;
    if let Err(unrelated) = check_base(package, &base) {
        return Ok(Err(unrelated));
    }
    let resolutions = base_resolutions(&base, package, &input.request);
    if !is_adopted(&history.entries) {
        let snapshot = Snapshot::new(tx, input.place.workspace, tables);
        let structure = snapshot.structure().await?;
        let base = BasePackage {
            job: None,
            package: &base,
            resolutions: &resolutions,
            legacy_jobs: &[],
            rows: &[],
        };
        let definitions = Definitions::embedded();
        let found = Box::pin(adopt(&snapshot, &structure, base, definitions)).await?;
        history.entries.extend(found);
    }
    history.base = Some(AppliedPackage {
        job: None,
        resolutions,
        text: given.clone(),
    });
    Ok(Ok(()))
}
