//! The validator: trigger and steps in, issues out.

use super::environment::Environment;
use super::graph::Graph;
use super::issue::Issue;
use super::parsed_trigger::Trigger;
use super::trigger;
use super::validation_context::{Site, ValidationContext};
use super::{between_filter, config, graph_shape, graph_warnings, reads, writes};
use crate::definitions::Definitions;
use crate::finding::Finding;
use crate::finding::catalog::A016;
use crate::json::Node;

/// The two halves of an automation as they are written.
#[derive(Debug, Clone, Copy)]
pub struct Automation<'d> {
    /// `triggerConfig` (or `trigger_config`). What is not an object is left to whoever checks the
    /// document around it, and nothing that depends on the trigger is checked.
    pub trigger: Option<Node<'d>>,
    /// `graphConfig` (or `graph_config`); likewise.
    pub graph: Option<Node<'d>>,
}

impl<'d> Automation<'d> {
    /// The automation in the args of a `create_workflow_v2` step.
    pub fn of_args(args: Node<'d>) -> Automation<'d> {
        Automation {
            trigger: args.get("triggerConfig"),
            graph: args.get("graphConfig"),
        }
    }

    /// The automation in a definition as the API has it.
    pub fn of_definition(definition: Node<'d>) -> Automation<'d> {
        Automation {
            trigger: definition.get("trigger_config"),
            graph: definition.get("graph_config"),
        }
    }
}

/// Checks an automation: rules A001 to A019, J005 for steps and names of the wrong type, and
/// J007 for unknown fields of trigger, graph and steps; over the API also what references look
/// like (A003, A016) and unknown settings (S018), which the plan rules check in a package.
///
/// Issues of the trigger come first, then those of the graph, rule by rule. One mistake makes
/// one issue, and what cannot be known is not reported.
pub fn validate(
    definitions: &Definitions,
    automation: &Automation<'_>,
    environment: &dyn Environment,
) -> Vec<Issue> {
    let graph = automation.graph.filter(|graph| graph.is_object());
    let case = ValidationContext {
        definitions,
        trigger: Trigger::read(automation.trigger, definitions),
        graph: graph
            .and_then(|graph| graph.get("steps"))
            .map(|list| Graph::read(definitions, list))
            .unwrap_or_default(),
        environment,
    };
    let mut issues = Vec::new();
    trigger::check(&case, &mut issues);
    if let Some(list) = graph.and_then(|graph| graph_shape::check_graph(&case, graph, &mut issues))
    {
        graph_shape::check_steps(&case, &mut issues);
        check_configs(&case, &mut issues);
        reads::check(&case, &mut issues);
        writes::check(&case, &mut issues);
        graph_warnings::check(&case, list, &mut issues);
    }
    issues
}

/// Checks the config of every step against its declaration.
fn check_configs(case: &ValidationContext<'_, '_, '_>, issues: &mut Vec<Issue>) {
    for (position, step) in case.graph.steps().iter().enumerate() {
        let (Some(key), Some(declared)) = (step.key, step.declared) else {
            continue;
        };
        let site = Site::Step(position);
        match (step.config, step.node.get("config")) {
            (Some(written), _) => {
                config::check(case, site, &A016, &step.reading, issues);
                config::check_needs(case, site, &A016, key, written, &declared.config, issues);
                between_filter::check(case, site, written, issues);
            }
            (None, Some(other)) => {
                let message = format!(
                    "`config` of the step is {} and not an object",
                    other.type_name()
                );
                issues.push(case.issue(site, other, None, Finding::at(&A016, other, message)));
            }
            (None, None) => {
                config::check_absent(case, site, &A016, step.node, &declared.config, issues);
            }
        }
    }
}
