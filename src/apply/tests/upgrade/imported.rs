//! A table that came with a dependency, from its blueprint, and that the next version brings as an item.

use serde_json::{Value as Json, json};

use super::super::world::link;
use super::{Line, args, conflicts, label, updates, upgrade_body};
use crate::apply::row_base::RowBase;
use crate::apply::speaks_of_all;
use crate::apply::test_packages::Pack;
use crate::workspace::RecordKind::{Column, Feature};

/// Clients that show a town, which is imported.
fn dependent() -> Json {
    let uses = [
        (1001, "config.linkedFeatureId"),
        (1001, "config.linkedValueColumn"),
    ];
    let mut pack = Pack::new()
        .table("clients")
        .column("clients", "town", "linked_select", link("towns", "name"))
        .far_table("towns", &["name"], true, &uses);
    pack.external = vec!["f_towns", "c_towns_name"];
    serde_json::from_str(&pack.text()).expect("JSON")
}

/// Towns with another label, a name that is unique, a column and a row.
fn package_with_table() -> Json {
    let row = (json!({"name": "Bonn", "zip": "53111"}), Json::Null);
    let pack = Pack::new()
        .table("clients")
        .table("towns")
        .column("towns", "name", "text", json!({"unique": true}))
        .column("towns", "zip", "text", Json::Null)
        .column("clients", "town", "linked_select", link("towns", "name"))
        .rows("towns", Some("name"), &[row]);
    let mut package = serde_json::from_str(&pack.text()).expect("JSON");
    args(&mut package, "f_towns")["label"] = "Places".into();
    args(&mut package, "c_towns_name")["label"] = "Called".into();
    package
}

/// Clients alone: nothing uses the towns.
fn package_without_table() -> Json {
    let pack = Pack::new()
        .table("clients")
        .column("clients", "note", "text", Json::Null);
    serde_json::from_str(&pack.text()).expect("JSON")
}

fn as_the_package_says(line: &Line) {
    assert_eq!(line.get(Feature, "towns").called(), "Places");
    let name = line.get(Column, "name");
    assert_eq!(name.called(), "Called");
    assert!(name.config.write().contains("unique"), "{:?}", name.config);
    assert!(line.thing(Column, "zip").is_some());
    assert!(line.thing(Column, "zip_2").is_none());
    let rows = super::super::world::cells(&line.memory, "towns");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].contains("53111"), "{rows:?}");
    let drift = line.drift(true);
    assert!(!drift.drift, "{drift:#?}");
}

#[test]
fn what_it_says_of_itself_arrives_and_is_taken_back() {
    let mut line = Line::of(&dependent());
    let before = line.memory.state();
    let plan = line.plan(&package_with_table(), &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), []);
    let created: Vec<&str> = plan.create.iter().map(|one| &*one.reference).collect();
    assert_eq!(created, ["c_towns_zip"]);
    let updated = updates(&plan);
    for leaf in [
        ("f_towns", "label"),
        ("c_towns_name", "label"),
        ("c_towns_name", "config.unique"),
    ] {
        assert!(updated.contains(&leaf), "{updated:?}");
    }
    line.upgrade(&package_with_table(), &Json::Null);
    as_the_package_says(&line);
    let after = line.memory.state();
    line.upgrade(&package_with_table(), &Json::Null);
    assert_eq!(line.memory.state(), after);
    line.undo(false).expect("undone");
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
}

#[test]
fn what_people_made_of_it_is_asked_and_its_rows_are_measured() {
    let mut line = Line::of(&dependent());
    line.edit(Feature, "towns", label("Ours"));
    for _ in 0..2 {
        line.insert("towns", r#"{"name":"Kiel"}"#);
    }
    let plan = line.plan(&package_with_table(), &upgrade_body(&Json::Null));
    let mut asked = conflicts(&plan);
    asked.sort_unstable();
    assert_eq!(
        asked,
        [
            ("changed", "f_towns", "label"),
            ("unique_repeated", "c_towns_name", "config.unique"),
        ]
    );
    let mut line = Line::of(&dependent());
    line.remove(Feature, "towns");
    let plan = line.plan(&package_with_table(), &upgrade_body(&Json::Null));
    assert!(conflicts(&plan).contains(&("removed_here", "f_towns", "")));
}

#[test]
fn the_package_that_imported_it_is_read_as_long_as_no_item_stands_for_it() {
    let mut line = Line::of(&dependent());
    let unlinked = Pack::new()
        .table("clients")
        .column("clients", "town", "text", Json::Null);
    let unlinked = serde_json::from_str(&unlinked.text()).expect("JSON");
    line.upgrade(&unlinked, &Json::Null);
    line.past(|past| {
        let rows = past.base.expect("a base").rows;
        assert_eq!(rows.len(), 2);
        assert!(!speaks_of_all(past.entries, &rows[..1]));
        assert!(speaks_of_all(past.entries, rows));
    });
    line.upgrade(&package_with_table(), &Json::Null);
    line.past(|past| {
        let rows = past.base.expect("a base").rows;
        assert!(speaks_of_all(past.entries, &rows[..1]));
    });
}

#[test]
fn a_version_between_that_does_without_it_changes_nothing_of_that() {
    for plainly in [false, true] {
        let mut line = Line::of(&dependent());
        if plainly {
            line.apply(&package_without_table(), "{}");
        } else {
            line.upgrade(&package_without_table(), &Json::Null);
        }
        assert!(line.thing(Feature, "towns").is_some());
        let drift = line.drift(true);
        assert!(!drift.drift, "{drift:#?}");
        line.past(|past| {
            let speaking = past.row_bases();
            assert!(speaking.iter().all(RowBase::speaks_of_rows));
        });
        let plan = line.plan(&package_with_table(), &upgrade_body(&Json::Null));
        assert_eq!(conflicts(&plan), []);
        let updated = updates(&plan);
        for leaf in [
            ("f_towns", "label"),
            ("c_towns_name", "label"),
            ("c_towns_name", "config.unique"),
        ] {
            assert!(updated.contains(&leaf), "{updated:?}");
        }
        line.upgrade(&package_with_table(), &Json::Null);
        as_the_package_says(&line);
        line.edit(Feature, "towns", label("Ours"));
        let plan = line.plan(&package_with_table(), &upgrade_body(&Json::Null));
        assert_eq!((conflicts(&plan), updates(&plan)), (vec![], vec![]));
    }
}

#[test]
fn a_plain_apply_before_changes_nothing_of_that() {
    let mut line = Line::of(&dependent());
    let before = line.memory.state();
    let report = line.apply(&package_with_table(), "{}");
    let carried = report.not_carried.iter();
    let mut carried: Vec<_> = carried
        .map(|one| (one.reference.as_str(), one.path.as_deref()))
        .collect();
    carried.sort_unstable();
    assert_eq!(
        carried,
        [
            ("c_towns_name", Some("config.unique")),
            ("c_towns_name", Some("label")),
            ("f_towns", Some("label")),
        ]
    );
    let plan = line.plan(&package_with_table(), &upgrade_body(&Json::Null));
    assert_eq!((conflicts(&plan), plan.create.len()), (vec![], 0));
    line.upgrade(&package_with_table(), &Json::Null);
    as_the_package_says(&line);
    line.undo(false).expect("undone");
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
}

/// The plain apply of an earlier program noted nothing of a table that was imported.
#[test]
fn what_a_plain_apply_created_in_it_is_known_by_its_ref() {
    let mut line = Line::of(&dependent());
    line.apply(&package_with_table(), "{}");
    let (_, ledger, _) = line.jobs.last_mut().expect("a job");
    for entry in ledger {
        if let crate::workspace::ledger::Entry::Structure(structure) = entry {
            let created = &structure.created;
            let own = |id| created.iter().any(|made| made.id == id);
            structure.base.retain(|based| own(based.record.id));
        }
    }
    let plan = line.plan(&package_with_table(), &upgrade_body(&Json::Null));
    assert_eq!((conflicts(&plan), plan.create.len()), (vec![], 0));
    line.upgrade(&package_with_table(), &Json::Null);
    assert!(line.thing(Column, "zip_2").is_none());
}
