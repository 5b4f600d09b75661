//! Links to rows and tables that people removed: their cells stay as they are.

use serde_json::{Value as Json, json};

use super::super::world::{link, nothing, person, points, sequence};
use super::killed::attempt;
use super::linked_values::pointing;
use super::unlinked::{compared, first};
use super::{Line, conflicts, kept, upgrade_body, v2};
use crate::apply::test_packages::{Pack, uid};
use crate::crashing::{Crash, Memory};
use crate::workspace::RecordKind::Feature;
use crate::workspace::{Change, Removal};

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

/// An order that points at a client by a number, which is another one at the destination.
pub(super) fn numbered() -> Json {
    let client = |name: &str| (json!({"name": name}), Json::Null);
    let order = (
        json!({"code": "1", "client": 7}),
        json!({"client": points(6000, "clients", "no")}),
    );
    let pack = Pack::new()
        .table("clients")
        .table("orders")
        .column("clients", "name", "text", json!(null))
        .create("create_column", "c_clients_no", sequence("clients"))
        .column("orders", "code", "text", json!(null))
        .column("orders", "client", "linked_select", link("clients", "no"))
        .rows("clients", Some("name"), &["A", "B", "C"].map(client))
        .rows("orders", Some("code"), &[order]);
    let mut package = serde_json::from_str(&pack.text()).expect("JSON");
    compared(&mut package);
    package
}

/// The next version, in which it points at the second one.
fn of_second() -> Json {
    let mut package = numbered();
    let row = &mut package["payloads"][1]["rows"][0];
    row["data"]["client"] = 8.into();
    row["refs"]["client"] = points(6001, "clients", "no");
    package
}

/// People delete a client.
pub(super) fn delete_client(line: &mut Line, at: usize) {
    let (feature, id) = line.client_row(at);
    let rows = vec![Removal { id, digest: None }];
    person(&mut line.memory, vec![Change::RemoveRows { feature, rows }]);
}

#[test]
fn a_link_that_nobody_touched_is_the_packages_although_its_row_is_gone() {
    let upgrade = upgrade_body(&Json::Null);
    let mut line = Line::of(&numbered());
    delete_client(&mut line, 0);
    line.edit_order(0, &json!({"code": "2"}));
    let plan = line.plan(&numbered(), &upgrade);
    let rows = &plan.rows["f_orders"];
    assert_eq!((rows.kept, rows.update, conflicts(&plan)), (1, 0, vec![]));
    assert_eq!(conflicts(&line.plan(&of_second(), &upgrade)), []);
    line.upgrade(&of_second(), &Json::Null);
    assert_eq!(order(&line), json!({"code": "2", "client": 2}));
}

#[test]
fn a_link_that_people_put_in_its_place_is_theirs() {
    let mut line = Line::of(&numbered());
    delete_client(&mut line, 0);
    line.edit_order(0, &json!({"client": 3}));
    let plan = line.plan(&of_second(), &upgrade_body(&Json::Null));
    let path = format!("rows.{}.client", uid(6100));
    assert_eq!(conflicts(&plan), [("changed", "f_orders", path.as_str())]);
}

/// People gave the row another value: the link shows the one of before.
#[test]
fn a_link_that_nobody_touched_is_the_packages_although_its_row_is_called_otherwise() {
    let mut line = first();
    line.cells(0, &json!({"name": "Anna"}));
    line.edit_order(0, &json!({"code": "2"}));
    let new = pointing(&json!("B"), &[6001], None);
    assert_eq!(conflicts(&line.plan(&new, &upgrade_body(&Json::Null))), []);
    line.upgrade(&new, &Json::Null);
    assert_eq!(order(&line), json!({"code": "2", "client": "B"}));
}
