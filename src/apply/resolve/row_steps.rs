//! Resolves the steps of a hand-written plan that write rows.

use super::findings::Findings;
use super::modes;
use super::row_data::{data, inserted};
use super::steps::{StepWork, Steps, text_in, used_in};
use super::tables::Tables;
use crate::apply::{RowStep, RowStepWork};
use crate::json::Value;
use crate::package::Tool;
use crate::package::model::Reason;

/// All of them, in order; ids of their rows come after those of the payloads.
pub(super) fn row_steps(
    steps: &Steps<'_>,
    tables: &Tables<'_, '_>,
    mut next: u32,
    findings: &mut Findings,
) -> Vec<RowStep> {
    let writing = steps.all.iter().filter(|work| work.step.tool.is_row_tool());
    writing
        .map(|work| {
            let (brought, work_of_step) = one(work, tables, next, findings);
            next = next.saturating_add(u32::try_from(brought).unwrap_or(u32::MAX));
            RowStep {
                uid: work.step.uid.clone(),
                tool: work.step.tool,
                work: work_of_step,
            }
        })
        .collect()
}

fn one(
    work: &StepWork<'_>,
    tables: &Tables<'_, '_>,
    first_ordinal: u32,
    findings: &mut Findings,
) -> (usize, RowStepWork) {
    let args = &work.step.args;
    let list = || match args.get("rows") {
        Some(Value::List(rows)) => rows.as_slice(),
        _ => &[],
    };
    let feature_ref = used_in(args, "featureId");
    let writes = feature_ref.map_or(tables.request.include_rows, |table| {
        modes::writes(tables.request, table)
    });
    let inserted = inserted(work.step);
    let updated = match work.step.tool {
        Tool::UpdateRow => vec![(text_in(args, "rowId").to_owned(), data(args))],
        Tool::BulkUpdateRows => {
            let rows = list().iter().filter_map(Value::as_object);
            rows.map(|row| (text_in(row, "id").to_owned(), data(row)))
                .collect()
        }
        _ => Vec::new(),
    };
    let brought = inserted.len();
    if !writes {
        return (brought, RowStepWork::Nothing);
    }
    let feature = feature_ref.and_then(|table| tables.feature(table));
    if feature.is_none() && work.step.tool != Tool::UpdateRow {
        let count = u64::try_from(brought.max(updated.len())).ok();
        findings.rows(&work.step.uid, Reason::FeatureRefUnresolved, count);
        return (brought, RowStepWork::Nothing);
    }
    let step = match (feature_ref, feature) {
        (Some(table), Some(feature)) if brought > 0 => RowStepWork::Insert {
            feature_ref: table.to_owned(),
            feature,
            columns: tables.columns_of(table, feature),
            rows: inserted,
            first_ordinal,
        },
        _ if !updated.is_empty() => RowStepWork::Update {
            feature_ref: feature_ref.map(str::to_owned),
            rows: updated,
            merge: args.get("merge").and_then(Value::as_bool) == Some(true),
        },
        _ => RowStepWork::Nothing,
    };
    (brought, step)
}
