//! D001 to D006 and D008 to D011: the members of a dependency.

use crate::check::facts::{Dependency, Facts};
use crate::finding::catalog::{D001, D002, D003, D004, D005, D006, D008, D009, D010, D011};
use crate::finding::suggest::{self, Misspelt};
use crate::finding::{Finding, Fix, edit};
use crate::json::{Node, write_string};
use crate::maps::HashMap;
use crate::package::format::DEPENDENCY_KINDS;
use crate::package::reference::{is_declaration, prefix};

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for dependency in &facts.dependencies {
        let kind_known = kind(dependency, out);
        let form_known = form(dependency, out);
        let proposal_known = resolution(dependency, out);
        if dependency.kind == Some("channel") {
            channel(dependency, out);
        } else if kind_known {
            let consistent = detail(dependency, out);
            if consistent && form_known && proposal_known {
                proposal(dependency, out);
            }
        }
        if kind_known {
            ref_prefix(dependency, out);
        }
    }
    duplicates(facts, out);
}

fn kind(dependency: &Dependency<'_>, out: &mut Vec<Finding>) -> bool {
    let Some(node) = dependency.node.get("kind") else {
        return false;
    };
    let known = node
        .as_str()
        .is_some_and(|kind| DEPENDENCY_KINDS.contains(&kind));
    if !known {
        let message = format!(
            "there is no dependency kind {}",
            suggest::short_value(node.raw())
        );
        let word = node.as_str().unwrap_or_default();
        let kinds = DEPENDENCY_KINDS.iter().copied();
        out.push(Finding::at(&D001, node, message).meant(word, kinds, Misspelt::value(node)));
    }
    known
}

fn form(dependency: &Dependency<'_>, out: &mut Vec<Finding>) -> bool {
    let Some(node) = dependency.node.get("form") else {
        return false;
    };
    let known = matches!(node.as_str(), Some("uuid" | "name"));
    // A channel's form has a rule of its own.
    if !known && dependency.kind != Some("channel") {
        out.push(Finding::at(
            &D002,
            node,
            format!("there is no form {}", suggest::short_value(node.raw())),
        ));
    }
    known
}

fn resolution(dependency: &Dependency<'_>, out: &mut Vec<Finding>) -> bool {
    let Some(node) = dependency.node.get("resolution") else {
        return false;
    };
    match node.as_str() {
        Some("import" | "map") => return true,
        Some("skip") => out.push(Finding::at(&D004, node, "a package never proposes `skip`")),
        _ => out.push(Finding::at(
            &D003,
            node,
            format!(
                "there is no resolution {}",
                suggest::short_value(node.raw())
            ),
        )),
    }
    false
}

/// D005 and D006; whether both are silent.
fn detail(dependency: &Dependency<'_>, out: &mut Vec<Finding>) -> bool {
    if let Some(blueprint) = dependency
        .blueprint
        .filter(|_| dependency.kind != Some("feature"))
    {
        let message = format!(
            "a {} has no blueprint; only tables do",
            dependency.kind.unwrap_or("dependency")
        );
        out.push(Finding::at(&D006, blueprint, message));
        return false;
    }
    let Some(node) = dependency.node.get("detail") else {
        return true;
    };
    let actual = if dependency.blueprint.is_some() {
        "blueprint"
    } else {
        "identity"
    };
    if node.as_str() == Some(actual) {
        return true;
    }
    let message = match node.as_str() {
        Some("blueprint") => "`detail` is `blueprint`, but there is none",
        Some("identity") => "`detail` is `identity`, but there is a blueprint",
        _ => return false, // J005 speaks.
    };
    let mut finding = Finding::at(&D005, node, message);
    if let Some(blueprint) = dependency.blueprint {
        finding = finding.related(blueprint, "the blueprint");
    }
    out.push(finding);
    false
}

fn proposal(dependency: &Dependency<'_>, out: &mut Vec<Finding>) {
    let Some(node) = dependency.node.get("resolution") else {
        return;
    };
    let named = matches!(dependency.kind, Some("connection" | "timerProfile"))
        || dependency.form == Some("name");
    let (expected, why) = match (named, dependency.blueprint) {
        (true, _) => ("map", "things that go by name are mapped"),
        (false, Some(_)) => ("import", "there is a blueprint to import"),
        (false, None) => ("map", "there is no blueprint to import"),
    };
    let proposed = node.as_str().unwrap_or_default();
    if proposed != expected {
        let message = format!("the proposal is {}, but {why}", write_string(proposed));
        out.push(
            Finding::at(&D009, node, message)
                .help(format!("Propose `{expected}`."))
                .fix(Fix {
                    title: format!("Propose `{expected}`"),
                    safe: false,
                    edits: vec![edit::replace(node, write_string(expected))],
                }),
        );
    }
}

fn ref_prefix(dependency: &Dependency<'_>, out: &mut Vec<Finding>) {
    let (Some(node), Some(reference)) = (dependency.node.get("ref"), dependency.reference) else {
        return;
    };
    let expected = match dependency.kind {
        Some("connection") => "connection",
        Some("timerProfile") => "timerprofile",
        Some("channel" | "module") => "m",
        Some("feature") => "f",
        Some("view") => "v",
        Some("rail") => "r",
        _ => "w",
    };
    // A ref outside the grammar is I015's.
    if is_declaration(reference) && prefix(reference) != expected {
        let message = format!(
            "the ref of a {} begins with `{expected}_`, not {}",
            dependency.kind.unwrap_or_default(),
            write_string(reference)
        );
        out.push(Finding::at(&D010, node, message));
    }
}

fn channel(dependency: &Dependency<'_>, out: &mut Vec<Finding>) {
    let node = dependency.node;
    let say = |place: Node<'_>, message: &str| Finding::at(&D011, place, message);
    if let Some(form) = node
        .get("form")
        .filter(|form| form.as_str() != Some("uuid"))
    {
        out.push(say(form, "a channel's form is `uuid`"));
    }
    if let Some(required) = node
        .get("required")
        .filter(|required| required.as_bool() == Some(false))
    {
        out.push(say(required, "a channel is always required"));
    }
    if let Some(blueprint) = dependency.blueprint {
        out.push(say(blueprint, "a channel has no blueprint"));
    } else if let Some(detail) = node
        .get("detail")
        .filter(|detail| detail.as_str() == Some("blueprint"))
    {
        out.push(Finding::at(
            &D005,
            detail,
            "`detail` is not `identity`, but there is no blueprint",
        ));
    } else if dependency.form == Some("uuid")
        && let Some(resolution) = node
            .get("resolution")
            .filter(|r| r.as_str() == Some("import"))
    {
        out.push(
            Finding::at(
                &D009,
                resolution,
                "the proposal is \"import\", but channels are mapped",
            )
            .help("Propose `map`."),
        );
    }
    if let Some(members) = node
        .get("identity")
        .and_then(|identity| identity.get("members"))
    {
        out.push(say(members, "a channel's members never travel"));
    }
}

fn duplicates(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let mut seen: HashMap<&str, Node<'_>> = HashMap::default();
    for dependency in &facts.dependencies {
        let own = dependency.reference.zip(dependency.node.get("ref"));
        let columns = dependency
            .columns
            .iter()
            .filter_map(|c| c.reference.zip(c.node.get("ref")));
        for (reference, node) in own.into_iter().chain(columns) {
            if let Some(step) = facts.declaring_step(reference) {
                let finding =
                    Finding::at(&D008, node, format!("the plan declares `{reference}` too"));
                out.push(finding.related(facts.steps[step].node, "the step that declares it"));
            } else if let Some(first) = seen.get(reference) {
                let finding = Finding::at(
                    &D008,
                    node,
                    format!("`{reference}` stands for two dependencies"),
                );
                out.push(finding.related(*first, "the other one"));
            } else {
                seen.insert(reference, node);
            }
        }
    }
}
