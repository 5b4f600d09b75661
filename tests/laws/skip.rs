//! What is skipped leaves nothing of the source behind, and every field that it empties is reported.

use std::collections::{BTreeMap, BTreeSet};

use tplkit::apply::{Report, Resolution};
use tplkit::check::Checked;
use tplkit::json::{Doc, Node, path};
use tplkit::package::model::{ItemKind, Reason, WireWord as _};
use tplkit::workspace::Structure;
use tplkit::workspace::memory::Memory;

use crate::decide::{decided, dependencies};
use crate::job::Job;
use crate::seeds::{Dice, Verdict, each, hold};
use crate::world::{empty_counterpart, exported, read, selection, workspace};

#[test]
fn skipping_leaves_no_id_of_the_source() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let destination = empty_counterpart(&source);
        let mut request = decided(&package, &destination, None);
        for resolution in request.resolutions.values_mut() {
            *resolution = Resolution::Skip;
        }
        let job = Job::new(&package, request, seed);
        let mut target = Memory::new(destination);
        let report = job.run(&mut target, &[])?;
        let mut state = target.state();
        // Link cells are data: what they hold may stay.
        state.rows.clear();
        let written = state.save().map_err(|error| error.to_string())?;
        for id in ids(&source.structure) {
            hold(!written.contains(&id), || format!("{id} is left"))?;
        }
        hold(
            !written.contains("\"$f_") && !written.contains("\"$c_"),
            || "a ref is left".to_owned(),
        )?;
        let skipped: BTreeSet<&str> = dependencies(&package)
            .iter()
            .map(|dependency| dependency.reference.as_str())
            .collect();
        reported(&text, &package, &skipped, &report)
    });
}

#[test]
fn every_field_that_a_skip_empties_is_reported() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let destination = empty_counterpart(&source);
        let mut request = decided(&package, &destination, None);
        let mut dice = Dice::new(seed ^ 0x5417);
        let mut skipped = BTreeSet::new();
        for dependency in dependencies(&package) {
            let resolution = request.resolutions.get_mut(&dependency.reference);
            let resolution = resolution.ok_or("a dependency was not decided")?;
            if dice.below(2) == 0 {
                *resolution = Resolution::Skip;
            }
            if *resolution == Resolution::Skip {
                skipped.insert(dependency.reference.as_str());
            }
        }
        let job = Job::new(&package, request, seed);
        let mut target = Memory::new(destination);
        let report = job.run(&mut target, &[])?;
        reported(&text, &package, &skipped, &report)
    });
}

/// Where an item stands in the report, and what stands there.
type Places = BTreeSet<(String, String)>;

/// Holds the report against what the package's text holds of the skipped dependencies.
fn reported(
    text: &str,
    package: &Checked<'_>,
    skipped: &BTreeSet<&str>,
    report: &Report,
) -> Verdict {
    let doc = Doc::parse(text).map_err(|error| error.to_string())?;
    let manifest = doc.root().get("manifest").ok_or("no manifest")?;
    let mut refs: BTreeSet<String> = BTreeSet::new();
    let mut expected = Places::new();
    for dependency in dependencies(package) {
        if skipped.contains(dependency.reference.as_str()) {
            refs.insert(format!("${}", dependency.reference));
            let columns = dependency.identity.columns.iter().flatten();
            refs.extend(columns.map(|column| format!("${}", column.reference)));
            // Names stay where they are in a package: only this reports them.
            let used = dependency.used_by.iter();
            expected.extend(used.map(|used| (used.uid.clone(), used.path.clone())));
        }
    }
    let plan = manifest.get("plan").ok_or("no plan")?;
    let uids = uids(package);
    for step in plan.get("steps").into_iter().flat_map(Node::elements) {
        let args = step.get("args").ok_or("a step without args")?;
        let own = step.get_str("ref").map(str::to_owned);
        let own = own.or_else(|| updated(step.get_str("tool")?, args));
        let uid = match own.and_then(|own| uids.get(&own).cloned()) {
            Some(uid) => uid,
            None => plan.get_str("id").unwrap_or_default().to_owned(),
        };
        for node in args.descendants() {
            let value = node.as_str().is_some_and(|text| refs.contains(text));
            let key = node.key().is_some_and(|key| refs.contains(key));
            if value || key {
                expected.insert((uid.clone(), path::dotted(args, node)));
            }
        }
    }
    let word = Reason::DependencySkipped.word();
    for (uid, path) in &expected {
        // What lost its parent is not there, and is reported by that path alone.
        let found = report.unresolved.iter().any(|entry| {
            let parent = ["featureId", "moduleId"].contains(&entry.path.as_str());
            let field = entry.path == *path && entry.reason == word;
            entry.uid == *uid && (field || parent)
        });
        hold(found, || format!("{path} of {uid} is not reported"))?;
    }
    cells(plan, package, skipped, report)
}

/// uids of items by their refs.
fn uids(package: &Checked<'_>) -> BTreeMap<String, String> {
    let items = package.manifest.items().iter();
    let items = items.filter(|item| item.kind != ItemKind::Rows);
    items
        .filter_map(|item| Some((item.reference.clone()?, item.uid.clone())))
        .collect()
}

/// The ref of what a step updates.
fn updated(tool: &str, args: Node<'_>) -> Option<String> {
    let key = match tool {
        "update_feature" => "featureId",
        "update_column" => "columnId",
        "update_view" => "viewId",
        "update_module" => "moduleId",
        _ => return None,
    };
    Some(args.get_str(key)?.trim_start_matches('$').to_owned())
}

/// Cells of link columns whose table was skipped are counted, column by column.
fn cells(
    plan: Node<'_>,
    package: &Checked<'_>,
    skipped: &BTreeSet<&str>,
    report: &Report,
) -> Verdict {
    let word = Reason::DependencySkipped.word();
    for step in plan.get("steps").into_iter().flat_map(Node::elements) {
        let Some(args) = step.get("args").filter(|_| {
            let tool = step.get_str("tool");
            tool == Some("create_column")
        }) else {
            continue;
        };
        let text = |node: Option<Node<'_>>| {
            let text = node.and_then(Node::as_str).unwrap_or_default();
            text.trim_start_matches('$').to_owned()
        };
        let linked = text(
            args.get("config")
                .and_then(|config| config.get("linkedFeatureId")),
        );
        if !skipped.contains(linked.as_str()) {
            continue;
        }
        let (feature, name) = (text(args.get("featureId")), text(args.get("name")));
        let Some(entry) = package
            .payloads
            .iter()
            .find(|entry| entry.feature_ref == feature)
        else {
            continue;
        };
        let rows = report.rows.get(&feature).copied().unwrap_or_default();
        let count = entry.rows().filter(|row| {
            let mut members = tplkit::rows::members(row.data);
            members.any(|(key, value)| key.is(&name) && !["null", "\"\"", "[]"].contains(&value))
        });
        let count = count.count() as u64;
        if rows.failed > 0 || rows.inserted == 0 || count == 0 {
            continue;
        }
        let path = {
            let mut path = "rows[].data".to_owned();
            path::push_dotted(&mut path, &name);
            path
        };
        let found: Vec<_> = (report.unresolved.iter())
            .filter(|one| one.uid == entry.item_uid && one.path == path && one.reason == word)
            .collect();
        hold(found.len() == 1 && found[0].count == Some(count), || {
            format!("{path} of {feature}: {count} cells, reported {found:?}")
        })?;
        hold(
            found[0].reference.as_deref() == Some(linked.as_str()),
            || format!("{path} of {feature}: {:?}", found[0].reference),
        )?;
    }
    Ok(())
}

/// Every id of the source but those of its organization, which packages know by name.
fn ids(structure: &Structure) -> Vec<String> {
    let mut ids = vec![structure.organization.id, structure.workspace.id];
    for feature in structure.features.iter().chain(&structure.shared) {
        ids.push(feature.id);
        ids.extend(feature.columns.iter().map(|one| one.id));
        ids.extend(feature.views.iter().map(|one| one.id));
    }
    for module in &structure.modules {
        ids.push(module.id);
        ids.extend(module.rails.iter().map(|one| one.id));
    }
    ids.extend(structure.automations.iter().map(|one| one.id));
    ids.extend(structure.earlier_automations.iter().map(|one| one.id));
    let channels = structure.organization.channels.iter().flatten();
    ids.extend(channels.map(|one| one.id));
    let timers = structure.organization.timer_profiles.iter().flatten();
    ids.extend(timers.map(|one| one.id));
    ids.iter().map(ToString::to_string).collect()
}
