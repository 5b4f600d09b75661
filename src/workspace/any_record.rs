//! A record of any kind, in the one form in which records are compared, merged and changed.

use serde::{Deserialize, Serialize};

use super::{
    Automation, Column, Feature, Id, Module, New, Rail, RecordKind, Structure, View, Workspace,
};
use crate::json::{Object, Value};

/// A record, whatever its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnyRecord {
    /// What it is.
    pub kind: RecordKind,
    /// Its id at the destination: the one it had, when it is gone.
    pub id: Id,
    /// The table of a column or view, the module of a navigation entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Id>,
    /// Its technical name; of an automation its name.
    pub name: String,
    /// Its label; an automation has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The icon of a module, where it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// Its position, where it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<i64>,
    /// The type of a column or view.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub own_type: Option<String>,
    /// The component of a column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// Its config, in the form in which [`Change::Configure`](crate::workspace::Change::Configure)
    /// takes it.
    pub config: Value,
}

impl AnyRecord {
    fn new(kind: RecordKind, id: Id, name: &str, config: Value) -> AnyRecord {
        AnyRecord {
            kind,
            id,
            parent: None,
            name: name.to_owned(),
            label: None,
            icon: None,
            order: None,
            own_type: None,
            component: None,
            config,
        }
    }

    /// The record that a create step adds.
    pub fn of_new(new: &New) -> AnyRecord {
        match new {
            New::Workspace { id, name, label } => AnyRecord {
                label: Some(label.clone()),
                ..AnyRecord::new(RecordKind::Workspace, *id, name, Object::new().into())
            },
            New::Feature(feature) => AnyRecord::of_feature(feature),
            New::Column { feature, column } => AnyRecord::of_column(*feature, column),
            New::View { feature, view } => AnyRecord::of_view(*feature, view),
            New::Workflow(automation) => AnyRecord::of_automation(automation),
            New::Module(module) => AnyRecord::of_module(module),
            New::Rail { module, rail } => AnyRecord::of_rail(*module, rail),
        }
    }

    /// What adds it once more, as far as it holds nothing else; an automation comes as a draft that does not fire.
    pub fn new_record(&self) -> Option<New> {
        let (id, name) = (self.id, self.name.clone());
        let label = self.label.clone().unwrap_or_default();
        let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
        let objects = || self.objects().iter().map(object);
        match self.kind {
            RecordKind::Feature => Some(New::Feature(Feature {
                id,
                name,
                label,
                config: object(&self.config),
                is_shared: false,
                columns: Vec::new(),
                views: Vec::new(),
            })),
            RecordKind::Column => Some(New::Column {
                feature: self.parent?,
                column: Column {
                    id,
                    name,
                    label,
                    column_type: self.own_type.clone()?,
                    default_component: self.component.clone()?,
                    order: self.order.unwrap_or_default(),
                    config: object(&self.config),
                },
            }),
            RecordKind::View => Some(New::View {
                feature: self.parent?,
                view: View {
                    id,
                    name,
                    label,
                    view_type: self.own_type.clone()?,
                    order: self.order.unwrap_or_default(),
                    config: object(&self.config),
                },
            }),
            RecordKind::Rail => Some(New::Rail {
                module: self.parent?,
                rail: Rail {
                    id,
                    name,
                    label,
                    order: self.order.unwrap_or_default(),
                    config: objects().collect(),
                },
            }),
            RecordKind::Workflow => Some(New::Workflow(Automation {
                id,
                name,
                trigger_config: object(&self.part("triggerConfig")),
                graph_config: object(&self.part("graphConfig")),
                active: false,
                draft: true,
                has_draft: false,
            })),
            _ => None,
        }
    }

    /// The workspace: of it the config alone travels.
    pub fn of_workspace(workspace: &Workspace) -> AnyRecord {
        let config = workspace.config.clone().into();
        AnyRecord::new(RecordKind::Workspace, workspace.id, &workspace.name, config)
    }

    fn of_feature(feature: &Feature) -> AnyRecord {
        AnyRecord {
            label: Some(feature.label.clone()),
            ..AnyRecord::new(
                RecordKind::Feature,
                feature.id,
                &feature.name,
                feature.config.clone().into(),
            )
        }
    }

    fn of_column(feature: Id, column: &Column) -> AnyRecord {
        AnyRecord {
            parent: Some(feature),
            label: Some(column.label.clone()),
            order: Some(column.order),
            own_type: Some(column.column_type.clone()),
            component: Some(column.default_component.clone()),
            ..AnyRecord::new(
                RecordKind::Column,
                column.id,
                &column.name,
                column.config.clone().into(),
            )
        }
    }

    fn of_view(feature: Id, view: &View) -> AnyRecord {
        AnyRecord {
            parent: Some(feature),
            order: Some(view.order),
            label: Some(view.label.clone()),
            own_type: Some(view.view_type.clone()),
            ..AnyRecord::new(
                RecordKind::View,
                view.id,
                &view.name,
                view.config.clone().into(),
            )
        }
    }

    fn of_module(module: &Module) -> AnyRecord {
        AnyRecord {
            label: Some(module.label.clone()),
            icon: module.icon.clone(),
            order: Some(module.order),
            ..AnyRecord::new(
                RecordKind::Module,
                module.id,
                &module.name,
                module.config.clone().into(),
            )
        }
    }

    fn of_rail(module: Id, rail: &Rail) -> AnyRecord {
        let config = rail.config.iter().cloned().map(Value::Object);
        AnyRecord {
            parent: Some(module),
            label: Some(rail.label.clone()),
            order: Some(rail.order),
            ..AnyRecord::new(
                RecordKind::Rail,
                rail.id,
                &rail.name,
                Value::List(config.collect()),
            )
        }
    }

    fn of_automation(automation: &Automation) -> AnyRecord {
        AnyRecord::new(
            RecordKind::Workflow,
            automation.id,
            &automation.name,
            automation.config(),
        )
    }

    /// The record of that kind and id in a workspace.
    pub fn find(structure: &Structure, kind: RecordKind, id: Id) -> Option<AnyRecord> {
        let features = || structure.features.iter().chain(&structure.shared);
        match kind {
            RecordKind::Workspace => {
                let workspace = &structure.workspace;
                (workspace.id == id).then(|| AnyRecord::of_workspace(workspace))
            }
            RecordKind::Feature => structure.feature(id).map(AnyRecord::of_feature),
            RecordKind::Column => features().find_map(|feature| {
                let column = feature.column(id)?;
                Some(AnyRecord::of_column(feature.id, column))
            }),
            RecordKind::View => features().find_map(|feature| {
                let view = feature.views.iter().find(|view| view.id == id)?;
                Some(AnyRecord::of_view(feature.id, view))
            }),
            RecordKind::Module => {
                let found = structure.modules.iter().find(|found| found.id == id);
                found.map(AnyRecord::of_module)
            }
            RecordKind::Rail => structure.modules.iter().find_map(|module| {
                let rail = module.rails.iter().find(|rail| rail.id == id)?;
                Some(AnyRecord::of_rail(module.id, rail))
            }),
            RecordKind::Workflow => {
                let mut automations = structure.automations.iter();
                let found = automations.find(|found| found.id == id);
                found.map(AnyRecord::of_automation)
            }
        }
    }

    /// The records of that kind in a parent, in display order; of columns, views and navigation
    /// entries the parent is theirs.
    pub fn siblings(structure: &Structure, kind: RecordKind, parent: Option<Id>) -> Vec<AnyRecord> {
        let feature = || parent.and_then(|id| structure.feature(id));
        let module = || {
            let mut modules = structure.modules.iter();
            modules.find(|module| Some(module.id) == parent)
        };
        match kind {
            RecordKind::Workspace => Vec::new(),
            RecordKind::Feature => structure
                .features
                .iter()
                .map(AnyRecord::of_feature)
                .collect(),
            RecordKind::Module => structure.modules.iter().map(AnyRecord::of_module).collect(),
            RecordKind::Workflow => {
                let automations = structure.automations.iter();
                automations.map(AnyRecord::of_automation).collect()
            }
            RecordKind::Column => feature().map_or(Vec::new(), |feature| {
                let columns = feature.columns.iter();
                columns
                    .map(|column| AnyRecord::of_column(feature.id, column))
                    .collect()
            }),
            RecordKind::View => feature().map_or(Vec::new(), |feature| {
                let views = feature.views.iter();
                views
                    .map(|view| AnyRecord::of_view(feature.id, view))
                    .collect()
            }),
            RecordKind::Rail => module().map_or(Vec::new(), |module| {
                let rails = module.rails.iter();
                rails
                    .map(|rail| AnyRecord::of_rail(module.id, rail))
                    .collect()
            }),
        }
    }

    /// The column that it is.
    pub fn as_column(&self) -> Option<Column> {
        match self.new_record()? {
            New::Column { column, .. } => Some(column),
            _ => None,
        }
    }

    /// Whether it is, in what differs between two forms of it, as the first says.
    pub fn is_as(&self, from: &AnyRecord, to: &AnyRecord) -> bool {
        fn same<T: PartialEq>(stands: &T, from: &T, to: &T) -> bool {
            from == to || stands == from
        }
        same(&self.name, &from.name, &to.name)
            && same(&self.label, &from.label, &to.label)
            && same(&self.icon, &from.icon, &to.icon)
            && same(&self.order, &from.order, &to.order)
            && same(&self.own_type, &from.own_type, &to.own_type)
            && same(&self.component, &from.component, &to.component)
            && same(&self.config, &from.config, &to.config)
    }

    /// Whether it is as it was seen, its position aside.
    pub fn is_still(&self, seen: &AnyRecord) -> bool {
        self.name == seen.name
            && self.label == seen.label
            && self.icon == seen.icon
            && self.own_type == seen.own_type
            && self.component == seen.component
            && self.config == seen.config
    }

    /// It with what differs between two forms of it, as the second says.
    #[must_use]
    pub fn with(self, from: &AnyRecord, to: AnyRecord) -> AnyRecord {
        fn other<T: PartialEq>(stands: T, from: &T, to: T) -> T {
            if to == *from { stands } else { to }
        }
        AnyRecord {
            name: other(self.name, &from.name, to.name),
            label: other(self.label, &from.label, to.label),
            icon: other(self.icon, &from.icon, to.icon),
            order: other(self.order, &from.order, to.order),
            own_type: other(self.own_type, &from.own_type, to.own_type),
            component: other(self.component, &from.component, to.component),
            config: other(self.config, &from.config, to.config),
            ..self
        }
    }

    /// What people call it: its label, else its name.
    pub fn called(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }

    /// The one object of its config; nothing of a navigation entry with several, or of an automation.
    pub fn object(&self) -> Option<&Object> {
        match &self.config {
            _ if self.kind == RecordKind::Workflow => None,
            Value::Object(object) => Some(object),
            Value::List(list) => match list.as_slice() {
                [Value::Object(object)] => Some(object),
                _ => None,
            },
            _ => None,
        }
    }

    /// The objects of the config of a navigation entry.
    pub fn objects(&self) -> &[Value] {
        self.config.as_list().unwrap_or_default()
    }

    /// One of the two configs of an automation.
    pub fn part(&self, key: &str) -> Value {
        self.config.get(key).cloned().unwrap_or_default()
    }
}
