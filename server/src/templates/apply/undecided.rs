//! The refusal of an upgrade that somebody has to decide about first (`upgrade` 3.5.4).

use tplkit::apply::Preview;
use tplkit::finding::render::counted;
use tplkit::problem::Code;
use tplkit::upgrade::{Conflict, ConflictCode};

use crate::refusal::{Fault, Refusal, Undecided};

/// 422 with everything that a plan asks: whole as `conflicts`, and the first of it as single faults.
pub(super) fn undecided(plan: &Preview) -> Refusal {
    let mut reasons = plan.refusals.iter();
    let reason = reasons.find(|refusal| refusal.code == Code::UpgradeConflicts);
    let detail = reason.map(|refusal| refusal.detail.as_str());
    let faults = plan.conflicts.iter().map(fault).collect();
    let refusal = Refusal::new(Code::UpgradeConflicts, detail.unwrap_or_default());
    let mut refusal = refusal.with_errors(faults);
    let conflicts = serde_json::to_value(&plan.conflicts);
    refusal.undecided = conflicts.ok().map(|conflicts| {
        let more = Some(plan.conflicts_more).filter(|more| *more > 0);
        Box::new(Undecided { conflicts, more })
    });
    refusal
}

/// A conflict at the place where the body decides it.
fn fault(conflict: &Conflict) -> Fault {
    let of = &conflict.reference;
    let path = conflict.path.as_ref();
    Fault {
        path: path.map_or_else(
            || format!("decisions.{of}"),
            |path| format!("decisions.{of}.{path}"),
        ),
        code: conflict.code.as_str(),
        message: message(conflict),
    }
}

fn message(conflict: &Conflict) -> String {
    let count = usize::try_from(conflict.count.unwrap_or_default()).unwrap_or(usize::MAX);
    let cells = counted(count, "cell");
    match conflict.code {
        ConflictCode::Changed if conflict.path.is_none() => format!(
            "the package and people changed {cells} of rows that you do not see; decide `ours` or `theirs`"
        ),
        ConflictCode::Changed => {
            "the package and people changed it; decide `ours`, `theirs` or a value".to_owned()
        }
        ConflictCode::NameTaken => {
            "people made one of the same name and type; decide `adopt` or `create`".to_owned()
        }
        ConflictCode::RemovedHere => {
            "people removed it, and the package changes or needs it; decide `create` or `leave`"
                .to_owned()
        }
        ConflictCode::TypeChangeLoses => format!(
            "{cells} would not fit the new type; decide `ours`, or `theirs` with `allowDestructive`"
        ),
        ConflictCode::RequiredEmpty => {
            format!("{cells} would be empty; decide `ours` or `theirs`")
        }
        ConflictCode::UniqueRepeated => format!(
            "{cells} would hold a value that appears twice; decide `ours`, or change the rows"
        ),
        ConflictCode::InvalidTogether => format!(
            "what both sides changed is refused together; decide one of {}",
            conflict.leaves.join(", ")
        ),
    }
}
