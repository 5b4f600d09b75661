//! Workspaces that people set up by hand, and the package that they did it by.

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::undone::new;
use super::{
    Line, args, checked, client, codes, conflicts, kept, label, link, request, updates,
    upgrade_body, v1, v2,
};
use crate::apply::test_packages::Pack;
use crate::apply::{
    ApplyError, BasePackage, JobHistory, Minter, Preview, PreviewInput, Report, ResolveInput,
    adopt, base_resolutions, check_base, decide_from, note_adopted, preview, run_from,
};
use crate::crashing::{Crash, Error, Memory};
use crate::definitions::Definitions;
use crate::workspace::RecordKind::{Column, Feature, Rail, View, Workflow};
use crate::workspace::ledger::Entry;
use crate::workspace::{Source as _, Target as _, ready};

/// The first version, of which no job knows.
fn by_hand(package: &Json) -> Line {
    let mut line = Line::of(package);
    line.jobs.clear();
    line
}

/// What an upgrade of that would do.
fn plan(line: &Line, base: &Json, package: &Json, body: &str) -> Preview {
    let (base, text) = (base.to_string(), package.to_string());
    let (base, package) = (checked(&base), checked(&text));
    let request = request(body);
    let resolutions = base_resolutions(&base, &package, &request);
    let base = BasePackage {
        job: None,
        package: &base,
        resolutions: &resolutions,
        legacy_jobs: &[],
        rows: &[],
    };
    let structure = ready(line.memory.structure()).expect("a structure");
    let definitions = Definitions::embedded();
    let entries = ready(adopt(&line.memory, &structure, base, definitions)).expect("a ledger");
    let input = PreviewInput {
        package: &package,
        package_digest: "",
        request: &request,
        earlier: &entries,
        base: Some(base),
        definitions,
    };
    ready(preview(&line.memory, &structure, input)).expect("a plan")
}

/// One attempt at a job that does it.
fn attempt(
    memory: &mut Memory,
    base: &str,
    text: &str,
    body: &str,
) -> Result<Report, ApplyError<Error>> {
    let (base, package, request) = (checked(base), checked(text), request(body));
    let resolutions = base_resolutions(&base, &package, &request);
    let base = BasePackage {
        job: None,
        package: &base,
        resolutions: &resolutions,
        legacy_jobs: &[],
        rows: &[],
    };
    let definitions = Definitions::embedded();
    ready(note_adopted(memory, base, definitions))?;
    let own = ready(memory.ledger()).map_err(ApplyError::store("reading the ledger"))?;
    let structure = ready(memory.structure()).map_err(ApplyError::store("reading"))?;
    let past = JobHistory {
        entries: &[],
        base: Some(base),
    };
    let deciding = JobHistory {
        entries: &own,
        ..past
    };
    let minter = Minter::at(Timestamp::UNIX_EPOCH, 0xADD_0001);
    let decided = decide_from(
        &*memory,
        ResolveInput {
            package: &package,
            request: &request,
            destination: &structure,
            past: deciding,
            definitions,
        },
        minter,
    );
    let approved = ready(decided).map_err(ApplyError::store("measuring"))?;
    let approved = approved.expect("approved");
    let payloads = &package.payloads;
    let mut unwatched = |_| {};
    let ran = run_from(
        memory,
        &approved,
        payloads,
        past,
        definitions,
        &mut unwatched,
    );
    ready(ran)
}

/// A job that does it, whatever its plan says.
fn upgrade(line: &mut Line, base: &Json, package: &Json, decisions: &Json) -> Report {
    let body = upgrade_body(decisions);
    let planned = plan(line, base, package, &body);
    assert_eq!(planned.refusals, [], "{planned:#?}");
    let (base, text) = (base.to_string(), package.to_string());
    let report = attempt(&mut line.memory, &base, &text, &body).expect("a report");
    let ledger = line.memory.next_job();
    line.jobs.push((text, ledger, true));
    report
}

#[test]
fn what_people_set_up_is_upgraded_and_stays_theirs() {
    let mut line = by_hand(&v1());
    line.edit(Feature, "orders", label("Ours"));
    line.cells(1, &json!({"note": "ours"}));
    let before = line.memory.state();
    let planned = plan(&line, &v1(), &new(), &upgrade_body(&Json::Null));
    let base = planned.base.as_ref().expect("a base");
    assert_eq!(base.job_id, None);
    assert_eq!(kept(&planned), [("f_orders", "label")]);
    assert!(
        updates(&planned).contains(&("f_clients", "label")),
        "{planned:#?}"
    );
    let made: Vec<&str> = planned.create.iter().map(|one| &*one.reference).collect();
    assert_eq!(made, ["c_clients_tel"]);
    let rows = &planned.rows["f_clients"];
    assert_eq!(
        (rows.insert, rows.update, rows.kept, rows.skipped),
        (0, 2, 1, 3)
    );

    let report = upgrade(&mut line, &v1(), &new(), &Json::Null);
    assert_eq!(report.rows["f_clients"].updated, 2);
    assert_eq!(report.base.as_ref().and_then(|base| base.job_id), None);
    assert_eq!(line.get(Feature, "clients").called(), "Clients");
    assert_eq!(line.get(Feature, "orders").called(), "Ours");
    assert!(line.clients()[0].contains("Berlin") && line.clients()[1].contains("ours"));
    // From now on it is the template's.
    let again = line.plan(&new(), &upgrade_body(&Json::Null));
    assert_eq!((updates(&again), codes(&again.refusals)), (vec![], vec![]));
    let drift = line.drift(true);
    let changed: Vec<_> = drift.changed.iter().map(|one| &*one.reference).collect();
    assert_eq!(changed, ["f_orders"]);
    let cells = drift.cells.expect("cells");
    assert_eq!((cells.len(), &*cells[0].column), (1, "note"));
    assert_eq!(
        (
            drift.rows["f_clients"].added,
            drift.rows["f_clients"].deleted
        ),
        (0, 0)
    );
    // It is taken back leaf by leaf; what was there before stays.
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

#[test]
fn it_is_planned_as_what_a_job_applied() {
    let people: [fn(&mut Line); 4] = [
        |_| {},
        |line| line.edit(Feature, "clients", label("Ours")),
        |line| {
            line.edit(Feature, "orders", label("Ours"));
            line.edit(Column, "name", |thing| thing.order = Some(9));
            line.edit(View, "orders", super::config("people", &json!(1)));
            line.cells(0, &json!({"city": "Ours"}));
            line.cells(1, &json!({"note": "ours"}));
        },
        |line| {
            line.insert("clients", r#"{"name": "D", "city": "Köln"}"#);
            line.edit(Rail, "s", |thing| thing.order = Some(0));
            line.cells(2, &json!({"city": null}));
        },
    ];
    let packages = [
        v1(),
        new(),
        v2(|package| super::without(package, "r_s")),
        v2(|package| {
            args(package, "c_clients_city")["config"] = json!({"required": true});
            args(package, "w_flow")["triggerConfig"] = json!({"type": "manual", "label": "x"});
        }),
    ];
    for edit in people {
        for package in &packages {
            let mut line = Line::new();
            edit(&mut line);
            let mut known = line.plan(package, &upgrade_body(&Json::Null));
            let mut found = plan(&line, &v1(), package, &upgrade_body(&Json::Null));
            for one in [&mut known, &mut found] {
                one.digest.clear();
            }
            assert_eq!(found, known);
        }
    }
}

#[test]
fn automations_and_the_config_of_the_workspace_are_adopted() {
    let mut line = by_hand(&v1());
    let before = line.memory.state();
    let next = v2(|package| {
        args(package, "w_flow")["name"] = "Flow 2".into();
        let steps = package["manifest"]["plan"]["steps"].as_array_mut();
        let steps = steps.expect("steps").iter_mut();
        for step in steps.filter(|step| step["tool"] == "update_workspace") {
            step["args"]["config"]["theme"] = "dark".into();
        }
    });
    let planned = plan(&line, &v1(), &next, &upgrade_body(&Json::Null));
    assert_eq!(codes(&planned.refusals), [] as [&str; 0], "{planned:#?}");
    let both = [("workspace", "config.theme"), ("w_flow", "name")];
    assert!(
        both.iter().all(|one| updates(&planned).contains(one)),
        "{planned:#?}"
    );
    assert_eq!(planned.update.len(), 2);
    let report = upgrade(&mut line, &v1(), &next, &Json::Null);
    assert_eq!((report.structure_updated, report.published), (2, 1));
    assert!(line.thing(Workflow, "Flow 2").is_some());
    assert!(!line.drift(true).drift);
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

#[test]
fn what_both_changed_is_asked() {
    let mut line = by_hand(&v1());
    line.edit(Feature, "clients", label("Ours"));
    line.cells(0, &json!({"city": "Ours"}));
    let planned = plan(&line, &v1(), &new(), &upgrade_body(&Json::Null));
    let cell = planned.conflicts[1].path.clone().unwrap_or_default();
    assert_eq!(
        conflicts(&planned),
        [
            ("changed", "f_clients", "label"),
            ("changed", "f_clients", &cell)
        ]
    );
    let segments = crate::json::path::split_dotted(&cell);
    assert_eq!([&*segments[0], &*segments[2]], ["rows", "city"], "{cell}");
    let both = json!({"f_clients": {"label": "theirs", cell: "ours"}});
    upgrade(&mut line, &v1(), &new(), &both);
    assert_eq!(line.get(Feature, "clients").called(), "Clients");
    assert!(line.clients()[0].contains("Ours"));
    // Decided once, it is not asked again.
    let again = line.plan(&new(), &upgrade_body(&Json::Null));
    assert_eq!(codes(&again.refusals), [] as [&str; 0]);
}

#[test]
fn what_people_did_not_set_up_is_created() {
    let mut line = by_hand(&v1());
    line.remove(Column, "note");
    line.remove(Rail, "s");
    let (feature, id) = line.client_row(2);
    super::person(
        &mut line.memory,
        vec![crate::workspace::Change::RemoveRows {
            feature,
            rows: vec![crate::workspace::Removal { id, digest: None }],
        }],
    );
    let before = line.memory.state();
    let planned = plan(&line, &v1(), &v1(), &upgrade_body(&Json::Null));
    assert_eq!(codes(&planned.refusals), [] as [&str; 0], "{planned:#?}");
    let made: Vec<&str> = planned.create.iter().map(|one| &*one.reference).collect();
    assert_eq!(made, ["c_clients_note", "r_s"]);
    let rows = &planned.rows["f_clients"];
    assert_eq!((rows.insert, rows.skipped), (1, 2));
    upgrade(&mut line, &v1(), &v1(), &Json::Null);
    assert_eq!(line.clients().len(), 3);
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

#[test]
fn rows_without_a_verified_key_are_the_people_s() {
    let pack = |rows: &[(Json, Json)]| {
        let pack = Pack::new()
            .table("notes")
            .column("notes", "text", "text", json!(null))
            .rows("notes", None, rows);
        serde_json::from_str::<Json>(&pack.text()).expect("JSON")
    };
    let base = pack(&[(json!({"text": "a"}), Json::Null)]);
    let line = by_hand(&base);
    let next = pack(&[
        (json!({"text": "a"}), Json::Null),
        (json!({"text": "b"}), Json::Null),
    ]);
    for (mode, insert) in [("all", 2), ("none", 0)] {
        let body = json!({"upgrade": true, "rowsModes": {"f_notes": mode}}).to_string();
        let planned = plan(&line, &base, &next, &body);
        assert_eq!(codes(&planned.refusals), [] as [&str; 0]);
        assert_eq!(planned.rows["f_notes"].insert, insert, "{mode}");
    }
}

#[test]
fn hidden_rows_are_not_adopted() {
    let mut line = by_hand(&v1());
    let hidden = line.client_row(1).1;
    line.memory.hide(&[hidden]);
    let planned = plan(&line, &v1(), &new(), &upgrade_body(&Json::Null));
    let rows = &planned.rows["f_clients"];
    assert_eq!((rows.skipped, rows.insert, rows.update), (2, 1, 1));
}

#[test]
fn a_base_is_an_earlier_form_of_the_package() {
    let named = |id: Json, name: &str| {
        v2(|package| {
            if id != Json::Null {
                package["manifest"]["id"] = id;
            }
            package["manifest"]["name"] = name.into();
        })
        .to_string()
    };
    for (base, theirs, fits) in [
        ((json!("1"), "a"), (json!("1"), "b"), true),
        ((json!("1"), "a"), (json!("2"), "a"), false),
        ((json!("1"), "a"), (Json::Null, "a"), false),
        ((Json::Null, "a"), (json!("1"), "a"), true),
        ((Json::Null, "a"), (Json::Null, "b"), false),
    ] {
        let (own, new) = (named(base.0, base.1), named(theirs.0, theirs.1));
        let checked = check_base(&checked(&new), &checked(&own));
        let code = checked.err().map(|refusal| refusal.code.as_str());
        assert_eq!(code, (!fits).then_some("base_unrelated"), "{own} {new}");
    }
}

#[test]
fn a_dependency_that_people_set_up_is_bound() {
    let uses = [
        (1001, "config.linkedFeatureId"),
        (1001, "config.linkedValueColumn"),
    ];
    let mut pack = Pack::new()
        .table("clients")
        .column("clients", "town", "linked_select", link("towns", "name"))
        .far_table("towns", &["name"], true, &uses);
    pack.external = vec!["f_towns", "c_towns_name"];
    let base: Json = serde_json::from_str(&pack.text()).expect("JSON");
    let mut next = base.clone();
    args(&mut next, "f_clients")["label"] = "Customers".into();
    let mut line = by_hand(&base);
    let planned = plan(&line, &base, &next, &upgrade_body(&Json::Null));
    assert_eq!(codes(&planned.refusals), [] as [&str; 0]);
    assert!(planned.create.is_empty(), "{:#?}", planned.create);
    upgrade(&mut line, &base, &next, &Json::Null);
    assert!(line.thing(Feature, "towns_2").is_none());
}

#[test]
fn it_ends_as_one_that_never_stopped() {
    let line = || {
        let mut line = by_hand(&v1());
        line.edit(View, "orders", super::config("people", &json!(1)));
        line.cells(1, &json!({"note": "ours"}));
        line
    };
    let (base, text) = (v1().to_string(), {
        let mut package = new();
        args(&mut package, "f_orders")["label"] = "Sales".into();
        client(&mut package, 2)["city"] = "Weimar".into();
        package.to_string()
    });
    let body = upgrade_body(&Json::Null);
    let mut whole = line().memory;
    let planned = attempt(&mut whole, &base, &text, &body).expect("a report");
    let adopted = |memory: &Memory| {
        let own = ready(memory.ledger()).expect("a ledger");
        let all = own
            .iter()
            .filter(|entry| matches!(entry, Entry::Structure(structure) if structure.adopted));
        all.count()
    };
    let mut stops = 0;
    for written in [false, true] {
        for call in 0.. {
            let mut memory = line().memory;
            memory.crash_at(Crash { call, written });
            if attempt(&mut memory, &base, &text, &body).is_ok() {
                break;
            }
            memory.recover();
            stops += 1;
            let own = ready(memory.ledger()).expect("a ledger");
            let ended = own.contains(&Entry::Completed);
            let report = attempt(&mut memory, &base, &text, &body).expect("a report");
            assert!(
                memory.state() == whole.state(),
                "call {call}, written {written}"
            );
            assert_eq!(adopted(&memory), 1);
            if !ended {
                assert_eq!(report, planned, "{call} {written}");
            }
        }
    }
    assert!(stops > 15, "{stops}");
}
