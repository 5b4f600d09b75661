//! A small workspace, built record by record.

use serde_json::{Value, json};
use tplkit::definitions::Definitions;
use tplkit::json::Object;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{
    Automation, Channel, Column, Connection, Feature, Id, Module, Named, Rail, RowData, StoredRow,
    View,
};

/// A workspace under construction.
pub(crate) struct Space {
    pub(crate) state: State,
    next: u128,
}

/// The config or data that a JSON object is.
pub(crate) fn object(value: &Value) -> Object {
    serde_json::from_str(&value.to_string()).unwrap()
}

impl Space {
    pub(crate) fn new() -> Space {
        let mut space = Space {
            state: State::empty(Id::nil(), Id::nil(), "sales", "Sales"),
            next: 0,
        };
        space.state.structure.organization.id = space.id();
        space.state.structure.workspace.id = space.id();
        space
    }

    /// An id that nothing has.
    pub(crate) fn id(&mut self) -> Id {
        self.next += 1;
        Id::from_u128(0x0190_aaaa_bbbb_7ccc_8ddd_0000_0000_0000 + self.next)
    }

    /// A new table that belongs nowhere yet.
    fn new_table(&mut self, name: &str) -> Feature {
        Feature {
            id: self.id(),
            name: name.to_owned(),
            label: format!("{name} label"),
            config: Object::new(),
            is_shared: false,
            columns: Vec::new(),
            views: Vec::new(),
        }
    }

    pub(crate) fn table(&mut self, name: &str) -> Id {
        let table = self.new_table(name);
        let id = table.id;
        self.state.structure.features.push(table);
        id
    }

    /// A table of another workspace of the organization.
    pub(crate) fn shared_table(&mut self, name: &str) -> Id {
        let table = self.new_table(name);
        let id = table.id;
        self.state.structure.shared.push(table);
        id
    }

    pub(crate) fn table_mut(&mut self, id: Id) -> &mut Feature {
        let structure = &mut self.state.structure;
        let mut tables = structure.features.iter_mut().chain(&mut structure.shared);
        tables.find(|table| table.id == id).unwrap()
    }

    /// A column of that type with its default component.
    pub(crate) fn column(&mut self, table: Id, name: &str, kind: &str, config: &Value) -> Id {
        let declared = &Definitions::embedded().column_types[kind];
        self.column_as(table, name, kind, &declared.default_component, config)
    }

    pub(crate) fn column_as(
        &mut self,
        table: Id,
        name: &str,
        kind: &str,
        component: &str,
        config: &Value,
    ) -> Id {
        let id = self.id();
        let table = self.table_mut(table);
        let order = i64::try_from(table.columns.len()).unwrap() + 1;
        table.columns.push(Column {
            id,
            name: name.to_owned(),
            label: format!("{name} label"),
            column_type: kind.to_owned(),
            default_component: component.to_owned(),
            order,
            config: object(config),
        });
        id
    }

    /// A text column.
    pub(crate) fn text(&mut self, table: Id, name: &str) -> Id {
        self.column(table, name, "text", &json!({}))
    }

    /// A link column.
    pub(crate) fn link(&mut self, table: Id, name: &str, to: Id, value: &str) -> Id {
        let config = json!({"linkedFeatureId": to, "linkedValueColumn": value});
        self.column(table, name, "linked_select", &config)
    }

    pub(crate) fn view(&mut self, table: Id, name: &str, kind: &str, config: &Value) -> Id {
        let id = self.id();
        let table = self.table_mut(table);
        let order = i64::try_from(table.views.len()).unwrap() + 1;
        table.views.push(View {
            id,
            name: name.to_owned(),
            label: format!("{name} label"),
            view_type: kind.to_owned(),
            order,
            config: object(config),
        });
        id
    }

    pub(crate) fn module(&mut self, name: &str, config: &Value) -> Id {
        let id = self.id();
        self.state.structure.modules.push(Module {
            id,
            name: name.to_owned(),
            label: format!("{name} label"),
            icon: Some("cart".to_owned()),
            order: 1,
            config: object(config),
            rails: Vec::new(),
        });
        id
    }

    pub(crate) fn module_mut(&mut self, id: Id) -> &mut Module {
        let mut modules = self.state.structure.modules.iter_mut();
        modules.find(|module| module.id == id).unwrap()
    }

    pub(crate) fn rail(&mut self, module: Id, name: &str, config: &Value) -> Id {
        let id = self.id();
        self.module_mut(module).rails.push(Rail {
            id,
            name: name.to_owned(),
            label: format!("{name} label"),
            order: 1,
            config: vec![object(config)],
        });
        id
    }

    pub(crate) fn automation(&mut self, name: &str, trigger: &Value, steps: &Value) -> Id {
        let id = self.id();
        self.state.structure.automations.push(Automation {
            id,
            name: name.to_owned(),
            trigger_config: object(trigger),
            graph_config: object(&json!({"steps": steps})),
            active: false,
            draft: true,
            has_draft: false,
        });
        id
    }

    pub(crate) fn earlier_automation(&mut self, name: &str) -> Id {
        let named = self.named(name);
        let id = named.id;
        self.state.structure.earlier_automations.push(named);
        id
    }

    fn named(&mut self, name: &str) -> Named {
        Named {
            id: self.id(),
            name: name.to_owned(),
            label: Some(format!("{name} label")),
        }
    }

    pub(crate) fn channel(&mut self, name: Option<&str>) -> Id {
        let id = self.id();
        let channels = self.state.structure.organization.channels.as_mut().unwrap();
        channels.push(Channel {
            id,
            name: name.map(str::to_owned),
            label: Some("Somewhere to talk".to_owned()),
        });
        id
    }

    pub(crate) fn connection(&mut self, name: &str, kind: &str) {
        let organization = &mut self.state.structure.organization;
        organization.connections.as_mut().unwrap().push(Connection {
            name: name.to_owned(),
            kind: kind.to_owned(),
        });
    }

    pub(crate) fn timer_profile(&mut self, name: &str) -> Id {
        let named = self.named(name);
        let id = named.id;
        let organization = &mut self.state.structure.organization;
        organization.timer_profiles.as_mut().unwrap().push(named);
        id
    }

    pub(crate) fn row(&mut self, table: Id, data: &Value) -> Id {
        self.raw_row(table, &data.to_string())
    }

    /// A row whose data is that text.
    pub(crate) fn raw_row(&mut self, table: Id, data: &str) -> Id {
        let id = self.id();
        let data = RowData::trusted(data);
        let rows = self.state.rows.entry(table).or_default();
        rows.push(StoredRow { id, data });
        id
    }

    pub(crate) fn memory(&self) -> Memory {
        Memory::new(self.state.clone())
    }
}
