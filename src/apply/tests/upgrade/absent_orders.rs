//! Siblings of which some are given no position: it is no leaf until a package gives one, and starts from what the
//! apply had given.

use serde_json::{Value as Json, json};

use super::super::world::nothing;
use super::dropped::{named, siblings};
use super::{Line, args, conflicts, kept, updates, upgrade_body, v2, with};
use crate::crashing::Memory;
use crate::json::Object;
use crate::workspace::RecordKind::{Module, Rail};
use crate::workspace::{self, Id};

/// Gives records positions, or none.
fn place(package: &mut Json, orders: &[(&str, Option<i64>)]) {
    for (reference, order) in orders {
        let args = args(package, reference).as_object_mut().expect("args");
        match order {
            Some(order) => drop(args.insert("order".to_owned(), (*order).into())),
            None => drop(args.shift_remove("order")),
        }
    }
}

/// A module with three navigation entries.
fn rails(orders: [Option<i64>; 3]) -> Json {
    v2(|package| {
        let rail = json!({"moduleId": "$m_m", "name": "t", "label": "t", "config": [{"views": ["$v_orders"]}]});
        with(package, "create_rail", "r_t", rail);
        let [first, second, third] = orders;
        place(package, &[("r_r", first), ("r_s", second), ("r_t", third)]);
    })
}

/// Two modules.
fn modules(orders: [Option<i64>; 2]) -> Json {
    v2(|package| {
        let module = json!({"workspaceId": "$workspace", "name": "n", "label": "n"});
        with(package, "create_module", "m_n", module);
        let [first, second] = orders;
        place(package, &[("m_m", first), ("m_n", second)]);
    })
}

fn stand(line: &Line) -> Vec<(String, i64)> {
    siblings(line, Rail, &line.get(Module, "m"))
}

#[test]
fn an_order_that_nobody_touched_is_what_the_package_says() {
    // What is given, what the next version gives, and how they stand then.
    let cases = [
        ([None, Some(2), Some(3)], [Some(2), Some(1), Some(3)], "srt"),
        ([None, Some(2), Some(3)], [Some(3), Some(1), Some(2)], "str"),
        ([None, Some(2), Some(3)], [Some(1), Some(3), Some(2)], "rts"),
        ([None, Some(2), Some(3)], [Some(1), Some(2), Some(3)], "rst"),
        ([None, Some(2), Some(3)], [None, Some(2), Some(3)], "rst"),
        ([Some(2), None, Some(1)], [Some(1), Some(2), Some(3)], "rst"),
        ([None, None, None], [Some(3), Some(2), Some(1)], "tsr"),
        // What is given no position any more keeps the one that it had.
        ([Some(2), Some(1), Some(3)], [None, Some(1), Some(3)], "srt"),
        ([Some(1), Some(2), Some(3)], [None, Some(0), Some(3)], "srt"),
    ];
    for (before, after, expected) in cases {
        let mut line = Line::of(&rails(before));
        let drift = line.drift(true);
        assert!(!drift.drift, "{before:?}: {drift:#?}");
        let stood = named(&stand(&line)).concat();
        let new = rails(after);
        let plan = line.plan(&new, &upgrade_body(&Json::Null));
        let moved: &[(&str, &str)] = if stood == expected {
            &[]
        } else {
            &[("m_m", "order.rails")]
        };
        assert_eq!(updates(&plan), moved, "{before:?} {after:?}");
        assert_eq!((kept(&plan), conflicts(&plan)), (vec![], vec![]));
        line.upgrade(&new, &Json::Null);
        assert_eq!(
            named(&stand(&line)).concat(),
            expected,
            "{before:?} {after:?}"
        );
        let drift = line.drift(true);
        assert!(!drift.drift, "{before:?} {after:?}: {drift:#?}");
    }
}

#[test]
fn what_comes_in_stands_among_those_that_are_given_a_position() {
    let mut line = Line::of(&v2(|package| {
        place(package, &[("r_r", None), ("r_s", Some(5))]);
    }));
    line.upgrade(&rails([None, Some(0), Some(1)]), &Json::Null);
    assert_eq!(named(&stand(&line)), ["r", "s", "t"]);
    let drift = line.drift(true);
    assert!(!drift.drift, "{drift:#?}");
}

#[test]
fn what_comes_in_without_a_position_stands_last() {
    let own = |package: &mut Json| place(package, &[("r_r", Some(7)), ("r_s", Some(5))]);
    let mut line = Line::of(&v2(own));
    assert_eq!(named(&stand(&line)), ["s", "r"]);
    line.upgrade(&rails([Some(7), Some(5), None]), &Json::Null);
    assert_eq!(named(&stand(&line)), ["s", "r", "t"]);
    // The next version gives it one: that is where it starts from.
    line.upgrade(&rails([Some(7), Some(5), Some(6)]), &Json::Null);
    assert_eq!(named(&stand(&line)), ["s", "t", "r"]);
}

#[test]
fn an_order_that_people_changed_stays() {
    let mut line = Line::of(&rails([None, Some(2), Some(3)]));
    line.edit(Rail, "r", |rail| rail.order = Some(9));
    assert_eq!(named(&stand(&line)), ["s", "t", "r"]);
    // It has no position in either version.
    let plan = line.plan(&rails([None, Some(2), Some(3)]), &upgrade_body(&Json::Null));
    assert_eq!((updates(&plan), kept(&plan)), (vec![], vec![]));
    // It gets the one that the apply gave it, and another one.
    let plan = line.plan(
        &rails([Some(1), Some(2), Some(3)]),
        &upgrade_body(&Json::Null),
    );
    assert_eq!(
        (updates(&plan), kept(&plan)),
        (vec![], vec![("m_m", "order.rails")])
    );
    let plan = line.plan(
        &rails([Some(3), Some(2), Some(1)]),
        &upgrade_body(&Json::Null),
    );
    assert_eq!(conflicts(&plan), [("changed", "m_m", "order.rails")]);
}

#[test]
fn a_module_without_a_position_came_after_those_that_were_there() {
    let own = workspace::Module {
        id: Id::from_u128(50),
        name: "own".to_owned(),
        label: "own".to_owned(),
        icon: None,
        order: 10,
        config: Object::new(),
        rails: Vec::new(),
    };
    for (own, before, after) in [(None, "mn", "nm"), (Some(own), "nownm", "mnown")] {
        let mut state = nothing();
        state.structure.modules.extend(own);
        let mut line = Line {
            memory: Memory::new(state),
            ..Line::empty()
        };
        line.apply(&modules([None, Some(2)]), "{}");
        let stand = |line: &Line| named(&siblings(line, Module, &line.get(Module, "m"))).concat();
        assert_eq!(stand(&line), before);
        let orders = if before == "mn" { [2, 1] } else { [1, 2] };
        let new = modules(orders.map(Some));
        let plan = line.plan(&new, &upgrade_body(&Json::Null));
        assert_eq!(updates(&plan), [("workspace", "order.modules")]);
        line.upgrade(&new, &Json::Null);
        assert_eq!(stand(&line), after);
    }
}
