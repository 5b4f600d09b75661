//! The records that create steps add.

use std::collections::HashMap;

use super::bindings::Record;
use super::rewrite::{object_of, objects_of};
use super::steps::text_in;
use crate::json::{Object, Value};
use crate::workspace::{
    Automation, Column, Feature, Id, Module, New, Rail, RecordKind, Structure, View,
};

/// Hands out positions: what says none comes after everything that is there.
#[derive(Debug)]
pub(super) struct Positions<'s> {
    destination: &'s Structure,
    highest: HashMap<(RecordKind, Option<Id>), i64>,
}

impl<'s> Positions<'s> {
    pub(super) fn new(destination: &'s Structure) -> Positions<'s> {
        Positions {
            destination,
            highest: HashMap::new(),
        }
    }

    fn next(&mut self, record: &Record, args: &Object) -> i64 {
        let key = (record.kind, record.parent);
        let highest = self
            .highest
            .entry(key)
            .or_insert_with(|| highest(self.destination, record));
        let order = match args.get("order") {
            Some(Value::Number(number)) => number.as_i64(),
            _ => None,
        };
        let order = order.unwrap_or(highest.saturating_add(1));
        *highest = order.max(*highest);
        order
    }
}

fn highest(destination: &Structure, record: &Record) -> i64 {
    let feature = || record.parent.and_then(|id| destination.feature(id));
    let orders: Vec<i64> = match record.kind {
        RecordKind::Module => destination
            .modules
            .iter()
            .map(|found| found.order)
            .collect(),
        RecordKind::Rail => {
            let mut modules = destination.modules.iter();
            let module = modules.find(|module| Some(module.id) == record.parent);
            let rails = module.into_iter().flat_map(|module| &module.rails);
            rails.map(|found| found.order).collect()
        }
        RecordKind::View => {
            let views = feature().into_iter().flat_map(|feature| &feature.views);
            views.map(|found| found.order).collect()
        }
        RecordKind::Column => {
            let columns = feature().into_iter().flat_map(|feature| &feature.columns);
            columns.map(|found| found.order).collect()
        }
        _ => Vec::new(),
    };
    orders.into_iter().max().unwrap_or(0)
}

/// The record of a create step, from args without refs.
pub(super) fn new(record: &Record, args: &Object, positions: &mut Positions<'_>) -> New {
    let (id, name) = (record.id, record.name.clone());
    let text = |key: &str| text_in(args, key).to_owned();
    // A label has a character at least (`rest` 9.4), and an export empties what reads as an id or a ref.
    let label = Some(text("label")).filter(|label| !label.is_empty());
    let label = label.unwrap_or_else(|| text("name"));
    let config = args.get("config");
    let parent = record.parent.unwrap_or_default();
    match record.kind {
        RecordKind::Workspace => New::Workspace { id, name, label },
        RecordKind::Feature => New::Feature(Feature {
            id,
            name,
            label,
            config: object_of(config),
            is_shared: false,
            columns: Vec::new(),
            views: Vec::new(),
        }),
        RecordKind::Column => New::Column {
            feature: parent,
            column: Column {
                id,
                name,
                label,
                column_type: text("type"),
                default_component: text("defaultComponent"),
                order: positions.next(record, args),
                config: object_of(config),
            },
        },
        RecordKind::View => New::View {
            feature: parent,
            view: View {
                id,
                name,
                label,
                view_type: text("type"),
                order: positions.next(record, args),
                config: object_of(config),
            },
        },
        RecordKind::Workflow => New::Workflow(Automation {
            id,
            name,
            trigger_config: object_of(args.get("triggerConfig")),
            graph_config: object_of(args.get("graphConfig")),
            active: false,
            draft: true,
            has_draft: false,
        }),
        RecordKind::Module => New::Module(Module {
            id,
            name,
            label,
            icon: args.get("icon").and_then(Value::as_str).map(str::to_owned),
            order: positions.next(record, args),
            config: object_of(config),
            rails: Vec::new(),
        }),
        RecordKind::Rail => New::Rail {
            module: parent,
            rail: Rail {
                id,
                name,
                label,
                order: positions.next(record, args),
                config: objects_of(config),
            },
        },
    }
}

/// The config of a record as it is now: an object, the list of a rail, and of an automation both
/// of its configs.
pub(super) fn config_of(destination: &Structure, record: &Record) -> Value {
    let id = record.id;
    let features = || destination.features.iter().chain(&destination.shared);
    let config = match record.kind {
        RecordKind::Workspace => Some(&destination.workspace.config),
        RecordKind::Feature => destination.feature(id).map(|found| &found.config),
        RecordKind::Column => features()
            .find_map(|f| f.column(id))
            .map(|found| &found.config),
        RecordKind::View => {
            let mut views = features().flat_map(|feature| &feature.views);
            views.find(|view| view.id == id).map(|found| &found.config)
        }
        RecordKind::Module => {
            let mut modules = destination.modules.iter();
            modules
                .find(|module| module.id == id)
                .map(|found| &found.config)
        }
        RecordKind::Rail => {
            let mut rails = destination.modules.iter().flat_map(|module| &module.rails);
            let rail = rails.find(|rail| rail.id == id);
            let list = rail.map(|rail| rail.config.iter().cloned().map(Value::Object));
            return Value::List(list.into_iter().flatten().collect());
        }
        RecordKind::Workflow => {
            let mut automations = destination.automations.iter();
            return automations
                .find(|found| found.id == id)
                .map_or(Value::Null, Automation::config);
        }
    };
    Value::Object(config.cloned().unwrap_or_default())
}
