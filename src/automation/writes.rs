//! Steps that affect the automation itself: they write the trigger row (A010, A016), trigger it
//! again (A011), or run it (A014).

use super::environment::Setting;
use super::graph::Step;
use super::issue::Issue;
use super::parsed_trigger::RecordWatch;
use super::validation_context::{Site, ValidationContext, short_text};
use crate::definitions::ReferenceKind;
use crate::finding::Finding;
use crate::finding::catalog::{A010, A011, A014, A016};
use crate::json::Node;

const FEATURE_WRITE: &str = "feature.write";

/// Checks what each step reaches.
pub(super) fn check(case: &ValidationContext<'_, '_, '_>, issues: &mut Vec<Issue>) {
    let watch = case.trigger.watch();
    for (position, step) in case.graph.steps().iter().enumerate() {
        runs_itself(case, position, step, issues);
        let Some(config) = step
            .config
            .filter(|_| step.key == Some(FEATURE_WRITE) && step.declared.is_some())
        else {
            continue;
        };
        let site = Site::Step(position);
        let Some(mode) = config.get("mode") else {
            continue;
        };
        if mode.as_str() == Some("updateTrigger")
            && case
                .trigger
                .declared
                .is_some_and(|trigger| !trigger.trigger_row)
        {
            let message = "`updateTrigger` writes the row that fired, and this trigger has none";
            let finding = Finding::at(&A016, mode, message)
                .help("Write with `insert`, `update` or `upsert`.");
            issues.push(case.issue(site, mode, None, finding));
            continue;
        }
        let (Some(watch), Some(target)) = (&watch, config.get("targetFeatureId")) else {
            continue;
        };
        let same = match (watch.table.as_str(), target.as_str()) {
            (Some(watched), Some(written)) => case.same_table(watched, written),
            _ => None,
        };
        match same {
            Some(true) => {
                issues.extend(
                    fires_again(case.setting(), watch, config)
                        .map(|finding| case.step_issue(position, finding)),
                );
            }
            Some(false) if mode.as_str() == Some("updateTrigger") => {
                let message = format!(
                    "`updateTrigger` targets {}, and the row is of {}",
                    short_text(target),
                    short_text(watch.table)
                );
                let finding =
                    Finding::at(&A010, target, message).related(watch.table, "the trigger's table");
                issues.push(case.issue(site, target, None, finding));
            }
            _ => {}
        }
    }
}

/// Whether a write to the watched table fires the trigger that led to it.
fn fires_again<'d>(setting: Setting, watch: &RecordWatch<'d>, config: Node<'d>) -> Option<Finding> {
    let mode = config.get("mode")?;
    let (updates, inserts) = match mode.as_str()? {
        "update" | "updateTrigger" => (true, false),
        "upsert" => (true, true),
        "insert" => (false, true),
        _ => return None,
    };
    if let Some(finding) = updates
        .then(|| changes_watched(setting, watch, config))
        .flatten()
    {
        return Some(finding);
    }
    let awaited = watch.awaits("created").filter(|_| inserts)?;
    let message = format!(
        "{} creates rows of the table whose new rows the trigger waits for",
        short_text(mode)
    );
    let finding =
        Finding::at(&A011, mode, message).related(awaited, "the trigger waits for new rows");
    Some(finding.help("Write to another table, or do not wait for new rows."))
}

/// The first binding that changes a column for whose changes the trigger waits.
fn changes_watched<'d>(
    setting: Setting,
    watch: &RecordWatch<'d>,
    config: Node<'d>,
) -> Option<Finding> {
    let awaited = watch.awaits("updated")?;
    let columns = watch.columns()?;
    for binding in config.get("bindings")?.elements() {
        let Some(target) = binding.get("targetColumn") else {
            continue;
        };
        let Some(name) = target.as_str().filter(|name| !name.is_empty()) else {
            continue;
        };
        if columns.is_empty() {
            let message = format!(
                "writing {} fires the trigger again: it waits for a change of any column",
                short_text(target)
            );
            return Some(
                Finding::at(&A011, target, message)
                    .related(awaited, "the trigger waits for changes"),
            );
        }
        let watched = columns.iter().find(|column| {
            column
                .as_str()
                .is_some_and(|other| setting.same_column(name, other))
        });
        if let Some(watched) = watched {
            let message = format!(
                "writing {} fires the trigger again: it waits for changes of this column",
                short_text(target)
            );
            return Some(
                Finding::at(&A011, target, message).related(*watched, "the column is watched here"),
            );
        }
    }
    None
}

fn runs_itself<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    position: usize,
    step: &Step<'d, '_>,
    issues: &mut Vec<Issue>,
) {
    for spot in &step.reading.references {
        let automation = spot
            .reference()
            .is_some_and(|reference| reference.kind == ReferenceKind::WorkflowV2);
        let named = spot.node.as_str().is_some_and(|value| case.is_own(value));
        if automation && named {
            let message = format!("{} is this automation itself", short_text(spot.node));
            issues.push(case.issue(
                Site::Step(position),
                spot.node,
                None,
                Finding::at(&A014, spot.node, message),
            ));
        }
    }
}
