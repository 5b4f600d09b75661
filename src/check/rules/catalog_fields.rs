//! M001 to M004, M006 and M007: the catalog identity and instants.

use crate::check::facts::{Facts, Version};
use crate::finding::catalog::{M001, M002, M003, M004, M006, M007};
use crate::finding::suggest::{self, Misspelt};
use crate::finding::{Finding, Rule};
use crate::json::Node;
use crate::maps::HashMap;
use crate::package::format::{MANIFEST, Type, catalog_fields};
use crate::package::semver::is_semver;

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let manifest = facts.manifest;
    word(manifest, "scope", &M001, out);
    word(manifest, "visibility", &M002, out);
    if let Some(version) = manifest.get("semver")
        && version.as_str().is_none_or(|text| !is_semver(text))
    {
        let message = format!(
            "{} is not a semantic version",
            suggest::short_value(version.raw())
        );
        out.push(Finding::at(&M003, version, message));
    }
    let source = manifest
        .get("source")
        .filter(|_| facts.version == Version::Two);
    let metadata = facts.plan.and_then(|plan| plan.get("metadata"));
    for holder in source.into_iter().chain(metadata) {
        if let Some(instant) = holder.get("generatedAt")
            && !instant.as_str().is_some_and(is_instant)
        {
            let message = format!(
                "{} is not an instant with a zone",
                suggest::short_value(instant.raw())
            );
            out.push(Finding::at(&M004, instant, message));
        }
    }
    variables(manifest, out);
    missing_identity(manifest, out);
}

fn word(manifest: Node<'_>, key: &str, rule: &'static Rule, out: &mut Vec<Finding>) {
    let Some(value) = manifest.get(key) else {
        return;
    };
    let Some(Type::OneOf(words)) = MANIFEST.field(key).map(|field| field.ty) else {
        return;
    };
    if !value.as_str().is_some_and(|word| words.contains(&word)) {
        let message = format!("there is no {key} {}", suggest::short_value(value.raw()));
        let word = value.as_str().unwrap_or_default();
        let finding = Finding::at(rule, value, message);
        out.push(finding.meant(word, words.iter().copied(), Misspelt::value(value)));
    }
}

fn is_instant(text: &str) -> bool {
    crate::rows::is_instant(text)
}

fn variables(manifest: Node<'_>, out: &mut Vec<Finding>) {
    let mut seen: HashMap<&str, Node<'_>> = HashMap::default();
    for variable in manifest
        .get("variables")
        .into_iter()
        .flat_map(Node::elements)
    {
        let Some(key) = variable.get("key") else {
            continue;
        };
        let Some(text) = key.as_str() else { continue };
        if let Some(first) = seen.get(text) {
            let finding = Finding::at(
                &M006,
                key,
                format!("the key `{text}` is used by an earlier variable"),
            );
            out.push(finding.related(*first, "the earlier variable"));
        } else {
            seen.insert(text, key);
        }
    }
}

fn missing_identity(manifest: Node<'_>, out: &mut Vec<Finding>) {
    let lacking: Vec<&str> = ["name", "label"]
        .into_iter()
        .filter(|key| {
            manifest
                .get(key)
                .is_none_or(|value| value.as_str() == Some(""))
        })
        .collect();
    let present = catalog_fields().any(|field| {
        manifest.get(field.key).is_some() && lacking.iter().any(|key| *key != field.key)
    });
    if lacking.is_empty() || !present {
        return;
    }
    // An empty value is its own place; an absent one is the manifest's.
    let place = lacking.iter().find_map(|key| manifest.get(key));
    let names = lacking
        .iter()
        .map(|key| format!("`{key}`"))
        .collect::<Vec<_>>()
        .join(" and ");
    out.push(Finding::at(
        &M007,
        place.unwrap_or(manifest),
        format!("the catalog entry has no {names}"),
    ));
}
