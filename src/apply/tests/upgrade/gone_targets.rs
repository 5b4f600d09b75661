//! Links to rows and tables that people removed: their cells stay as they are.

use serde_json::{Value as Json, json};

use super::super::world::{nothing, person};
use super::killed::attempt;
use super::linked_values::pointing;
use super::unlinked::{compared, first};
use super::{Line, conflicts, kept, upgrade_body, v2};
use crate::crashing::{Crash, Memory};
use crate::workspace::Change;
use crate::workspace::RecordKind::Feature;

/// The package with another code of the first order.
fn recoded(mut package: Json) -> Json {
    package["payloads"][1]["rows"][0]["data"]["code"] = "7".into();
    package
}

/// The package with orders of that class.
fn of_class(mut package: Json, class: &str) -> Json {
    let uid = package["payloads"][1]["itemUid"].clone();
    let items = package["manifest"]["items"].as_array_mut();
    let mut items = items.expect("items").iter_mut();
    let item = items.find(|item| item["uid"] == uid).expect("an item");
    item["dataClass"] = class.into();
    package
}

fn order(line: &Line) -> Json {
    serde_json::from_str(&line.order(0)).expect("JSON")
}

#[test]
fn an_upgrade_goes_on_where_people_removed_a_linked_table() {
    let list = pointing(&json!(["A", "B"]), &[6000, 6001], None);
    let nothing_new = r#"{"upgrade": true, "rowsModes": {"f_orders": "none"}}"#;
    for base in [v2(compared), list] {
        for class in ["reference", "transactional"] {
            for body in [&*upgrade_body(&Json::Null), nothing_new] {
                let base = of_class(base.clone(), class);
                let mut line = Line::of(&base);
                line.remove(Feature, "clients");
                let mut expected = order(&line);
                let new = recoded(base);
                let plan = line.plan(&new, body);
                let (stays, asked) = (kept(&plan), conflicts(&plan));
                assert_eq!((stays, asked), (vec![("f_clients", "")], vec![]));
                let report = line.apply(&new, body);
                // Rows of transactional data are not changed.
                let updated = u64::from(class == "reference");
                let planned = plan.rows["f_orders"].update;
                assert_eq!(
                    (report.rows["f_orders"].updated, planned),
                    (updated, updated)
                );
                if updated == 1 {
                    expected["code"] = "7".into();
                }
                assert_eq!(order(&line), expected);
                assert!(line.thing(Feature, "clients").is_none());
            }
        }
    }
}

#[test]
fn what_points_at_a_table_that_is_created_again_stays() {
    let mut line = first();
    line.remove(Feature, "clients");
    let new = recoded(v2(compared));
    line.upgrade(&new, &json!({"f_clients": "create"}));
    assert_eq!(line.clients().len(), 3);
    assert_eq!(order(&line), json!({"code": "7", "client": "A"}));
}

#[test]
fn a_job_goes_on_without_a_linked_table_that_people_remove_meanwhile() {
    let text = recoded(v2(compared)).to_string();
    let mut stops = 0;
    for call in 0.. {
        let mut line = first();
        let id = line.get(Feature, "clients").id;
        let mut memory = std::mem::replace(&mut line.memory, Memory::new(nothing()));
        let stopped = line.past(|past| {
            memory.crash_at(Crash {
                call,
                written: false,
            });
            let stopped = attempt(&mut memory, past, &text).is_err();
            memory.recover();
            if stopped {
                let (kind, force) = (Feature, true);
                person(&mut memory, vec![Change::Remove { kind, id, force }]);
                attempt(&mut memory, past, &text).expect("a report");
            }
            stopped
        });
        line.memory = memory;
        assert_eq!(order(&line), json!({"code": "7", "client": "A"}), "{call}");
        if !stopped {
            break;
        }
        stops += 1;
    }
    assert!(stops > 4, "{stops}");
}
