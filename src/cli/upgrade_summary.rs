//! What an upgrade does and asks, told for people: conflicts first, each with what writes its decision
//! down.

use std::collections::HashMap;
use std::fmt::Write as _;

use tplkit::apply::{NotCarried, Preview};
use tplkit::finding::render::counted;
use tplkit::json::{Value, write_string};
use tplkit::printable;
use tplkit::upgrade::{Conflict, ConflictCode, Kept, Update};

use super::apply_summary::section;

/// The parts of a plan about an upgrade.
pub(crate) fn upgrade(out: &mut String, preview: &Preview) {
    conflicts(out, preview);
    section(out, "Changed", &preview.update, |update: &Update| {
        let Update {
            kind,
            reference,
            path,
            before,
            after,
            ..
        } = update;
        format!(
            "{} {reference} {path}: {} -> {}",
            kind.as_str(),
            before.write(),
            after.write()
        )
    });
    section(
        out,
        "Stays as people made it",
        &preview.kept,
        |kept: &Kept| {
            let path = kept.path.as_deref().unwrap_or("(whole)");
            let because = serde_json::to_value(kept.because).unwrap_or_default();
            let because = because.as_str().unwrap_or_default().replace('_', " ");
            let (kind, ours) = (kept.kind.as_str(), kept.ours.write());
            format!("{kind} {} {path}: {ours} ({because})", kept.reference)
        },
    );
    section(
        out,
        "No longer in the package, and left",
        &preview.left,
        |left| {
            let goes = if left.delete { ": goes" } else { "" };
            format!(
                "{} {} ({}){goes}",
                left.kind.as_str(),
                left.reference,
                left.label
            )
        },
    );
    section(out, "Perhaps renamed", &preview.renames, |rename| {
        let (kind, reference) = (rename.kind.as_str(), &rename.reference);
        format!(
            "{kind} {} -> {reference}: decide `\"{reference}\" = \"rename\"`",
            rename.from
        )
    });
    section(out, "Decisions of no use", &preview.unused, |unused| {
        format!("{} {}", unused.reference, unused.path)
    });
}

/// What the package says and the destination does not get.
pub(crate) fn not_carried(out: &mut String, entries: &[NotCarried]) {
    section(
        out,
        "In the package, and not carried over",
        entries,
        |left| {
            let path = left.path.as_deref().unwrap_or("(whole)");
            let count = left.count.map_or(String::new(), |count| {
                format!(
                    " ({})",
                    counted(usize::try_from(count).unwrap_or(usize::MAX), "cell")
                )
            });
            let theirs = left.theirs.as_ref();
            let theirs = theirs.map_or(String::new(), |value| format!(": {}", value.write()));
            format!("{} {} {path}{theirs}{count}", left.kind, left.reference)
        },
    );
}

fn conflicts(out: &mut String, preview: &Preview) {
    if preview.conflicts.is_empty() {
        return;
    }
    let count = preview.conflicts.len();
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        out,
        "\n{}, to be decided in a resolutions file",
        counted(count, "conflict")
    );
    let bound = preview.bind.iter();
    let refs: HashMap<String, String> = bound
        .map(|bound| (bound.id.to_string(), format!("${}", bound.reference)))
        .collect();
    let mut table = None;
    for conflict in &preview.conflicts {
        if table != Some(&conflict.reference) {
            table = Some(&conflict.reference);
            let name = write_string(&conflict.reference);
            let _ = writeln!(out, "\n[decisions.{}]", printable::line(&name));
        }
        one(out, conflict, &refs);
    }
    if preview.conflicts_more > 0 {
        let _ = writeln!(out, "# and {} more cells", preview.conflicts_more);
    }
}

fn one(out: &mut String, conflict: &Conflict, refs: &HashMap<String, String>) {
    let code = conflict.code.as_str();
    let Some(path) = &conflict.path else {
        let words = match conflict.code {
            ConflictCode::NameTaken => "adopt\"  # or \"create",
            _ => "create\"  # or \"leave",
        };
        let _ = writeln!(out, "# {} ({code})\n# \"*\" = \"{words}\"", conflict.kind);
        return;
    };
    let sides = [
        ("base", &conflict.base),
        ("theirs", &conflict.theirs),
        ("ours", &conflict.ours),
    ];
    for (side, value) in sides {
        let value = if conflict.absent.iter().any(|absent| absent == side) {
            "(none)".to_owned()
        } else {
            value.write()
        };
        let line = format!("# {side}: {value}");
        let _ = writeln!(out, "{}", printable::line(&line));
    }
    let guard = match &conflict.ours {
        Value::Null => ", absent = true".to_owned(),
        Value::String(text) if text.ends_with('…') => String::new(),
        ours => toml(&in_package_words(ours, refs))
            .map_or(String::new(), |ours| format!(", ours = {ours}")),
    };
    let line = format!("# {} = {{ take = \"ours\"{guard} }}", write_string(path));
    let _ = writeln!(out, "{}", printable::line(&line));
}

/// A value of the destination as a package holds it.
fn in_package_words(value: &Value, refs: &HashMap<String, String>) -> Value {
    match value {
        Value::String(text) => refs.get(text).unwrap_or(text).as_str().into(),
        Value::List(list) => {
            Value::List(list.iter().map(|one| in_package_words(one, refs)).collect())
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, one)| (key.clone(), in_package_words(one, refs)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// A value in one line of TOML, which has no null.
fn toml(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::List(list) => {
            let list: Option<Vec<String>> = list.iter().map(toml).collect();
            format!("[{}]", list?.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members =
                members.map(|(key, one)| Some(format!("{} = {}", write_string(key), toml(one)?)));
            format!("{{ {} }}", members.collect::<Option<Vec<_>>>()?.join(", "))
        }
        other => other.write(),
    })
}
