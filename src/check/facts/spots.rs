//! Configs in steps, walked once: every declared value and every structural mistake.

use super::{Facts, Step, StepPlace};
use crate::definitions::{ConfigFault, Field};
use crate::json::Node;
use crate::package::Tool;
use crate::package::configs::{self, ConfigVisitor, Declared, walk_args};

/// A declared config value in a step.
#[derive(Debug, Clone, Copy)]
pub struct StepConfigSpot<'d> {
    /// The step it is in.
    pub step: StepPlace,
    /// The value with its declaration.
    pub spot: configs::ConfigSpot<'d, 'd>,
}

impl<'d> std::ops::Deref for StepConfigSpot<'d> {
    type Target = configs::ConfigSpot<'d, 'd>;

    fn deref(&self) -> &configs::ConfigSpot<'d, 'd> {
        &self.spot
    }
}

/// A structural mistake in a config in a step.
#[derive(Debug, Clone)]
pub enum StepConfigFault<'d> {
    /// A key that is not declared.
    UnknownKey {
        /// The member.
        member: Node<'d>,
        /// What is declared here.
        known: Vec<(&'d str, &'d Field)>,
    },
    /// A required key is absent.
    Missing {
        /// The object that lacks it.
        object: Node<'d>,
        /// The key.
        key: &'d str,
        /// Its declaration.
        field: &'d Field,
        /// Whether it is in an automation.
        automation: bool,
    },
    /// A value of the wrong type, or outside its enumeration or range.
    Wrong {
        /// The step it is in.
        step: StepPlace,
        /// The value.
        node: Node<'d>,
        /// Its declaration.
        field: &'d Field,
        /// Whether it is in an automation.
        automation: bool,
    },
}

struct Collector<'d> {
    step: StepPlace,
    spots: Vec<StepConfigSpot<'d>>,
    config_faults: Vec<StepConfigFault<'d>>,
}

impl<'d> ConfigVisitor<'d, 'd> for Collector<'d> {
    fn spot(&mut self, spot: configs::ConfigSpot<'d, 'd>) {
        let step = self.step;
        self.spots.push(StepConfigSpot { step, spot });
    }

    fn fault(&mut self, fault: ConfigFault<'d, 'd>, automation: bool) {
        self.config_faults.push(match fault {
            ConfigFault::UnknownKey { member, known } => {
                StepConfigFault::UnknownKey { member, known }
            }
            ConfigFault::Missing { object, key, field } => StepConfigFault::Missing {
                object,
                key,
                field,
                automation,
            },
            ConfigFault::Wrong { spot } => StepConfigFault::Wrong {
                step: self.step,
                node: spot.node,
                field: spot.field,
                automation,
            },
        });
    }
}

impl<'d> Facts<'d> {
    pub(super) fn read_spots(&mut self) {
        let (mut spots, mut config_faults) = (Vec::new(), Vec::new());
        for step in self.steps.iter().chain(&self.blueprint_steps) {
            let (Some(tool), Some(args)) = (step.tool, step.args) else {
                continue;
            };
            let mut collector = Collector {
                step: step.place,
                spots: Vec::new(),
                config_faults: Vec::new(),
            };
            let declared = self.declared_as(step, tool);
            walk_args(self.definitions, tool, args, declared, &mut collector);
            spots.append(&mut collector.spots);
            config_faults.append(&mut collector.config_faults);
        }
        self.spots = spots;
        self.config_faults = config_faults;
    }

    /// The step at a place.
    pub fn step_at(&self, place: StepPlace) -> Option<&Step<'d>> {
        let steps = match place {
            StepPlace::Plan(_) => &self.steps,
            StepPlace::Blueprint(..) => &self.blueprint_steps,
        };
        let found = steps.binary_search_by_key(&place, |step| step.place);
        found.ok().map(|index| &steps[index])
    }

    /// What the definitions need to know of the record that a step is about.
    fn declared_as(&self, step: &Step<'d>, tool: Tool) -> Declared<'d> {
        let declared = match tool {
            Tool::CreateColumn => step
                .arg_str("type")
                .map(|kind| (kind, step.arg_str("defaultComponent"))),
            Tool::UpdateColumn => step.arg_ref("columnId").and_then(|id| self.column_type(id)),
            Tool::CreateView | Tool::UpdateView => {
                let view = self.view_type(step, tool);
                return view.map_or(Declared::Other, Declared::View);
            }
            _ => None,
        };
        declared.map_or(Declared::Other, |(kind, component)| {
            Declared::Column(kind, component)
        })
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
    fn view_type(&self, step: &Step<'d>, tool: Tool) -> Option<&'d str> {
        match tool {
            Tool::CreateView => step.arg_str("type"),
            _ => self.steps[self.declaring_step(step.arg_ref("viewId")?)?].arg_str("type"),
        }
    }
}
