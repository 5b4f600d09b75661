//! The same content gives the same bytes, whatever store it comes from.

use serde_json::json;
use tplkit::json::{Object, Value};
use tplkit::workspace::RowData;
use tplkit::workspace::memory::State;
use tplkit_testkit::random::{self, Shape};

use crate::exported::{try_export, with_rows};
use crate::space::{Space, object};

fn turned(members: &Object) -> Object {
    let turned = members.iter().rev();
    turned
        .map(|(key, value)| (key.clone(), turned_value(value)))
        .collect()
}

fn turned_value(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(turned(members)),
        Value::List(elements) => Value::List(elements.iter().map(turned_value).collect()),
        other => other.clone(),
    }
}

/// The same workspace from a store that gives members back from last to first.
fn from_another_store(mut state: State) -> State {
    let structure = &mut state.structure;
    let turn = |members: &mut Object| *members = turned(members);
    turn(&mut structure.workspace.config);
    for table in structure.features.iter_mut().chain(&mut structure.shared) {
        turn(&mut table.config);
        table
            .columns
            .iter_mut()
            .for_each(|one| turn(&mut one.config));
        table.views.iter_mut().for_each(|one| turn(&mut one.config));
    }
    for module in &mut structure.modules {
        turn(&mut module.config);
        let rails = module.rails.iter_mut();
        rails.flat_map(|rail| &mut rail.config).for_each(turn);
    }
    for automation in &mut structure.automations {
        turn(&mut automation.trigger_config);
        turn(&mut automation.graph_config);
    }
    for row in state.rows.values_mut().flatten() {
        let Ok(Value::Object(cells)) = Value::parse(row.data.as_str()) else {
            continue;
        };
        row.data = RowData::of(&turned(&cells));
    }
    state
}

fn assert_same(state: State) {
    let bytes = |state: State| {
        let mut space = Space::new();
        space.state = state;
        try_export(&space, &with_rows()).unwrap()
    };
    let there = from_another_store(state.clone());
    assert_eq!(bytes(there), bytes(state));
}

#[test]
fn the_order_of_members_in_the_store_is_of_no_consequence() {
    for seed in 0..20 {
        let shape = if seed % 2 == 0 {
            Shape::wild()
        } else {
            Shape::closed()
        };
        assert_same(random::workspace(seed, &shape));
    }
}

#[test]
fn step_ids_and_uses_follow_the_members_by_code_point() {
    let mut space = Space::new();
    let notify = json!({"key": "notify", "config": {"scopeType": "channel", "scopeId": space.channel(Some("z")), "body": "x"}});
    let other = json!({"key": "notify", "config": {"scopeType": "channel", "scopeId": space.channel(Some("a")), "body": "x"}});
    let condition = json!({"subject": "expression", "expression": "{{sys.now}}", "op": "isEmpty"});
    let branch = json!({"key": "ifElse", "config": {"then": [notify], "else": [other], "condition": condition}});
    space.automation("Call", &json!({"type": "manual"}), &json!([branch]));
    let table = space.table("t");
    space.column(table, "j", "json", &json!({}));
    space.table_mut(table).config = object(&json!({"zeta": {"b": 1, "a": 2}, "alpha": 1}));
    space.raw_row(table, r#"{"j":{"b":1,"a":{"d":1,"c":2}}}"#);
    assert_same(space.state);
}
