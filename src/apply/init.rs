//! Writes a resolutions file with the proposals of the package, and comments that help to decide
//! otherwise.
//!
//! Reading the file back gives the proposals. A dependency that only a person can decide is
//! commented out.

use std::fmt::Write as _;

use indexmap::IndexMap;

use super::Resolution;
use super::suggest::{Candidate, suggest};
use crate::check::Checked;
use crate::finding::render::counted;
use crate::package::model::{Dependency, DependencyForm};
use crate::package::size;
use crate::workspace::{Id, Structure};
use crate::{printable, toml_text};

/// Choices shown for one dependency.
const MAX_CHOICES: usize = 5;

/// The text of a resolutions file (TOML), with what the destination offers when one is given. What
/// is decided already is there as decided, the rest as proposed.
pub fn init(
    package: &Checked<'_>,
    destination: Option<&Structure>,
    decided: &IndexMap<String, Resolution>,
) -> String {
    let mut out = String::from(
        "# What becomes of everything that the package uses and does not carry.\n\
         # `import` creates it from its blueprint, `map` takes what the destination has, `skip` empties every use.\n\n\
         # Whether rows are written at all; false wins over every rows mode.\nincludeRows = true\n",
    );
    let suggestions = destination
        .map(|destination| suggest(package, destination))
        .unwrap_or_default();
    let layers = package.manifest.layers();
    for dependency in layers.map_or(&[][..], |layers| &layers.dependencies) {
        let candidates = suggestions
            .iter()
            .find(|found| found.reference == dependency.reference);
        let candidates = candidates.map_or(&[][..], |found| &found.candidates);
        decision_text(&mut out, package, dependency, candidates, destination);
        match decided.get(&dependency.reference) {
            Some(resolution) => decision(&mut out, dependency, resolution),
            None => proposal(&mut out, dependency),
        }
    }
    modes(&mut out, package);
    out
}

fn decision_text(
    out: &mut String,
    package: &Checked<'_>,
    dependency: &Dependency,
    candidates: &[Candidate],
    destination: Option<&Structure>,
) {
    let identity = &dependency.identity;
    let label = identity.label.as_deref().unwrap_or(&identity.name);
    let required = if dependency.required {
        "required"
    } else {
        "optional"
    };
    out.push('\n');
    comment(
        out,
        &format!(
            "{} {label:?} ({}), {required}",
            dependency.kind.noun(),
            identity.name
        ),
    );
    comment(out, &dependency.description);
    for used in &dependency.used_by {
        let items = package.manifest.items().iter();
        let item = items.clone().find(|item| item.uid == used.uid);
        let item = item.map_or("the workspace", |item| &item.label);
        comment(
            out,
            &format!("used by {item}, {}: {}", used.path, used.reason),
        );
    }
    for column in identity.columns.iter().flatten() {
        let text = format!(
            "column {}: {:?} ({}), {}",
            column.reference, column.label, column.name, column.column_type
        );
        comment(out, &text);
    }
    let by_name = dependency.form == DependencyForm::Name;
    let blueprint = dependency.blueprint.is_some();
    let choices: &[&str] = match (blueprint, by_name) {
        (true, _) => &["import", "map", "skip"],
        (false, _) => &["map", "skip"],
    };
    let proposed = choices.first().copied().unwrap_or_default();
    comment(
        out,
        &format!("proposed: {proposed}; choices: {}", choices.join(", ")),
    );
    if destination.is_some() && candidates.is_empty() {
        comment(out, "the destination has nothing like it");
    }
    for candidate in candidates.iter().take(MAX_CHOICES) {
        let text = format!(
            "candidate {} {:?}, {} of 100: {}",
            candidate.id, candidate.name, candidate.score, candidate.reason
        );
        comment(out, &text);
        for (reference, id) in &candidate.columns {
            comment(
                out,
                &format!(
                    "  columns.{reference} = {}",
                    toml_text::string(&id.to_string())
                ),
            );
        }
        let expected = left_empty(package, dependency, candidate, destination);
        if !expected.is_empty() {
            let names: Vec<String> = expected
                .iter()
                .map(|name| toml_text::string(name))
                .collect();
            let names = names.join(", ");
            let text = format!(
                "  leaveEmpty = [{names}]: required there, and rows of the package have nothing for it"
            );
            comment(out, &text);
        }
    }
}

/// Required columns of a table that rows of the package would leave empty.
fn left_empty<'d>(
    package: &Checked<'_>,
    dependency: &Dependency,
    candidate: &Candidate,
    destination: Option<&'d Structure>,
) -> Vec<&'d str> {
    let mut payloads = package.payloads.iter();
    let id = Id::try_parse(&candidate.id).ok();
    let feature = id.zip(destination);
    let feature = feature.and_then(|(id, destination)| destination.feature(id));
    let Some(feature) =
        feature.filter(|_| payloads.any(|entry| entry.feature_ref == dependency.reference))
    else {
        return Vec::new();
    };
    let columns = feature.columns.iter();
    let expected = columns.filter(|column| column.is_required() && !column.is_identity());
    expected
        .filter(|column| !candidate.columns.values().any(|id| *id == column.id))
        .map(|column| column.name.as_str())
        .collect()
}

/// Writes the decision about one dependency.
fn decision(out: &mut String, dependency: &Dependency, resolution: &Resolution) {
    // Writing into a string cannot fail, here and below.
    let _ = writeln!(out, "[resolutions.{}]", dependency.reference);
    let _ = match resolution {
        Resolution::Import => writeln!(out, "action = \"import\""),
        Resolution::Skip => writeln!(out, "action = \"skip\""),
        Resolution::Map { id, .. } => {
            writeln!(out, "action = \"map\"\nid = {}", toml_text::string(id))
        }
    };
    if let Resolution::Map {
        columns,
        leave_empty,
        ..
    } = resolution
    {
        for (reference, id) in columns {
            let _ = writeln!(
                out,
                "columns.{reference} = {}",
                toml_text::string(&id.to_string())
            );
        }
        if !leave_empty.is_empty() {
            let names: Vec<String> = leave_empty
                .iter()
                .map(|name| toml_text::string(name))
                .collect();
            let _ = writeln!(out, "leaveEmpty = [{}]", names.join(", "));
        }
    }
}

/// What the package proposes for a dependency; nothing where only a person can decide.
pub fn proposed(dependency: &Dependency) -> Option<Resolution> {
    if dependency.blueprint.is_some() {
        return Some(Resolution::Import);
    }
    (dependency.form == DependencyForm::Name).then(|| Resolution::Map {
        id: dependency.identity.name.clone(),
        columns: IndexMap::new(),
        leave_empty: Vec::new(),
    })
}

/// What the package proposes: a decision where the proposal is one.
fn proposal(out: &mut String, dependency: &Dependency) {
    if let Some(resolution) = proposed(dependency) {
        return decision(out, dependency, &resolution);
    }
    let (reference, what) = (&dependency.reference, dependency.kind.noun());
    let _ = writeln!(
        out,
        "# To be decided:\n# [resolutions.{reference}]\n# action = \"map\"\n# id = \"the id of the {what}\""
    );
    for column in dependency.identity.columns.iter().flatten() {
        comment(
            out,
            &format!("columns.{} = \"the id of its column\"", column.reference),
        );
    }
}

fn modes(out: &mut String, package: &Checked<'_>) {
    if package.payloads.is_empty() {
        return;
    }
    out.push_str(
        "\n# Which rows enter: `all`, those whose key is `missingByKey`, or `none`.\n[rowsModes]\n",
    );
    for entry in &package.payloads {
        let count = size::elements(entry.rows);
        let key = entry.key_column.as_deref().filter(|_| entry.key_unique);
        let key = key.map_or_else(
            || "no verified key, so no `missingByKey`".to_owned(),
            |key| format!("key {key:?}"),
        );
        comment(out, &format!("{}, {key}", counted(count, "row")));
        comment(out, &format!("{} = \"all\"", entry.feature_ref));
    }
}

/// A comment: text of a package has line breaks and controls that would end it, and marks that would let
/// it read as what it is not.
fn comment(out: &mut String, text: &str) {
    out.push_str("# ");
    out.push_str(printable::line(text).trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::init;
    use crate::apply::test_packages::{Pack, checked, furnished};
    use crate::apply::{Request, Resolution};
    use crate::check::Checked;
    use crate::package::model::DependencyForm;

    /// What a package proposes.
    fn proposals(package: &Checked<'_>) -> Request {
        let mut request = Request::default();
        let layers = package.manifest.layers();
        for dependency in layers.map_or(&[][..], |layers| &layers.dependencies) {
            let proposal = match (&dependency.blueprint, dependency.form) {
                (Some(_), _) => Resolution::Import,
                (None, DependencyForm::Name) => Resolution::Map {
                    id: dependency.identity.name.clone(),
                    columns: indexmap::IndexMap::new(),
                    leave_empty: Vec::new(),
                },
                (None, DependencyForm::Uuid) => continue,
            };
            request
                .resolutions
                .insert(dependency.reference.clone(), proposal);
        }
        request
    }

    #[test]
    fn what_is_written_reads_back_as_the_proposals() {
        for (name, text) in crate::apply::test_packages::packages() {
            let package = checked(&text);
            for destination in [None, Some(furnished())] {
                let file = init(&package, destination.as_ref(), &IndexMap::new());
                let request = Request::from_toml(&file);
                let request =
                    request.unwrap_or_else(|refusals| panic!("{name}: {refusals:?}\n{file}"));
                assert_eq!(request, proposals(&package), "{name}");
            }
        }
    }

    #[test]
    fn a_file_says_what_has_to_be_known() {
        let pack = Pack::new()
            .table("t")
            .far_table("clients", &["id"], false, &[(1000, "config.x")])
            .far("connection", "connection_q", "name", "a \"q\"\n\u{7f}", &[]);
        let text = pack.text();
        let package = Checked::trusted(&text).expect("a package");
        let file = init(&package, Some(&furnished()), &IndexMap::new());
        for line in [
            "# table \"clients\" (clients), required",
            "# The table that the column links to.",
            "# used by t, config.x: r",
            "# column c_clients_id: \"id\" (id), text",
            "# proposed: map; choices: map, skip",
            "# [resolutions.f_clients]",
            "# columns.c_clients_id = \"the id of its column\"",
            "[resolutions.connection_q]",
            "id = \"a \\\"q\\\"\\n\\U0000007f\"",
        ] {
            assert!(file.lines().any(|found| found == line), "{line}\n{file}");
        }
        assert!(
            file.contains("100 of 100: same name and label; 1 of 1 columns fit"),
            "{file}"
        );
        assert_eq!(
            Request::from_toml(&file).expect("a request"),
            proposals(&package)
        );
    }
}
