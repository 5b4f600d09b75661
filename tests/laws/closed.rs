//! A tidy workspace comes through: exported, applied elsewhere and exported again, it is the same.

use tplkit::json::{Object, Value};
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::random::{self, Shape};

use crate::decide::decided;
use crate::job::Job;
use crate::normal::normal;
use crate::seeds::{each, hold, same};
use crate::world::{empty_beside, everything, exported, read};

#[test]
fn a_tidy_workspace_comes_through() {
    each(|seed| {
        let state = in_order(random::workspace(seed, &Shape::closed()));
        let text = exported(&state, &everything())?;
        let package = read(&text)?;
        let destination = empty_beside(&state);
        let job = Job::new(&package, decided(&package, &destination, None), seed);
        let mut target = Memory::new(destination);
        let report = job.run(&mut target, &[])?;
        let errors = &report.errors;
        hold(errors.is_empty(), || format!("errors: {errors:?}"))?;
        let renamed = &report.renamed;
        hold(renamed.is_empty(), || format!("renamed: {renamed:?}"))?;
        let again = exported(&target.state(), &everything())?;
        same("what comes through", &normal(&again)?, &normal(&text)?)
    });
}

/// With the members of configs in the order in which packages write them: what is told of a
/// config is told in that of its members.
fn in_order(mut state: State) -> State {
    let structure = &mut state.structure;
    sort(&mut structure.workspace.config);
    for feature in &mut structure.features {
        sort(&mut feature.config);
        let columns = feature.columns.iter_mut().map(|one| &mut one.config);
        let views = feature.views.iter_mut().map(|one| &mut one.config);
        columns.chain(views).for_each(sort);
    }
    for module in &mut structure.modules {
        sort(&mut module.config);
        let rails = module.rails.iter_mut();
        rails.flat_map(|rail| &mut rail.config).for_each(sort);
    }
    for automation in &mut structure.automations {
        sort(&mut automation.trigger_config);
        sort(&mut automation.graph_config);
    }
    state
}

fn sort(members: &mut Object) {
    members.sort_keys();
    members.values_mut().for_each(sort_inside);
}

fn sort_inside(value: &mut Value) {
    match value {
        Value::Object(members) => sort(members),
        Value::List(elements) => elements.iter_mut().for_each(sort_inside),
        _ => {}
    }
}
