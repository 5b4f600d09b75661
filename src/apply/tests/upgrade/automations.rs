//! Automations of an upgrade: drafts that take the place of what is in force once all rows are written.

use serde_json::{Value as Json, json};

use super::dropped::{allowed, noteless};
use super::killed::{attempt, ends_alike, ends_alike_as_planned, ends_alike_with};
use super::{Line, args, codes, conflicts, kept, updates, upgrade_body, v1, v2};
use crate::apply::test_packages::request as request_of;
use crate::apply::{NotPublished, Report};
use crate::crashing::{Crash, Memory};
use crate::json::Value;
use crate::workspace::RecordKind::Workflow;
use crate::workspace::ledger::{Changed, Entry};
use crate::workspace::memory::State;
use crate::workspace::{Automation, Target as _, ready};

/// The first version with this step in front.
fn with_step(step: &Json) -> Json {
    v2(|package| {
        let steps = args(package, "w_flow")["graphConfig"]["steps"].as_array_mut();
        steps.expect("steps").insert(0, step.clone());
        let items = package["manifest"]["items"].as_array_mut().expect("items");
        let item = items.iter_mut().find(|item| item["ref"] == "w_flow");
        let ids = item.expect("an item")["stepIds"].as_array_mut();
        ids.expect("ids").insert(0, step["id"].clone());
    })
}

/// A step that speaks to a server.
fn request(connection: &str, path: &str) -> Json {
    json!({"key": "http.request", "id": "stp_cccccccccccc", "config":
        {"connectionName": connection, "method": "GET", "path": path, "bearerToken": ""}})
}

fn named(name: &str) -> Json {
    v2(|package| args(package, "w_flow")["graphConfig"]["steps"][0]["name"] = name.into())
}

impl Line {
    /// People change what only the application can.
    fn people(&mut self, change: impl FnOnce(&mut State)) {
        let mut state = self.memory.state();
        change(&mut state);
        self.memory = Memory::new(state);
        self.memory.limit_lookups(1);
    }

    fn pause(&mut self) {
        self.people(|state| state.structure.automations[0].active = false);
    }

    fn automation(&self) -> Automation {
        self.memory.state().structure.automations[0].clone()
    }

    /// The text of its graph.
    fn graph(&self) -> String {
        Value::Object(self.automation().graph_config).write()
    }

    fn replace(&mut self, from: &str, to: &str) {
        self.edit(Workflow, "Flow", |thing| {
            let text = thing.config.write();
            assert!(text.contains(from), "{text}");
            thing.config = Value::parse(&text.replace(from, to)).expect("JSON");
        });
    }

    /// What the ledger of the last job says about it.
    fn changed(&self) -> Changed {
        let (_, ledger, _) = self.jobs.last().expect("a job");
        let structures = ledger.iter().filter_map(|entry| match entry {
            Entry::Structure(structure) => Some(&structure.changed),
            _ => None,
        });
        let mut changed = structures
            .flatten()
            .filter(|one| one.after.kind == Workflow);
        changed.next().expect("a change").clone()
    }
}

fn because(entries: &[NotPublished]) -> Vec<[&str; 3]> {
    let entries = entries.iter();
    entries
        .flat_map(|entry| {
            let because = entry.because.iter();
            because.map(|one| [entry.reference.as_str(), &*one.path, &*one.reason])
        })
        .collect()
}

#[test]
fn a_name_that_no_store_takes_is_refused() {
    let long = v2(|package| args(package, "w_flow")["name"] = "n".repeat(256).into());
    let plan = Line::new().plan(&long, &upgrade_body(&Json::Null));
    assert_eq!(codes(&plan.refusals), ["validation_failed"]);
    assert_eq!(plan.refusals[0].reference.as_deref(), Some("w_flow"));
}

#[test]
fn a_change_becomes_a_version_that_is_published_at_the_end() {
    let mut line = Line::new();
    let before = line.memory.state();
    let plan = line.plan(&named("New"), &upgrade_body(&Json::Null));
    assert_eq!(plan.go_live.len(), 1);
    let report = line.upgrade(&named("New"), &Json::Null);
    assert_eq!((report.published, &*report.not_published), (1, &[][..]));
    assert!(line.graph().contains("\"New\"") && line.automation().active);
    let changed = line.changed();
    assert!(changed.draft.is_some());
    let (_, ledger, _) = line.jobs.last().expect("a job");
    let places = ledger.iter().map(|entry| match entry {
        Entry::Structure(_) => "structure",
        Entry::Published { paused: false, .. } => "published",
        Entry::Completed => "completed",
        other => panic!("{other:?}"),
    });
    let places: Vec<&str> = places.collect();
    assert_eq!(places, ["structure", "published", "completed"]);
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

#[test]
fn a_paused_one_gets_it_and_stays_paused() {
    let mut line = Line::new();
    line.pause();
    let before = line.memory.state();
    let plan = line.plan(&named("New"), &upgrade_body(&Json::Null));
    assert_eq!(plan.go_live, []);
    let report = line.upgrade(&named("New"), &Json::Null);
    assert_eq!((report.published, &*report.not_published), (0, &[][..]));
    assert!(line.graph().contains("\"New\"") && !line.automation().active);
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

#[test]
fn one_that_goes_comes_back_as_it_was() {
    let flowless = v2(|package| {
        package["manifest"]["plan"]["steps"]
            .as_array_mut()
            .expect("steps")
            .retain(|step| step["ref"] != "w_flow");
        package["manifest"]["items"]
            .as_array_mut()
            .expect("items")
            .retain(|item| item["ref"] != "w_flow");
    });
    for draft in [false, true] {
        let mut line = Line::new();
        line.people(|state| {
            let automation = &mut state.structure.automations[0];
            (automation.active, automation.draft) = (false, draft);
        });
        let before = line.memory.state();
        line.upgrade(&flowless, &json!({"w_flow": "delete"}));
        assert_eq!(line.memory.state().structure.automations, []);
        line.undo(false).expect("undone");
        assert!(line.memory.state() == before, "draft: {draft}");
    }
}

#[test]
fn one_that_was_never_published_gets_a_newer_draft() {
    let mut line = Line::new();
    line.people(|state| {
        let automation = &mut state.structure.automations[0];
        (automation.active, automation.draft) = (false, true);
    });
    let before = line.memory.state();
    let report = line.upgrade(&named("New"), &Json::Null);
    assert_eq!((report.published, &*report.not_published), (0, &[][..]));
    assert!(line.graph().contains("\"New\"") && line.automation().draft);
    // The one before stands behind it, and an undo deletes the newer one.
    assert_eq!(line.memory.state().drafts.len(), 1);
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

/// The flow writes into the note of clients, which the next version does not have any more.
fn writes_notes() -> Line {
    let mut line = Line::new();
    line.replace("\"targetColumn\":\"name\"", "\"targetColumn\":\"note\"");
    line
}

fn noteless_and_named() -> Json {
    let mut new = noteless();
    args(&mut new, "w_flow")["graphConfig"]["steps"][0]["name"] = "New".into();
    new
}

const NEEDS_NOTE: [[&str; 3]; 1] = [[
    "w_flow",
    "graphConfig.steps.1.config.bindings.0.targetColumn",
    "step_config_invalid",
]];

/// It would go live and write into a column that goes with the same job.
#[test]
fn one_that_needs_what_goes_stays_a_draft() {
    let new = noteless_and_named();
    let body = allowed(&json!({"c_clients_note": "delete"}));
    let plan = writes_notes().plan(&new, &body);
    assert_eq!(codes(&plan.refusals), [] as [&str; 0]);
    assert_eq!(because(&plan.stays_draft), NEEDS_NOTE);
    let report = ends_alike_with(writes_notes, &new.to_string(), &body);
    assert_eq!(because(&report.not_published), NEEDS_NOTE);
    assert_eq!(report.published, 0);
    // Without that decision the column stays, and nothing is in the way.
    let plan = writes_notes().plan(&new, &upgrade_body(&Json::Null));
    assert_eq!((plan.go_live.len(), &*plan.stays_draft), (1, &[][..]));
}

#[test]
fn one_that_needs_what_was_to_go_is_published_where_that_stays() {
    let new = noteless_and_named();
    let body = allowed(&json!({"c_clients_note": "delete"}));
    for stays in [true, false] {
        let mut line = writes_notes();
        let before = line.memory.state();
        let plan = line.plan(&new, &body);
        if stays {
            line.cells(1, &json!({"note": "since"}));
        }
        let report = line.apply_planned(&new, &body, plan);
        assert_eq!(report.published, u64::from(stays));
        assert_eq!(report.not_published.is_empty(), stays, "{report:#?}");
        assert_eq!(line.graph().contains("\"New\""), stays);
        line.undo(false).expect("undone");
        if !stays {
            assert!(line.memory.state() == before);
        }
    }
}

/// Of a job that was stopped.
#[test]
fn it_is_published_once_where_that_stays() {
    let begin = || {
        let mut line = writes_notes();
        line.cells(1, &json!({"note": "since"}));
        line
    };
    let new = noteless_and_named();
    let body = allowed(&json!({"c_clients_note": "delete"}));
    // The plan was made before somebody wrote into it.
    let plan = writes_notes().plan(&new, &body);
    let mut request = request_of(&body);
    request.terms.planned = Some(plan.seen);
    let report = ends_alike_as_planned(begin, &new.to_string(), &request);
    assert_eq!((report.published, &*report.not_published), (1, &[][..]));
}

/// An upgrade that stops before it publishes what it changed; people publish another version meanwhile, and it
/// goes on.
fn moved(people: impl Fn(&mut Line)) -> (Line, Report, State) {
    let text = named("New").to_string();
    for call in 0.. {
        let mut line = Line::new();
        let mut memory = std::mem::replace(&mut line.memory, Memory::new(super::nothing()));
        let written = false;
        memory.crash_at(Crash { call, written });
        let stopped = line.past(|past| attempt(&mut memory, past, &text).is_err());
        assert!(stopped, "it published before anybody came between");
        memory.recover();
        let own = ready(memory.ledger()).expect("a ledger");
        let begun = own.iter().any(|entry| matches!(entry, Entry::Structure(_)));
        line.memory = memory;
        if !begun {
            continue;
        }
        people(&mut line);
        let state = line.memory.state();
        let mut memory = std::mem::replace(&mut line.memory, Memory::new(super::nothing()));
        let report = line.past(|past| attempt(&mut memory, past, &text).expect("a report"));
        line.memory = memory;
        line.jobs.push((text, line.memory.next_job(), true));
        return (line, report, state);
    }
    unreachable!()
}

#[test]
fn somebody_published_since_and_it_stays_a_draft() {
    let (mut line, report, state) = moved(|line| line.replace("\"Read\"", "\"Since\""));
    assert_eq!(
        because(&report.not_published),
        [["w_flow", "", "workflow_moved"]]
    );
    assert_eq!(report.published, 0);
    assert!(line.graph().contains("\"Since\"") && line.automation().active);
    assert!(line.memory.state() == state);
    // The draft goes, and what people published is nothing that could be lost.
    line.undo(false).expect("undone");
    assert!(line.graph().contains("\"Since\""));
    assert!(line.memory.state().drafts.is_empty());
}

#[test]
fn a_resumed_one_is_published_all_the_same() {
    let (line, report, _) = moved(|_| {});
    assert_eq!((report.published, &*report.not_published), (1, &[][..]));
    assert_eq!(report.kept, []);
    assert!(line.graph().contains("\"New\"") && line.memory.state().drafts.is_empty());
}

#[test]
fn a_step_that_people_changed_and_the_package_took_out_is_asked() {
    let mut line = Line::of(&with_step(&request("c", "/")));
    line.replace("\"path\":\"/\"", "\"path\":\"/ours\"");
    let plan = line.plan(&v2(|_| {}), &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("changed", "w_flow", "shape")]);
    line.upgrade(&v2(|_| {}), &json!({"w_flow": {"shape": "ours"}}));
    assert!(line.graph().contains("/ours"));
    assert_eq!(
        line.plan(&v2(|_| {}), &upgrade_body(&Json::Null)).conflicts,
        []
    );
}

/// An automation with a step whose secret people have entered.
fn with_secret() -> Line {
    let mut line = Line::of(&with_step(&request("c", "/")));
    line.replace("\"bearerToken\":\"\"", "\"bearerToken\":\"s3cret\"");
    line.people(|state| {
        let automation = &mut state.structure.automations[0];
        (automation.active, automation.draft) = (true, false);
    });
    line
}

#[test]
fn a_secret_stays_while_its_step_speaks_to_the_same_target() {
    let mut line = with_secret();
    let before = line.memory.state();
    let new = with_step(&request("c", "/new"));
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(updates(&plan), [("w_flow", "steps.stp_cccccccccccc.path")]);
    assert!(
        !serde_json::to_string(&plan)
            .expect("JSON")
            .contains("s3cret")
    );
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!((report.published, &*report.not_published), (1, &[][..]));
    let graph = line.graph();
    assert!(
        graph.contains("s3cret") && graph.contains("/new"),
        "{graph}"
    );
    // Of a step that is new in the shape nothing is taken from another.
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

/// A job keeps its decisions as they were sent, so that a secret in one would be kept in plain text.
#[test]
fn a_decided_shape_that_holds_a_secret_is_refused() {
    let line = Line::of(&with_step(&request("c", "/")));
    let plan = |secret: &str| {
        let mut added = request("d", "/");
        added["id"] = "stp_dddddddddddd".into();
        added["config"]["bearerToken"] = secret.into();
        let mut shape = args(&mut v1(), "w_flow")["graphConfig"].clone();
        shape["steps"].as_array_mut().expect("steps").push(added);
        let decisions = json!({"w_flow": {"shape": {"value": shape}}});
        line.plan(&v2(|_| {}), &upgrade_body(&decisions))
    };
    assert_eq!(codes(&plan("").refusals), [] as [&str; 0]);
    let refused = plan("s3cret");
    assert_eq!(codes(&refused.refusals), ["validation_failed"]);
    let detail = &refused.refusals[0].detail;
    assert!(detail.contains("steps[2].config.bearerToken"), "{detail}");
    let text = serde_json::to_string(&refused).expect("JSON");
    assert!(!text.contains("s3cret"), "{text}");
}

#[test]
fn another_target_empties_it_and_what_is_in_force_goes_on() {
    let mut line = with_secret();
    let before = line.memory.state();
    let new = with_step(&request("d", "/"));
    let expected = [[
        "w_flow",
        "graphConfig.steps.0.config.bearerToken",
        "secret_empty",
    ]];
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(because(&plan.stays_draft), expected);
    assert_eq!(plan.go_live, []);
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(because(&report.not_published), expected);
    assert_eq!(report.published, 0);
    let state = line.memory.state();
    assert!(state.structure == before.structure);
    let draft = state.drafts.values().next().expect("a draft");
    let text = draft.record.config.write();
    assert!(!text.contains("s3cret") && text.contains("\"d\""), "{text}");
    // It is asked for once: the draft waits for whoever enters the secret, and is not drift.
    assert_eq!(updates(&line.plan(&new, &upgrade_body(&Json::Null))), []);
    assert!(!line.drift(true).drift);
    // What comes after it goes on from the draft, and what is in force still goes on.
    let third = with_step(&request("d", "/third"));
    let plan = line.plan(&third, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), []);
    assert_eq!(updates(&plan), [("w_flow", "steps.stp_cccccccccccc.path")]);
    line.upgrade(&third, &Json::Null);
    let state = line.memory.state();
    assert!(state.structure == before.structure);
    let mut drafts = state.drafts.values();
    assert!(drafts.any(|draft| draft.record.config.write().contains("/third")));
    assert!(!line.drift(true).drift);
    line.undo(false).expect("undone");
    line.undo(false).expect("undone");
    assert!(line.memory.state() == before);
}

/// What comes back is a draft; that its first form went live once says nothing of it.
#[test]
fn one_that_comes_back_and_lacks_something_is_reported_wherever_the_job_stops() {
    let begin = || {
        let mut line = Line::new();
        line.remove(Workflow, "Flow");
        line
    };
    let new = with_step(&request("c", "/")).to_string();
    let report = ends_alike(begin, &new, &json!({"w_flow": "create"}));
    let expected = [[
        "w_flow",
        "graphConfig.steps.0.config.bearerToken",
        "secret_empty",
    ]];
    assert_eq!(because(&report.not_published), expected);
}

#[test]
fn what_people_changed_elsewhere_in_it_stays_in_the_new_version() {
    let mut line = Line::new();
    line.replace("\"Read\"", "\"Ours\"");
    let new = v2(|package| args(package, "w_flow")["name"] = "Flow 2".into());
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(updates(&plan), [("w_flow", "name")]);
    assert_eq!(kept(&plan), [("w_flow", "steps.stp_aaaaaaaaaaaa.name")]);
    line.upgrade(&new, &Json::Null);
    assert_eq!(line.automation().name, "Flow 2");
    assert!(line.graph().contains("\"Ours\""));
    // What people publish after it refuses an undo of the same leaf alone.
    line.edit(Workflow, "Flow 2", |thing| thing.name = "Since".to_owned());
    line.undo(false).expect_err("refused");
    let left = line.undo(true).expect("undone");
    let paths: Vec<_> = left.iter().map(|one| one.path.as_deref()).collect();
    assert_eq!(paths, [Some("name")]);
    assert_eq!(line.automation().name, "Since");
}

#[test]
fn one_with_a_draft_does_not_go() {
    let flowless = v2(|package| super::without(package, "w_flow"));
    let delete = upgrade_body(&json!({"w_flow": "delete"}));
    let mut line = Line::new();
    line.pause();
    let plan = line.plan(&flowless, &delete);
    assert_eq!(plan.refusals, []);
    let from = line.get(Workflow, "Flow");
    let mut to = from.clone();
    to.name = "Mine".to_owned();
    let draft = crate::workspace::Change::Draft {
        version: crate::workspace::Id::from_u128(7),
        from: Box::new(from),
        to: Box::new(to),
    };
    super::person(&mut line.memory, vec![draft]);
    let refused = line.plan(&flowless, &delete);
    assert_eq!(super::codes(&refused.refusals), ["delete_refused"]);
    let detail = &refused.refusals[0].detail;
    assert!(detail.contains("it has a draft"), "{detail}");
    // Whoever began it after the plan keeps it, too.
    let report = line.apply_planned(&flowless, &delete, plan);
    assert!(report.is_partial() && line.thing(Workflow, "Flow").is_some());
}

/// The draft of an upgrade that waits for a secret is one like any other.
#[test]
fn one_whose_new_version_waits_does_not_go() {
    let mut line = with_secret();
    line.upgrade(&with_step(&request("d", "/")), &Json::Null);
    line.pause();
    let flowless = v2(|package| super::without(package, "w_flow"));
    let refused = line.plan(&flowless, &upgrade_body(&json!({"w_flow": "delete"})));
    assert_eq!(codes(&refused.refusals), ["delete_refused"]);
    let detail = &refused.refusals[0].detail;
    assert!(detail.contains("it has a draft"), "{detail}");
}

#[test]
fn a_step_that_goes_is_as_it_was_where_only_a_default_is_absent() {
    let read = json!({"key": "feature.read", "id": "stp_cccccccccccc", "config": {"featureId": "$f_orders", "mergeMode": "replace"}});
    let mut line = Line::of(&with_step(&read));
    line.replace(r#","mergeMode":"replace""#, "");
    assert!(!line.graph().contains("mergeMode"));
    let without = v2(|_| {});
    let plan = line.plan(&without, &upgrade_body(&Json::Null));
    assert_eq!(
        (conflicts(&plan), updates(&plan)),
        (vec![], vec![("w_flow", "shape")])
    );
    line.upgrade(&without, &Json::Null);
    assert!(!line.graph().contains("stp_cccccccccccc"));
    // Anything else that people changed in it is asked about.
    let mut line = Line::of(&with_step(&read));
    line.replace(r#""mergeMode":"replace""#, r#""mergeMode":"append""#);
    let plan = line.plan(&without, &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("changed", "w_flow", "shape")]);
}
