//! Version 1 to version 2.

use serde_json::Value;
use tplkit::check::{CheckOptions, check};
use tplkit::context::Seeded;
use tplkit::definitions::Definitions;
use tplkit::diff::{Diff, ThingKind};
use tplkit::json::Doc;
use tplkit::migrate::{Migrated, to_version_2};

use crate::cases;

fn migrated(text: &str) -> Option<Migrated> {
    let doc = Doc::parse_package(text).unwrap();
    to_version_2(&doc, Definitions::embedded(), &mut Seeded::new(7)).unwrap()
}

fn codes(text: &str) -> Vec<String> {
    let findings = check(text.as_bytes(), &CheckOptions::default()).findings;
    let reported = findings.iter();
    reported
        .map(|one| format!("{} {} {}", one.rule.code, one.place.pointer, one.message))
        .collect()
}

/// A package of version 2 without what version 2 added.
fn first_version(text: &str) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap();
    let manifest = match value.get("manifest") {
        Some(_) => &mut value["manifest"],
        None => &mut value,
    };
    manifest["templateVersion"] = 1.into();
    for layer in ["source", "items", "dependencies", "unresolved", "redacted"] {
        manifest.as_object_mut().unwrap().shift_remove(layer);
    }
    value.to_string()
}

#[test]
fn a_clean_package_stays_clean() {
    let mut count = 0;
    for (name, file) in [cases::valid(), cases::folder("examples")].concat() {
        let old = first_version(&file);
        if !codes(&old).is_empty() {
            continue;
        }
        let new = migrated(&old).unwrap().package.write().unwrap();
        assert_eq!(codes(&new), Vec::<String>::new(), "{name}");
        assert!(migrated(&new).is_none(), "{name}");
        // What is built is the same: only the manifest and what is reported about it differ.
        let diff = Diff::of(&old, &new, true).unwrap();
        let reported = [ThingKind::Catalog, ThingKind::Rows, ThingKind::Unresolved];
        assert!(
            diff.changes
                .iter()
                .all(|change| reported.contains(&change.kind)),
            "{name}: {}",
            tplkit::diff::text(&diff)
        );
        count += 1;
    }
    assert!(count > 20, "{count} packages");
}

#[test]
fn what_was_there_is_found_again() {
    let file = cases::case("base-tiny");
    let new = migrated(&first_version(&file)).unwrap();
    let before = Doc::parse_package(&file).unwrap();
    let before = tplkit::package::model::Package::read(&before).unwrap();
    let kinds = |package: &tplkit::package::model::Package| {
        let items = package.manifest.items().iter();
        let mut kinds: Vec<_> = items
            .map(|item| {
                let parent = item.parent.as_ref().map(|uid| {
                    let mut all = package.manifest.items().iter();
                    all.find(|other| other.uid == *uid).unwrap().label.clone()
                });
                format!(
                    "{:?} {:?} {} {parent:?} {:?} {:?}",
                    item.kind, item.reference, item.label, item.count, item.data_class
                )
            })
            .collect();
        kinds.sort();
        kinds
    };
    assert_eq!(kinds(&new.package), kinds(&before));
    assert_eq!(new.package.payloads(), before.payloads());
    assert_eq!(new.notes.len(), 2, "{:?}", new.notes);
}

/// Version 1 excuses them all, version 2 only those that `unresolved` names.
#[test]
fn empty_references_of_automations_are_listed() {
    let file = |step: &str| {
        format!(
            r#"{{"templateVersion": 1, "plan": {{"planVersion": 1, "id": "u_0d9f1f5e-5ac7-4b5e-9a3f-9d5ae0cc1d10", "summary": "One.",
            "target": {{"workspaceId": "$workspace"}}, "metadata": {{"source": "export", "generatedAt": "2026-03-01T09:30:00Z"}}, "externalRefs": [],
            "steps": [{{"uid": "u_3b7f41b6-4a9e-4f0c-8f0b-6a4d1c3f2e11", "tool": "create_workflow_v2", "ref": "w_a", "args": {{"workspaceId": "$workspace",
              "name": "a", "label": "A", "isDraft": true, "triggerConfig": {{"type": "cron", "config": {{"mode": "daily", "atTime": "08:00", "timezone": "UTC"}}}},
              "graphConfig": {{"steps": [{step}, {{"key": "email.send", "id": "stp_BBBBBBBBBBBB", "config": {{"to": "a@example.org", "subject": "s", "body": "b"}}}}]}}}}}}]}}}}"#
        )
    };
    for config in [r#"{"featureId": ""}"#, "{}"] {
        let old = file(&format!(
            r#"{{"key": "feature.read", "id": "stp_AAAAAAAAAAAA", "config": {config}}}"#
        ));
        assert_eq!(codes(&old), Vec::<String>::new(), "{config}");
        let new = migrated(&old).unwrap();
        let entries = &new.package.manifest.layers().unwrap().unresolved;
        assert_eq!(entries[0].path, "graphConfig.steps.0.config.featureId");
        let written = new.package.write().unwrap();
        assert_eq!(codes(&written), Vec::<String>::new(), "{config}");
    }
}

#[test]
fn what_cannot_be_known_is_reported() {
    let links = first_version(&cases::case("base-links"));
    let notes = migrated(&links).unwrap().notes;
    let doc: Value = serde_json::from_str(&links).unwrap();
    let outside = doc["manifest"]["plan"]["externalRefs"].as_array().unwrap();
    assert!(!outside.is_empty());
    for reference in outside {
        let name = reference.as_str().unwrap();
        assert!(
            notes.iter().any(|note| note.contains(name)),
            "{name}: {notes:?}"
        );
    }
    let stray = first_version(&cases::case("base-tiny")).replacen(
        "\"plan\":",
        "\"items\":[1],\"plan\":",
        1,
    );
    let stray = migrated(&stray).unwrap();
    assert!(
        stray
            .notes
            .iter()
            .any(|note| note.contains("`items` was there"))
    );
    stray.package.write().unwrap();
}
