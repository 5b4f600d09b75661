//! What the validator says.

use crate::finding::{Finding, Rule};

/// Where an issue is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IssueTarget {
    /// In the file around trigger and graph; only for definition files.
    Definition,
    /// In the trigger.
    Trigger,
    /// In the graph.
    Graph,
}

impl IssueTarget {
    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            IssueTarget::Definition => "definition",
            IssueTarget::Trigger => "trigger",
            IssueTarget::Graph => "graph",
        }
    }
}

/// One mistake in an automation.
#[derive(Debug, Clone)]
pub struct Issue {
    /// Where it is fixed.
    pub target: IssueTarget,
    /// Dotted path as the API writes it: relative to the trigger (`config.featureId`), to the
    /// list of steps (`0.then.0.config.subject`; the list itself is empty), or to the file.
    pub path: String,
    /// The member that is missing where the finding points, if one is; the path ends with it.
    pub absent: Option<String>,
    /// Everything else: rule, severity, place in the text, message, help, related places.
    pub finding: Finding,
}

impl Issue {
    /// An issue of the steps as a whole.
    pub(super) fn of_graph(finding: Finding) -> Issue {
        Issue {
            target: IssueTarget::Graph,
            path: String::new(),
            absent: None,
            finding,
        }
    }

    /// The rule that speaks.
    pub fn rule(&self) -> &'static Rule {
        self.finding.rule
    }

    /// The API's stable code: the name of the automation rule. Mistakes in the shape of the
    /// document, which the file rules name more closely, are invalid configs to the API.
    pub fn code(&self) -> &'static str {
        match (self.rule().family(), self.target) {
            ('A', _) => self.rule().name,
            (_, IssueTarget::Trigger) => "trigger_config_invalid",
            _ => "step_config_invalid",
        }
    }
}
