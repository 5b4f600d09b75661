//! Sorts the members of configs by code point at every level, because stores return them in any
//! order (`jsonb` does).

use crate::json::{Object, Value};
use crate::workspace::Structure;

/// Puts the members of every config that may travel in order.
pub(super) fn in_order(structure: &mut Structure) {
    object(&mut structure.workspace.config);
    for feature in &mut structure.features {
        object(&mut feature.config);
        let columns = feature.columns.iter_mut().map(|one| &mut one.config);
        let views = feature.views.iter_mut().map(|one| &mut one.config);
        columns.chain(views).for_each(object);
    }
    for module in &mut structure.modules {
        object(&mut module.config);
        let rails = module.rails.iter_mut();
        rails.flat_map(|rail| &mut rail.config).for_each(object);
    }
    for automation in &mut structure.automations {
        object(&mut automation.trigger_config);
        object(&mut automation.graph_config);
    }
}

fn object(members: &mut Object) {
    members.sort_keys();
    members.values_mut().for_each(value);
}

fn value(one: &mut Value) {
    match one {
        Value::Object(members) => object(members),
        Value::List(elements) => elements.iter_mut().for_each(value),
        _ => {}
    }
}
