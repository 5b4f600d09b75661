//! What a package says and an apply leaves out (`upgrade` 3.5.6).

use std::collections::HashSet;

use super::{Base, note_imported, plain};
use crate::apply::NotCarried;
use crate::apply::resolve::built::Built;
use crate::definitions::Definitions;
use crate::json::Value;
use crate::upgrade::differing;
use crate::workspace::ledger::BaseRecord;
use crate::workspace::{Id, RecordKind};

/// A technical name that stays although the package gives the record another one than the base did.
pub(super) fn other_name(known: &BaseRecord, reference: &str, name: &str) -> Option<NotCarried> {
    let (kind, before) = (known.record.kind, known.package_name());
    // That of an automation is a leaf, and a workspace is not named by a package.
    let fixed = !matches!(kind, RecordKind::Workflow | RecordKind::Workspace);
    (fixed && before != name).then(|| {
        let [base, theirs] = [before, name].map(|name| Some(Value::from(name)));
        not_carried(kind, reference, Some("name"), base, theirs)
    })
}

pub(super) fn not_carried(
    kind: RecordKind,
    reference: &str,
    path: Option<&str>,
    base: Option<Value>,
    theirs: Option<Value>,
) -> NotCarried {
    NotCarried {
        kind: kind.as_str().to_owned(),
        reference: reference.to_owned(),
        path: path.map(str::to_owned),
        base,
        theirs,
        count: None,
        required: None,
    }
}

/// What a plain apply leaves as it is, although the package says something else than the base.
pub(in crate::apply::resolve) fn left_out(
    base: &Base,
    built: &mut Built<'_>,
    definitions: &Definitions,
) -> Vec<NotCarried> {
    let replaced: HashSet<Id> = built
        .work
        .entry
        .replaced
        .iter()
        .map(|done| done.id)
        .collect();
    let mut left_out = Vec::new();
    let mut bases = Vec::new();
    for (reference, declared) in built
        .declared
        .iter()
        .filter(|(_, declared)| !declared.blueprint)
    {
        let record = plain(&declared.record);
        let known = base
            .get(record.id)
            .filter(|known| known.reference == *reference);
        if declared.fresh || replaced.contains(&record.id) {
            bases.push(match known {
                // Of what is there the config alone was written.
                Some(known) if !declared.fresh => {
                    let mut known = known.clone();
                    known.record.config = record.config;
                    known
                }
                _ => BaseRecord::new(reference, &declared.name, record),
            });
            continue;
        }
        let Some(known) = known else { continue };
        for (path, base, theirs) in differing(&known.record, &record, definitions) {
            left_out.push(not_carried(
                record.kind,
                reference,
                Some(&path),
                Some(base),
                Some(theirs),
            ));
        }
        left_out.extend(other_name(known, reference, &declared.name));
    }
    note_imported(base, &mut bases);
    built.work.entry.base = bases;
    left_out
}
