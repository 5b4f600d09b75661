//! The guide: eleven steps from signing in to a finished job, each a command and its response, and what else can be done.
//!
//! In: `guide.md`, the one source of the steps, and the demonstration that this server shows, if it is one. Out: steps
//! for the page, for Markdown, and for the test that runs them. Where there is a demonstration its values stand in the
//! commands; elsewhere they stay variables, which the reader sets first.

use crate::app::Demonstration;

const SOURCE: &str = include_str!("guide.md");

/// What somebody sets who has no demonstration before them.
pub(super) const VARIABLES: &str = "\
URL=https://tplkit.example.com
EMAIL=ann@example.com
PASSWORD='correct horse battery'
TOKEN=platform_sk_…   # an API key, or what the next step gives
TABLE=01a0b1c2-…      # GET /v1/features lists tables
WORKSPACE=01a0b1c2-…  # GET /v1/workspaces
TEMPLATE=01a0b1c2-…   # GET /v1/templates";

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its name for programs.
    pub name: String,
    /// Whether it stands behind the steps that lead from signing in to a finished job.
    pub further: bool,
    /// Its heading.
    pub title: String,
    /// What to know, with code between backticks.
    pub about: String,
    /// What is typed.
    pub command: String,
    /// The status of the last response.
    pub status: u16,
    /// The body of the last response.
    pub response: String,
}

/// All steps in their order, with the values of the demonstration.
pub fn steps(demonstration: Option<&Demonstration>) -> Vec<Step> {
    let parts = SOURCE.split("\n## ");
    parts
        .map(|part| {
            let mut step = step(part.trim_start_matches("## "));
            if let Some(demonstration) = demonstration {
                step.command = filled_in(&step.command, demonstration);
            }
            step
        })
        .collect()
}

fn step(part: &str) -> Step {
    let (head, blocks) = part.split_once("\n```sh\n").unwrap_or((part, ""));
    let (command, rest) = blocks.split_once("\n```\n").unwrap_or_default();
    let (_, rest) = rest.split_once("```json ").unwrap_or_default();
    let (status, response) = rest.split_once('\n').unwrap_or_default();
    let mut lines = head.lines();
    let title = lines.next().unwrap_or_default();
    let named = lines.next().unwrap_or_default();
    let further = named.strip_prefix("further: ");
    let name = further.or_else(|| named.strip_prefix("step: "));
    let about: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    Step {
        name: name.unwrap_or_default().to_owned(),
        further: further.is_some(),
        title: title.to_owned(),
        about: about.join(" "),
        command: command.to_owned(),
        status: status.trim().parse().unwrap_or_default(),
        response: response
            .trim_end()
            .trim_end_matches("```")
            .trim_end()
            .to_owned(),
    }
}

fn filled_in(command: &str, demonstration: &Demonstration) -> String {
    let values = [
        ("EMAIL", &demonstration.email),
        ("PASSWORD", &demonstration.password),
        ("WORKSPACE", &demonstration.workspace),
        ("TEMPLATE", &demonstration.template),
        ("TABLE", &demonstration.table),
        ("URL", &demonstration.url),
    ];
    values
        .iter()
        .fold(command.to_owned(), |text, (name, value)| {
            // Between single quotes a variable needs quotes around it, and a value does not.
            let text = text.replace(&format!("'\"${name}\"'"), value);
            text.replace(&format!("${name}"), value)
        })
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Demonstration, steps};

    const NAMES: [&str; 11] = [
        "sign in",
        "list",
        "filter",
        "sort",
        "page",
        "create",
        "batch",
        "idempotency",
        "errors",
        "apply a template",
        "watch a job",
    ];

    /// A demonstration whose values say what they are.
    pub(in crate::api::documentation) fn demonstration() -> Demonstration {
        let value = |name: &str| format!("the-{name}");
        Demonstration {
            url: value("url"),
            email: value("email"),
            password: value("password"),
            key: value("key"),
            workspace: value("workspace"),
            table: value("table"),
            template: value("template"),
        }
    }

    #[test]
    fn every_step_is_whole() {
        let steps = steps(None);
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names[..NAMES.len()], NAMES);
        assert_eq!(names[NAMES.len()..], ["upload a picture"]);
        let further = steps.iter().position(|step| step.further);
        assert_eq!(further, Some(NAMES.len()));
        for step in &steps {
            let begins = step.command.starts_with("curl ") || step.command.contains("=$(curl ");
            assert!(begins && step.command.contains("$URL"), "{step:?}");
            assert!(!step.title.is_empty() && !step.about.is_empty(), "{step:?}");
            assert!((200..500).contains(&step.status), "{step:?}");
            let response: Result<serde_json::Value, _> = serde_json::from_str(&step.response);
            assert!(response.is_ok(), "{step:?}");
        }
    }

    #[test]
    fn a_demonstration_stands_in_every_command() {
        let demonstration = demonstration();
        let all: Vec<String> = steps(Some(&demonstration))
            .into_iter()
            .map(|step| step.command)
            .collect();
        let all = all.join("\n");
        for name in ["URL", "EMAIL", "PASSWORD", "WORKSPACE", "TABLE", "TEMPLATE"] {
            assert!(!all.contains(&format!("${name}")), "{name}");
            assert!(
                all.contains(&format!("the-{}", name.to_lowercase())),
                "{name}"
            );
        }
        assert!(all.contains("{\"email\": \"the-email\", \"password\": \"the-password\"}"));
        assert!(all.contains("Bearer $TOKEN") && all.contains("/$JOB\""));
    }
}
