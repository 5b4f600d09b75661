//! Random workspaces, randomly selected: the package is clean whatever points at what.

use proptest::prelude::*;
use serde_json::{Value, json};
use tplkit::export::{RowsSelection, Selection};
use tplkit::workspace::Id;

use crate::exported::exported_but;
use crate::space::{Space, object};

/// What an automation itself may be blamed for.
const OF_THE_SOURCE: [&str; 5] = ["A010", "A011", "A013", "A014", "A015"];

/// Choices, taken one after the other.
struct Dice(Vec<u16>, usize);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.1 += 1;
        usize::from(self.0[self.1 % self.0.len()]) % sides
    }

    fn of<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.roll(things.len())]
    }
}

/// Ids by kind, with one that is gone at the end of each list.
struct Ids {
    tables: Vec<Id>,
    views: Vec<Id>,
    modules: Vec<Id>,
    rails: Vec<Id>,
    workflows: Vec<Id>,
    channels: Vec<Id>,
}

const NAMES: [&str; 5] = ["a", "b", "id", "c", "deleted"];

fn space(dice: &mut Dice) -> (Space, Ids) {
    let mut space = Space::new();
    let gone = space.id();
    let mut tables: Vec<Id> = (0..=dice.roll(4))
        .map(|at| space.table(&format!("t{at}")))
        .collect();
    tables.push(space.shared_table("shared"));
    let shared = tables[tables.len() - 1];
    space.text(shared, "a");
    space.column(shared, "b", "select", &json!({"options": ["x"]}));
    let own = tables.len() - 1;
    tables.push(gone);
    let modules = ["m", "n"].map(|name| space.module(name, &json!({})));
    let rails = modules.map(|module| space.rail(module, "r", &json!({})));
    let mut ids = Ids {
        views: Vec::new(),
        modules: [modules.as_slice(), &[gone]].concat(),
        rails: [rails.as_slice(), &[gone]].concat(),
        workflows: vec![space.earlier_automation("old"), gone],
        channels: vec![space.channel(Some("sales")), space.channel(None), gone],
        tables,
    };
    for _ in 0..dice.roll(4) {
        let name = format!("Run {}", ids.workflows.len());
        let id = space.automation(&name, &json!({"type": "manual"}), &json!([]));
        ids.workflows.push(id);
    }
    space.connection("erp", "http");
    space.timer_profile("shift");
    for at in 0..own {
        columns(&mut space, &ids, at, dice);
        let kind = dice.of(&["table", "form", "kanban"]);
        for number in 0..dice.roll(3) {
            let id = space.view(ids.tables[at], &format!("v{number}"), kind, &json!({}));
            ids.views.push(id);
        }
    }
    ids.views.push(gone);
    configs(&mut space, &ids, dice);
    (space, ids)
}

fn columns(space: &mut Space, ids: &Ids, at: usize, dice: &mut Dice) {
    let table = ids.tables[at];
    for name in &NAMES[..=dice.roll(4)] {
        match (*name, dice.roll(5)) {
            ("id", _) => drop(space.column_as(table, "id", "text", "id", &json!({}))),
            (_, 0) => drop(space.text(table, name)),
            (_, 1) => {
                let config = json!({"workflowV2Id": dice.of(&ids.workflows), "workflowId": dice.of(&ids.workflows)});
                space.column(table, name, "button", &config);
            }
            _ => drop(space.link(table, name, dice.of(&ids.tables), dice.of(&NAMES))),
        }
    }
    for _ in 0..dice.roll(5) {
        let mut data = serde_json::Map::new();
        let columns = space.table_mut(table).columns.clone();
        for column in columns
            .iter()
            .filter(|column| column.column_type != "button")
        {
            let value = dice.of(&["x", "y", "z"]);
            let value = match (column.column_type.as_str(), dice.roll(4)) {
                _ if column.name == "id" => continue,
                (_, 0) => continue,
                ("linked_select", 1) => json!([value, "x", "w"]),
                ("linked_select", 2) => json!(""),
                _ => json!(value),
            };
            data.insert(column.name.clone(), value);
        }
        space.row(table, &data.into());
    }
}

fn configs(space: &mut Space, ids: &Ids, dice: &mut Dice) {
    for table in &mut space.state.structure.features {
        let title = dice.of(&NAMES);
        table.config = object(&json!({"titleColumn": title}));
        for view in &mut table.views {
            let mut config = json!({"visibleColumns": [dice.of(&NAMES), dice.of(&NAMES)]});
            match view.view_type.as_str() {
                "kanban" => config["groupByColumn"] = dice.of(&NAMES).into(),
                "form" => {
                    config["redirectViewId"] = json!(dice.of(&ids.views));
                    config["redirectRailId"] = json!(dice.of(&ids.rails));
                }
                _ => {}
            }
            view.config = object(&config);
        }
    }
    for module in &mut space.state.structure.modules {
        module.config = object(&json!({"defaultRailId": dice.of(&ids.rails)}));
        for rail in &mut module.rails {
            let views = [dice.of(&ids.views), dice.of(&ids.views)];
            let config = json!({"views": views, "openModuleId": dice.of(&ids.modules)});
            rail.config = vec![object(&config)];
        }
    }
    let first = json!({"defaultModuleId": dice.of(&ids.modules), "theme": "dark"});
    space.state.structure.workspace.config = object(&first);
    for automation in &mut space.state.structure.automations {
        let trigger = json!({"featureId": dice.of(&ids.tables), "modes": ["created"], "watchedColumns": [dice.of(&NAMES)]});
        automation.trigger_config = object(&json!({"type": "record.event", "config": trigger}));
        let steps: Vec<Value> = (0..3).map(|_| step(ids, dice, 2)).collect();
        automation.graph_config = object(&json!({"steps": steps}));
    }
}

fn step(ids: &Ids, dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 7 } else { 8 }) {
        0 => json!({"key": "automation.run", "config": {"workflowId": dice.of(&ids.workflows)}}),
        1 => {
            json!({"key": "notify", "config": {"scopeType": "channel", "scopeId": dice.of(&ids.channels), "body": "x"}})
        }
        2 => {
            json!({"key": "http.request", "config": {"connectionName": dice.of(&["erp", "gone"]), "bearerToken": "hush"}})
        }
        3 => json!({"key": "delay", "config": {"timerProfile": dice.of(&["shift", "gone"])}}),
        4 => {
            let order = json!({"column": dice.of(&NAMES)});
            json!({"key": "feature.read", "config": {"featureId": dice.of(&ids.tables), "orderBy": order}})
        }
        5 => {
            let bindings = json!([{"targetColumn": dice.of(&NAMES), "value": "x"}]);
            json!({"key": "feature.write", "config": {"mode": "insert", "targetFeatureId": dice.of(&ids.tables), "bindings": bindings}})
        }
        6 => {
            let any = dice.of(&[
                &ids.tables,
                &ids.views,
                &ids.modules,
                &ids.rails,
                &ids.workflows,
            ]);
            json!({"key": "var.set", "config": {"name": "v", "value": [dice.of(any), "$f_t0", format!("at {}", dice.of(any))]}})
        }
        _ => {
            let condition =
                json!({"subject": "expression", "expression": "{{sys.now}}", "op": "isEmpty"});
            let branches = [step(ids, dice, depth - 1), step(ids, dice, depth - 1)];
            json!({"key": "ifElse", "config": {"condition": condition, "then": [branches[0]], "else": [branches[1]]}})
        }
    }
}

/// Some of a list, or nothing said of it; the last is gone.
fn some(dice: &mut Dice, ids: &[Id]) -> Option<Vec<Id>> {
    let known = &ids[..ids.len() - 1];
    (dice.roll(2) == 0).then(|| {
        known
            .iter()
            .copied()
            .filter(|_| dice.roll(2) == 0)
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_export_is_clean(rolls in prop::collection::vec(any::<u16>(), 60..400)) {
        let mut dice = Dice(rolls, 0);
        let (space, ids) = space(&mut dice);
        let features = some(&mut dice, &ids.tables[..ids.tables.len() - 1]);
        let selection = Selection {
            views: some(&mut dice, &ids.views),
            modules: some(&mut dice, &ids.modules),
            rails: some(&mut dice, &ids.rails),
            workflows: (dice.roll(2) == 0).then(|| ids.workflows[2..].iter().copied().filter(|_| dice.roll(2) == 0).collect()),
            rows: match (dice.roll(3), &features) {
                (0, _) => RowsSelection::None,
                (1, Some(features)) => RowsSelection::Some(features.iter().copied().take(1).collect()),
                _ => RowsSelection::All,
            },
            features,
            ..Selection::default()
        };
        let package = exported_but(&space, &selection, &OF_THE_SOURCE);
        let text = package.0.to_string();
        let mut tables = space.state.structure.features.iter();
        prop_assert!(tables.all(|table| !text.contains(&table.id.to_string())));
        prop_assert!(!text.contains("hush"));
    }
}
