//! An automation in its own file, in the form that `/v1/workflows-v2` accepts and returns.
//!
//! `trigger_config` and `graph_config` are required (A001, J006), the other fields of the record
//! are known and optional. The spelling of packages (`triggerConfig`) is read too and reported as
//! J007 with a fix, so the args of a plan step can be tried out; their `$` refs are still reported,
//! because they are not UUIDs.

use super::environment::EmptyEnvironment;
use super::graph_shape::unknown_field;
use super::issue::{Issue, IssueTarget};
use super::validate::{Automation, validate};
use crate::definitions::Definitions;
use crate::finding::catalog::{A001, J002, J005, J006, J007, J009};
use crate::finding::{Edit, Finding, Fix};
use crate::json::path::dotted;
use crate::json::{Anomaly, Doc, Node, SyntaxError};
use crate::package::uid::is_uuid;

#[derive(Clone, Copy)]
enum Shape {
    Text,
    Uuid,
    Flag,
    Version,
    VersionOrNull,
    Object,
}

const FIELDS: [(&str, Shape); 11] = [
    ("id", Shape::Uuid),
    ("workflow_id", Shape::Uuid),
    ("workspace_id", Shape::Uuid),
    ("name", Shape::Text),
    ("version", Shape::Version),
    ("base_version", Shape::VersionOrNull),
    ("is_draft", Shape::Flag),
    ("is_active", Shape::Flag),
    ("trigger_config", Shape::Object),
    ("graph_config", Shape::Object),
    ("created_at", Shape::Text),
];

/// The spellings of packages, and of the API.
const SPELLINGS: [(&str, &str); 2] = [
    ("triggerConfig", "trigger_config"),
    ("graphConfig", "graph_config"),
];

/// Checks the text of a definition file: its shape (A001, J002, J005 to J007, J009) and the
/// automation in it, in order of place. Offsets do not count a byte-order mark.
pub fn validate_file(text: &str, definitions: &Definitions) -> Result<Vec<Issue>, SyntaxError> {
    let doc = Doc::parse(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    let root = doc.root();
    let mut issues: Vec<Issue> = doc
        .anomalies()
        .iter()
        .map(|anomaly| anomaly_issue(&doc, *anomaly))
        .collect();
    if root.is_object() {
        let automation = Automation {
            trigger: half(root, "trigger_config"),
            graph: half(root, "graph_config"),
        };
        check_fields(root, &automation, &mut issues);
        let own = EmptyEnvironment {
            workflow_id: root.get_str("workflow_id"),
        };
        issues.extend(validate(definitions, &automation, &own));
    } else {
        let message = format!(
            "an automation definition is an object and not {}",
            root.type_name()
        );
        issues.push(issue(root, Finding::at(&J005, root, message)));
    }
    issues.sort_by_key(|issue| (issue.finding.place.span.start, issue.rule().code));
    Ok(issues)
}

/// One half of the automation, in the API's spelling before the packages'.
fn half<'d>(root: Node<'d>, field: &str) -> Option<Node<'d>> {
    let other = SPELLINGS
        .iter()
        .find(|(_, api)| *api == field)
        .map(|(package, _)| *package);
    root.get(field).or_else(|| root.get(other?))
}

fn check_fields(root: Node<'_>, automation: &Automation<'_>, issues: &mut Vec<Issue>) {
    for member in root.members() {
        let key = member.key().unwrap_or_default();
        let spelt = SPELLINGS.iter().find(|(package, _)| *package == key);
        let shape = FIELDS
            .iter()
            .find(|(name, _)| *name == spelt.map_or(key, |(_, api)| *api));
        if let Some((_, api)) = spelt {
            issues.push(issue(
                member,
                misspelt(member, key, api, root.get(api).is_some()),
            ));
        }
        match shape {
            Some((_, shape)) => {
                let finding = shape.refuse(member);
                issues.extend(
                    finding.map(|finding| match spelt.map_or(key, |(_, api)| *api) {
                        "trigger_config" => of_half(IssueTarget::Trigger, finding),
                        "graph_config" => of_half(IssueTarget::Graph, finding),
                        _ => issue(member, finding),
                    }),
                );
            }
            None if key == "$schema" => {}
            None => {
                let known = FIELDS.map(|(name, _)| name);
                issues.push(issue(
                    member,
                    unknown_field(member, "an automation definition", &known),
                ));
            }
        }
    }
    check_halves(root, automation, issues);
}

/// Says which half is absent, as an issue of that half: without `trigger_config` there is no type
/// of a trigger, as with an empty one.
fn check_halves(root: Node<'_>, automation: &Automation<'_>, issues: &mut Vec<Issue>) {
    let package = root
        .get("templateVersion")
        .or_else(|| root.get("manifest"))
        .is_some();
    let help = if package {
        "This looks like a template package: use `tplkit check`."
    } else {
        "An automation definition has a `trigger_config` and a `graph_config`."
    };
    if automation.trigger.is_none() {
        let message = "the definition has no `trigger_config`, so nothing starts the automation";
        issues.push(Issue {
            target: IssueTarget::Trigger,
            path: "type".to_owned(),
            absent: Some("type".to_owned()),
            finding: Finding::at(&A001, root, message).help(help),
        });
    }
    if automation.graph.is_none() {
        let message = "the definition has no `graph_config`";
        issues.push(Issue::of_graph(
            Finding::at(&J006, root, message).help(help),
        ));
    }
}

fn misspelt(member: Node<'_>, key: &str, api: &str, both: bool) -> Finding {
    let finding = Finding::at_key(
        &J007,
        member,
        format!("`{key}` is how packages spell `{api}`"),
    );
    if both {
        return finding.help(format!(
            "Remove it: `{api}` is there too, and is the one that counts."
        ));
    }
    let edits = vec![Edit {
        span: member.key_span(),
        text: format!("\"{api}\""),
    }];
    finding.help(format!("Write `{api}`.")).fix(Fix {
        title: format!("Rename `{key}` to `{api}`"),
        safe: true,
        edits,
    })
}

impl Shape {
    fn refuse(self, node: Node<'_>) -> Option<Finding> {
        let (fits, expected) = match self {
            Shape::Text => (node.as_str().is_some(), "text"),
            Shape::Uuid => (node.as_str().is_some_and(is_uuid), "a UUID"),
            Shape::Flag => (node.as_bool().is_some(), "`true` or `false`"),
            Shape::Version => (
                node.as_i64().is_some_and(|value| value > 0),
                "a positive integer",
            ),
            Shape::VersionOrNull => (
                node.is_null() || node.as_i64().is_some_and(|value| value > 0),
                "a positive integer or null",
            ),
            Shape::Object => (node.is_object(), "an object"),
        };
        let name = node.key().unwrap_or_default();
        (!fits).then(|| {
            let message = format!(
                "`{name}` is {}, not {expected}",
                super::validation_context::short_text(node)
            );
            Finding::at(&J005, node, message)
        })
    }
}

fn anomaly_issue(doc: &Doc<'_>, anomaly: Anomaly) -> Issue {
    match anomaly {
        Anomaly::DuplicateKey(id) => {
            let node = doc.node(id);
            let message = format!(
                "the key `{}` appears twice in this object",
                node.key().unwrap_or_default()
            );
            issue(node, Finding::at_key(&J002, node, message))
        }
        Anomaly::NulInKey(id) => issue(
            doc.node(id),
            Finding::at_key(&J009, doc.node(id), "the key holds the character U+0000"),
        ),
        Anomaly::NulInString(id) => issue(
            doc.node(id),
            Finding::at(&J009, doc.node(id), "the text holds the character U+0000"),
        ),
    }
}

/// An issue of a whole half of the automation.
fn of_half(target: IssueTarget, finding: Finding) -> Issue {
    Issue {
        target,
        path: String::new(),
        absent: None,
        finding,
    }
}

/// An issue of the file around the halves; its path counts from the root.
fn issue(node: Node<'_>, finding: Finding) -> Issue {
    let root = std::iter::successors(Some(node), |node| node.parent())
        .last()
        .unwrap_or(node);
    Issue {
        target: IssueTarget::Definition,
        path: dotted(root, node),
        absent: None,
        finding,
    }
}
