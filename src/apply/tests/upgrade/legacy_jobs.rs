//! Ledgers that were written before ledgers held the base: the packages of their jobs say it.

use serde_json::{Value as Json, json};

use super::laws::{Dice, next};
use super::{Line, args, client, config, label, upgrade_body, v1, v2, with};
use crate::apply::test_packages::{checked, packages};
use crate::apply::{Request, Resolutions};
use crate::simulate::proposed;
use crate::workspace::RecordKind::{Column, Feature, Rail, View, Workflow};

/// The same line twice: with the base in its ledgers, and without.
fn twice(make: impl Fn() -> Line) -> [Line; 2] {
    let mut without = make();
    without.forget_base();
    [make(), without]
}

/// Both plan and do the same.
fn same(make: impl Fn() -> Line, new: &Json, decisions: &Json) {
    let [mut with, mut without] = twice(make);
    let plans = [&with, &without].map(|line| line.plan(new, &upgrade_body(decisions)));
    assert_eq!(plans[0], plans[1]);
    assert_eq!(plans[0].refusals, []);
    let reports = [&mut with, &mut without].map(|line| line.apply(new, &upgrade_body(decisions)));
    assert_eq!(reports[0], reports[1]);
    assert!(reports[0].structure_updated > 0);
    assert_eq!(with.memory.state(), without.memory.state());
    // From here on the ledger holds it.
    let plans = [with, without].map(|line| line.plan(new, &upgrade_body(decisions)));
    assert_eq!(plans[0], plans[1]);
}

fn second() -> Json {
    v2(|package| {
        args(package, "f_clients")["label"] = "Clients".into();
        args(package, "c_clients_city")["config"] = json!({"required": true});
        args(package, "r_r")["label"] = "Rail".into();
        client(package, 0)["city"] = "Mainz".into();
        args(package, "w_flow")["label"] = "Flow 2".into();
        args(package, "w_flow")["graphConfig"]["steps"][0]["name"] = "Read all".into();
        let column = json!({"featureId": "$f_orders", "name": "note", "label": "note", "type": "text", "defaultComponent": "textfield", "order": 9});
        with(package, "create_column", "c_orders_note", column);
    })
}

#[test]
fn the_base_is_what_the_package_of_the_job_says() {
    let make = || {
        let mut line = Line::new();
        line.edit(Feature, "orders", label("Orders of ours"));
        line.edit(View, "orders", config("theirs", &json!(true)));
        line.edit(Column, "city", label("Town"));
        line.remove(Rail, "s");
        line.remove(Workflow, "Flow");
        line
    };
    let left = json!({"w_flow": "leave"});
    same(make, &second(), &left);
    let removed = |line: Line| line.plan(&second(), &upgrade_body(&Json::Null));
    let [with, without] = twice(make).map(removed);
    assert_eq!(with.conflicts, without.conflicts);
    assert_eq!(with.conflicts.len(), 1);
}

#[test]
fn each_of_several_jobs_tells_what_it_wrote() {
    let third = {
        let mut package = second();
        args(&mut package, "c_orders_note")["label"] = "Note".into();
        args(&mut package, "f_orders")["label"] = "Sales".into();
        client(&mut package, 1)["city"] = "Ulm".into();
        client(&mut package, 2)["city"] = "Gera".into();
        package
    };
    let make = || {
        let mut line = Line::new();
        line.cells(1, &json!({"city": "Kiel of ours"}));
        // Without an upgrade it creates the column, and carries nothing else.
        line.apply(&second(), "{}");
        line
    };
    same(make, &third, &json!({"f_clients": {"*": "ours"}}));
    let plain = |line: Line| line.plan(&third, "{}").not_carried;
    let [with, without] = twice(make).map(plain);
    assert_eq!(with, without);
    assert!(!with.is_empty());
}

#[test]
fn an_upgrade_of_people_s_own_values_still_asks() {
    let make = || {
        let mut line = Line::new();
        line.edit(Feature, "clients", label("Ours"));
        line
    };
    let [with, without] = twice(make).map(|line| line.plan(&second(), &upgrade_body(&Json::Null)));
    assert_eq!(with, without);
    assert_eq!(without.conflicts.len(), 1);
    assert_eq!(
        super::conflicts(&without),
        [("changed", "f_clients", "label")]
    );
}

#[test]
fn good_packages_tell_the_same_as_their_ledgers() {
    for (path, text) in packages() {
        let package: Json = serde_json::from_str(&text).expect("JSON");
        let make = || {
            let before = checked(&text);
            let mut line = Line::empty();
            let destination = line.memory.state().structure;
            let resolutions: Resolutions = proposed(&before, &Request::default(), &destination);
            let request = Request {
                resolutions: resolutions.clone(),
                ..Request::default()
            };
            line.resolutions = resolutions;
            line.apply(&package, &request.to_value().write());
            line
        };
        let new = serde_json::from_str(&next(&text, &mut Dice(3))).expect("JSON");
        let body = json!({"upgrade": true, "allowDowngrade": true}).to_string();
        let [with, without] = twice(make).map(|line| line.plan(&new, &body));
        assert_eq!(with, without, "{path}");
    }
}

#[test]
fn a_job_that_tells_its_base_is_left_to_its_ledger() {
    let mut line = Line::of(&v1());
    assert!(!crate::workspace::ledger::is_unnoted(&line.jobs[0].1));
    line.forget_base();
    assert!(crate::workspace::ledger::is_unnoted(&line.jobs[0].1));
    line.upgrade(&second(), &Json::Null);
    assert!(!crate::workspace::ledger::is_unnoted(&line.jobs[1].1));
}
