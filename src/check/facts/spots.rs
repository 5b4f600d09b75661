//! Configs in steps, walked once: every declared value and every structural mistake.

use super::{Facts, Step, StepPlace};
use crate::definitions::{Field, FieldType, Problem, Reference, Spot, Visitor, walk, walk_listed};
use crate::json::Node;
use crate::package::Tool;

/// A declared config value in a step.
#[derive(Debug, Clone, Copy)]
pub struct ConfigSpot<'d> {
    /// The step it stands in.
    pub step: StepPlace,
    /// The value.
    pub node: Node<'d>,
    /// Its declaration.
    pub field: &'d Field,
    /// What it names.
    pub reference: Option<&'d Reference>,
    /// The outermost object of the config (of an automation: of one step or the trigger), within
    /// which `of` is looked up.
    pub config: Node<'d>,
    /// Whether it stands in an automation.
    pub automation: bool,
}

/// A structural mistake in a config in a step.
#[derive(Debug, Clone)]
pub enum ConfigProblem<'d> {
    /// A key that is not declared.
    UnknownKey {
        /// The member.
        member: Node<'d>,
        /// What is declared here.
        known: Vec<&'d str>,
    },
    /// A required key is absent.
    Missing {
        /// The object that lacks it.
        object: Node<'d>,
        /// The key.
        key: &'d str,
        /// Its declaration.
        field: &'d Field,
        /// Whether it stands in an automation.
        automation: bool,
    },
    /// A value of the wrong type, or outside its enumeration or range.
    Wrong {
        /// The value.
        node: Node<'d>,
        /// Its declaration.
        field: &'d Field,
        /// Whether it stands in an automation.
        automation: bool,
    },
}

struct Collector<'d, 'c> {
    facts: &'c Facts<'d>,
    step: StepPlace,
    config: Node<'d>,
    automation: bool,
    spots: Vec<ConfigSpot<'d>>,
    problems: Vec<ConfigProblem<'d>>,
}

impl<'d> Visitor<'d, 'd> for Collector<'d, '_> {
    fn field(&mut self, spot: Spot<'d, 'd>) {
        let (step, config, automation) = (self.step, self.config, self.automation);
        let (node, field, reference) = (spot.node, spot.field, spot.reference());
        self.spots.push(ConfigSpot {
            step,
            node,
            field,
            reference,
            config,
            automation,
        });
    }

    fn problem(&mut self, problem: Problem<'d, 'd>) {
        let automation = self.automation;
        self.problems.push(match problem {
            Problem::UnknownKey { member, known } => ConfigProblem::UnknownKey { member, known },
            Problem::Missing { object, key, field } => ConfigProblem::Missing {
                object,
                key,
                field,
                automation,
            },
            Problem::Wrong { spot } => ConfigProblem::Wrong {
                node: spot.node,
                field: spot.field,
                automation,
            },
        });
    }

    fn steps(&mut self, spot: Spot<'d, 'd>) {
        self.graph_steps(spot.node);
    }
}

impl<'d> Collector<'d, '_> {
    fn graph_steps(&mut self, list: Node<'d>) {
        for step in list.elements() {
            let definition = step
                .get_str("key")
                .and_then(|key| self.facts.definitions.steps.get(key));
            let config = step.get("config").filter(|config| config.is_object());
            if let (Some(definition), Some(config)) = (definition, config) {
                let outer = std::mem::replace(&mut self.config, config);
                walk(config, &definition.config, self);
                self.config = outer;
            }
        }
    }
}

impl<'d> Facts<'d> {
    pub(super) fn read_spots(&mut self) {
        let (mut spots, mut problems) = (Vec::new(), Vec::new());
        for step in self.steps.iter().chain(&self.blueprint_steps) {
            let mut collector = Collector {
                facts: self,
                step: step.place,
                config: step.node,
                automation: false,
                spots: Vec::new(),
                problems: Vec::new(),
            };
            collect(step, &mut collector);
            spots.append(&mut collector.spots);
            problems.append(&mut collector.problems);
        }
        self.spots = spots;
        self.problems = problems;
    }

    /// The step at a place.
    pub fn step_at(&self, place: StepPlace) -> Option<&Step<'d>> {
        self.steps
            .iter()
            .chain(&self.blueprint_steps)
            .find(|step| step.place == place)
    }

    /// The fields declared for a column step's config; `None` when its type is unknown.
    fn column_fields(&self, step: &Step<'d>) -> Option<Vec<(&'d str, &'d Field)>> {
        let (kind, component) = match step.tool? {
            Tool::CreateColumn => (step.arg_str("type")?, step.arg_str("defaultComponent")),
            _ => self.column_type(step.arg_ref("columnId")?)?,
        };
        self.definitions
            .column_fields(kind, component.unwrap_or_default())
    }

    /// Type and component of a column by its ref.
    fn column_type(&self, reference: &str) -> Option<(&'d str, Option<&'d str>)> {
        if let Some(index) = self.declaring_step(reference) {
            let step = &self.steps[index];
            return Some((step.arg_str("type")?, step.arg_str("defaultComponent")));
        }
        let outside = self.outside(reference)?;
        let column = self.dependencies[outside.dependency]
            .columns
            .get(outside.column?)?
            .node;
        Some((column.get_str("type")?, column.get_str("defaultComponent")))
    }

    /// The view type of a view step; `None` when unknown.
    fn view_type(&self, step: &Step<'d>) -> Option<&'d str> {
        match step.tool? {
            Tool::CreateView => step.arg_str("type"),
            _ => self.steps[self.declaring_step(step.arg_ref("viewId")?)?].arg_str("type"),
        }
    }
}

fn collect<'d>(step: &Step<'d>, collector: &mut Collector<'d, '_>) {
    let facts = collector.facts;
    let definitions = facts.definitions;
    let keys = &definitions.config_keys;
    let Some(tool) = step.tool else { return };
    let config = step.arg("config");
    let object = config.filter(|config| config.is_object());
    match tool {
        Tool::CreateColumn | Tool::UpdateColumn => {
            let Some(fields) = facts.column_fields(step) else {
                return;
            };
            match object {
                Some(config) => {
                    collector.config = config;
                    walk_listed(config, &fields, collector);
                }
                None if config.is_none() && tool == Tool::CreateColumn => {
                    collector.missing_all(step, fields.iter().copied());
                }
                None => {}
            }
        }
        Tool::CreateView | Tool::UpdateView => {
            let kind = facts
                .view_type(step)
                .and_then(|name| definitions.view_types.get(name));
            if let (Some(kind), Some(config)) = (kind, config) {
                // Anything but a list of one object is S010's.
                if let Some(element) = config.at(0).filter(|e| config.len() == 1 && e.is_object()) {
                    collector.config = element;
                    walk(element, &kind.config, collector);
                }
            }
        }
        Tool::CreateRail => {
            for element in config
                .into_iter()
                .flat_map(Node::elements)
                .filter(|e| e.is_object())
            {
                collector.config = element;
                walk(element, &keys.rail, collector);
            }
        }
        Tool::CreateModule | Tool::UpdateModule => collector.object(object, &keys.module),
        Tool::CreateFeature | Tool::UpdateFeature => collector.object(object, &keys.feature),
        Tool::UpdateWorkspace => collector.object(object, &keys.workspace),
        Tool::CreateWorkflowV2 => {
            collector.automation = true;
            let trigger = step.arg("triggerConfig");
            let kind = trigger
                .and_then(|trigger| trigger.get_str("type"))
                .and_then(|name| definitions.triggers.get(name));
            let settings = trigger.and_then(|trigger| trigger.get("config"));
            if let Some(kind) = kind {
                collector.object(
                    settings.filter(|settings| settings.is_object()),
                    &kind.config,
                );
            }
            if let Some(steps) = step.arg("graphConfig").and_then(|graph| graph.get("steps")) {
                collector.graph_steps(steps);
            }
        }
        _ => {}
    }
}

impl<'d> Collector<'d, '_> {
    fn object(&mut self, object: Option<Node<'d>>, fields: &'d crate::definitions::Fields) {
        if let Some(object) = object {
            self.config = object;
            walk(object, fields, self);
        }
    }

    /// A column without config lacks every required key of its type.
    fn missing_all(&mut self, step: &Step<'d>, fields: impl Iterator<Item = (&'d str, &'d Field)>) {
        let Some(object) = step.args else { return };
        for (key, field) in fields.filter(|(_, field)| field.is_required()) {
            self.problem(Problem::Missing { object, key, field });
        }
    }
}

impl<'d> ConfigSpot<'d> {
    /// The sibling that `of` names, looked for outwards from the value to the config's end.
    pub fn named_by(&self, key: &str) -> Option<Node<'d>> {
        let mut current = self.node;
        while current != self.config {
            current = current.parent()?;
            if let Some(found) = current.get(key) {
                return Some(found);
            }
        }
        None
    }

    /// Whether the value is a list or object whose parts are told on their own.
    pub fn is_container(&self) -> bool {
        matches!(self.field.kind, FieldType::List | FieldType::Object)
    }
}
