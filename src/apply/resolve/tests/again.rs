//! Applying again, and going on after an interruption.

use jiff::Timestamp;
use serde_json::json;

use crate::apply::Minter;
use crate::apply::test_packages::{Pack, again, apply, empty, minter, written};
use crate::workspace::ledger::Entry;
use crate::workspace::{Change, RecordKind};

fn pack() -> Pack {
    let flow = json!({"workspaceId": "$workspace", "name": "Flow", "label": "Flow", "triggerConfig": {"type": "manual"}, "graphConfig": {"steps": [
        {"key": "feature.read", "id": "stp_aaaaaaaaaaaa", "config": {"featureId": "$f_t"}},
        {"key": "feature.write", "id": "stp_bbbbbbbbbbbb", "config": {"mode": "insert", "targetFeatureId": "$f_t", "bindings": [{"targetColumn": "$c_t_a", "value": "x"}]}}]}, "isDraft": true, "published": true});
    Pack::new()
        .table("t")
        .column("t", "a", "text", json!(null))
        .create("create_workflow_v2", "w_flow", flow)
        .create(
            "create_module",
            "m_m",
            json!({"workspaceId": "$workspace", "name": "m", "label": "m"}),
        )
        .step(
            "update_workspace",
            json!({"workspaceId": "$workspace", "config": {"defaultModuleId": "$m_m"}}),
        )
        .step(
            "update_feature",
            json!({"featureId": "$f_t", "config": {"titleColumn": "$c_t_a"}}),
        )
}

fn other() -> Minter {
    Minter::at(Timestamp::UNIX_EPOCH, 99)
}

#[test]
fn again_binds_and_changes_nothing() {
    let first = apply(&pack(), "{}", &empty()).expect("approved");
    let ledger = [
        Entry::Structure(first.structure.entry.clone()),
        Entry::Published {
            reference: "w_flow".to_owned(),
            paused: false,
        },
        Entry::Completed,
    ];
    let destination = written(&first, empty());
    let second = again(&pack(), "{}", &destination, Some(&ledger), other()).expect("approved");
    assert_eq!(second.structure, crate::apply::StructureWork::default());
    assert!(second.publish.is_empty() && second.renamed.is_empty());
    let bound: Vec<_> = second
        .bound
        .iter()
        .map(|bound| (bound.kind, bound.reference.as_str(), bound.id))
        .collect();
    let made: Vec<_> = first
        .structure
        .entry
        .created
        .iter()
        .map(|made| (made.kind, made.reference.as_str(), made.id))
        .collect();
    assert_eq!(bound, made);
}

#[test]
fn what_is_missing_is_created_and_pointed_at() {
    let first = apply(&pack(), "{}", &empty()).expect("approved");
    let ledger = [
        Entry::Structure(first.structure.entry.clone()),
        Entry::Completed,
    ];
    let mut destination = written(&first, empty());
    destination.modules.clear();
    let second = again(&pack(), "{}", &destination, Some(&ledger), other()).expect("approved");
    let kinds: Vec<_> = second
        .structure
        .entry
        .created
        .iter()
        .map(|made| made.kind)
        .collect();
    assert_eq!(kinds, [RecordKind::Module]);
    // The workspace points at the new module; the table's own update is not done again.
    let configured: Vec<_> = second
        .structure
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::Configure { kind, .. } => Some(*kind),
            _ => None,
        })
        .collect();
    assert_eq!(configured, [RecordKind::Workspace]);
    assert_eq!(second.structure.entry.replaced.len(), 1);
}

#[test]
fn a_table_that_is_gone_comes_back_with_all_its_columns() {
    let first = apply(&pack(), "{}", &empty()).expect("approved");
    let ledger = [
        Entry::Structure(first.structure.entry.clone()),
        Entry::Completed,
    ];
    let mut destination = written(&first, empty());
    destination.features.clear();
    let second = again(&pack(), "{}", &destination, Some(&ledger), other()).expect("approved");
    let made: Vec<_> = second
        .structure
        .entry
        .created
        .iter()
        .map(|made| made.reference.as_str())
        .collect();
    assert_eq!(made, ["f_t", "c_t_a"]);
    let changes = second.structure.changes.len();
    assert_eq!(
        changes, 4,
        "with its update, and the automation points at it"
    );
}

#[test]
fn a_later_job_knows_what_all_earlier_ones_made() {
    let first = apply(&pack(), "{}", &empty()).expect("approved");
    let mut ledger = vec![
        Entry::Structure(first.structure.entry.clone()),
        Entry::Completed,
    ];
    let mut destination = written(&first, empty());
    destination.modules.clear();
    let second = again(&pack(), "{}", &destination, Some(&ledger), other()).expect("approved");
    let destination = written(&second, destination);
    ledger.extend([
        Entry::Structure(second.structure.entry.clone()),
        Entry::Completed,
    ]);
    let third = again(&pack(), "{}", &destination, Some(&ledger), minter()).expect("approved");
    assert_eq!(third.structure, crate::apply::StructureWork::default());
    assert_eq!(third.bound.len(), 4);
}

#[test]
fn resume_publishes_what_is_pending() {
    let first = apply(&pack(), "{}", &empty()).expect("approved");
    let destination = written(&first, empty());
    let mut ledger = vec![Entry::Structure(first.structure.entry.clone())];
    let resumed = again(&pack(), "{}", &destination, Some(&ledger), minter()).expect("approved");
    assert_eq!(resumed.publish, first.publish);
    assert!(resumed.structure.changes.is_empty());
    ledger.push(Entry::Published {
        reference: "w_flow".to_owned(),
        paused: false,
    });
    let resumed = again(&pack(), "{}", &destination, Some(&ledger), minter()).expect("approved");
    assert!(resumed.publish.is_empty());
}

#[test]
fn resume_tells_of_the_same_names_and_dropped_keys() {
    let mut destination = empty();
    destination
        .features
        .push(crate::apply::test_packages::feature(70, "t", &[]));
    let odd = json!({"workspaceId": "$workspace", "config": {"odd": 1}});
    let pack = Pack::new().table("t").step("update_workspace", odd);
    let first = apply(&pack, "{}", &destination).expect("approved");
    let ledger = [Entry::Structure(first.structure.entry.clone())];
    let resumed = again(
        &pack,
        "{}",
        &written(&first, destination),
        Some(&ledger),
        minter(),
    )
    .expect("approved");
    assert_eq!(
        (resumed.renamed, resumed.unresolved),
        (first.renamed, first.unresolved)
    );
    assert_eq!(first.dropped_keys.len(), 1);
    assert_eq!(resumed.dropped_keys, first.dropped_keys);
}

#[test]
fn an_undone_job_left_nothing_to_bind_to() {
    let first = apply(&pack(), "{}", &empty()).expect("approved");
    let ledger = [
        Entry::Structure(first.structure.entry.clone()),
        Entry::Completed,
        Entry::Undone,
    ];
    let second = again(&pack(), "{}", &empty(), Some(&ledger), minter()).expect("approved");
    assert_eq!(second, first);
}

#[test]
fn a_copy_is_separate_and_goes_on_as_itself() {
    let first = apply(&pack(), "{}", &empty()).expect("approved");
    let mut ledger = vec![
        Entry::Structure(first.structure.entry.clone()),
        Entry::Completed,
    ];
    let destination = written(&first, empty());
    let copy = again(
        &pack(),
        r#"{"copy": true}"#,
        &destination,
        Some(&ledger),
        other(),
    )
    .expect("approved");
    assert_eq!(
        (copy.bound.len(), copy.structure.entry.created.len()),
        (0, 4)
    );
    assert_eq!(copy.structure.entry.created[0].name, "t_2");
    let destination = written(&copy, destination);
    ledger.push(Entry::Structure(copy.structure.entry.clone()));
    let resumed = again(
        &pack(),
        r#"{"copy": true}"#,
        &destination,
        Some(&ledger),
        other(),
    )
    .expect("approved");
    assert_eq!(
        (resumed.bound.len(), resumed.structure.changes.len()),
        (4, 0)
    );
    assert_eq!(resumed.renamed, copy.renamed);
}

/// Whose rows a table shows is decided by administrators: a job of somebody else leaves it as it is.
#[test]
fn whose_rows_a_table_shows_stays_where_that_is_not_to_be_decided() {
    let first = apply(&pack(), "{}", &empty()).expect("approved");
    let ledger = [
        Entry::Structure(first.structure.entry.clone()),
        Entry::Completed,
    ];
    // The config names a column that is new, so it is written.
    let grown = Pack::new()
        .table("t")
        .column("t", "a", "text", json!(null))
        .column("t", "b", "text", json!(null))
        .step(
            "update_feature",
            json!({"featureId": "$f_t", "config": {"titleColumn": "$c_t_b"}}),
        );
    for (there, stays, access, dropped) in [
        (Some("own"), true, Some("own"), 1),
        (Some("own"), false, None, 0),
        // Absent is the default: that is not a difference.
        (Some("all"), true, None, 0),
        (None, true, None, 0),
    ] {
        let mut destination = written(&first, empty());
        let table = &mut destination.features[0];
        if let Some(access) = there {
            table.config.insert("rowAccess".to_owned(), access.into());
        }
        destination.row_access_stays = stays;
        let second = again(&grown, "{}", &destination, Some(&ledger), other()).expect("approved");
        let reported: Vec<_> = second
            .dropped_keys
            .iter()
            .map(|key| (key.reference.as_str(), key.path.as_str()))
            .collect();
        assert_eq!(
            reported,
            vec![("f_t", "config.rowAccess"); dropped],
            "{there:?}"
        );
        let configs = second.structure.changes.iter();
        let configs: Vec<_> = configs
            .filter_map(|change| match change {
                Change::Configure {
                    kind: RecordKind::Feature,
                    config,
                    ..
                } => Some(config),
                _ => None,
            })
            .collect();
        let [config] = configs[..] else {
            panic!("one config: {configs:?}");
        };
        let found = config.get("rowAccess").and_then(|access| access.as_str());
        assert_eq!(found, access, "{there:?} {stays}");
        let title = config.get("titleColumn").and_then(|title| title.as_str());
        assert_eq!(title, Some("b"));
    }
}
