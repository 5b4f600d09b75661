//! The lines of a resolutions file that decide conflicts (`upgrade` 3.5.3, 3.7.4).

use std::collections::HashMap;
use std::fmt::Write as _;

use tplkit::apply::Preview;
use tplkit::finding::render::counted;
use tplkit::json::{Value, write_string};
use tplkit::upgrade::{
    Conflict, ConflictCode, Decision, EVERYTHING, RecordDecision, Side, Take, value_digest,
};
use tplkit::{printable, toml_text};

use super::{by_record, counted_cells, sides};
use crate::cli::item_titles::ItemTitles;

/// The part of a resolutions file that decides the conflicts of a plan: those that `decided` knows as
/// they were decided, the others as comments.
pub(crate) fn decisions_file(
    preview: &Preview,
    titles: &ItemTitles,
    decided: &dyn Fn(&Conflict) -> Option<Decision>,
) -> String {
    let words = RecordNames::of(preview);
    let mut out = String::new();
    let record = |conflict: &Conflict| (String::new(), conflict.reference.clone());
    for ((_, reference), conflicts) in by_record(&preview.conflicts, record) {
        let name = toml_text::string(&reference);
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(out, "\n[decisions.{name}]");
        for conflict in conflicts {
            let label = titles.label(&reference);
            one(&mut out, conflict, label, &words, decided(conflict));
        }
    }
    if preview.conflicts_more > 0 {
        let more = usize::try_from(preview.conflicts_more).unwrap_or(usize::MAX);
        let _ = writeln!(
            out,
            "# and {}: \"*\" = \"ours\" or \"theirs\" under a table decides about all of its cells",
            counted(more, "more cell")
        );
    }
    out
}

fn one(
    out: &mut String,
    conflict: &Conflict,
    label: Option<&str>,
    words: &RecordNames,
    decided: Option<Decision>,
) {
    let (of, code) = (super::about(conflict, label), conflict.code.as_str());
    let head = format!("# {of} ({code}){}", counted_cells(conflict));
    let _ = writeln!(out, "{}", printable::line(&head));
    for (side, value) in sides(conflict).into_iter().flatten() {
        let line = format!("# {side}: {value}");
        let _ = writeln!(out, "{}", printable::line(&line));
    }
    let mark = if decided.is_some() { "" } else { "# " };
    let choices = choices(conflict);
    let decision = decided.unwrap_or_else(|| words.decision(conflict, choices[0].clone()));
    let others: Vec<String> = choices[1..].iter().map(take_as_toml).collect();
    let others = match (mark, conflict.path.is_none(), others.is_empty()) {
        ("# ", true, false) => format!("  # or {}", others.join(" or ")),
        _ => String::new(),
    };
    let path = toml_text::string(decision_path(conflict));
    let decision = decision_as_toml(&decision);
    let _ = writeln!(out, "{mark}{path} = {decision}{others}");
}

/// Where the decision about a conflict stands.
pub(crate) fn decision_path(conflict: &Conflict) -> &str {
    conflict.path.as_deref().unwrap_or(EVERYTHING)
}

/// What can be decided about a conflict, what keeps most first.
pub(super) fn choices(conflict: &Conflict) -> Vec<Take> {
    match conflict.code {
        ConflictCode::NameTaken => vec![
            Take::Word(RecordDecision::Adopt),
            Take::Word(RecordDecision::Create),
        ],
        ConflictCode::RemovedHere => vec![
            Take::Word(RecordDecision::Leave),
            Take::Word(RecordDecision::Create),
        ],
        // What is repeated stays repeated.
        ConflictCode::UniqueRepeated => vec![Take::Side(Side::Ours)],
        _ => vec![Take::Side(Side::Ours), Take::Side(Side::Theirs)],
    }
}

fn take_as_toml(take: &Take) -> String {
    match take {
        Take::Side(side) => write_string(side.as_str()),
        Take::Word(word) => write_string(word.as_str()),
        Take::Value(value) => toml_text::line(value).unwrap_or_else(|| value.write()),
    }
}

/// A decision as a value of TOML.
fn decision_as_toml(decision: &Decision) -> String {
    let take = take_as_toml(&decision.take);
    match &decision.ours {
        None => take,
        Some(Value::Null) => format!("{{ take = {take}, absent = true }}"),
        Some(ours) => {
            // A decision is made against a value that TOML has, or against its digest.
            let ours = toml_text::line(ours).unwrap_or_else(|| ours.write());
            format!("{{ take = {take}, ours = {ours} }}")
        }
    }
}

/// Ids of records by the words that a package has for them.
pub(super) struct RecordNames(HashMap<String, String>);

impl RecordNames {
    /// Those of a plan.
    pub(super) fn of(preview: &Preview) -> RecordNames {
        let bound = preview.bind.iter();
        RecordNames(
            bound
                .map(|bound| (bound.id.to_string(), format!("${}", bound.reference)))
                .collect(),
        )
    }

    /// A decision about a conflict; about a leaf with the value that it is made against.
    pub(super) fn decision(&self, conflict: &Conflict, take: Take) -> Decision {
        let ours = match &conflict.ours {
            _ if conflict.path.is_none() => None,
            Value::Null => Some(Value::Null),
            ours => Some(match &conflict.ours_digest {
                // It is cut, and its digest stands for it.
                Some(digest) => digest.as_str().into(),
                // TOML has no null.
                None if toml_text::line(ours).is_none() => value_digest(ours),
                None => self.in_package_words(ours),
            }),
        };
        Decision { take, ours }
    }

    /// A value of the destination as a package holds it.
    fn in_package_words(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.0.get(text).unwrap_or(text).as_str().into(),
            Value::List(list) => {
                Value::List(list.iter().map(|one| self.in_package_words(one)).collect())
            }
            Value::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, one)| (key.clone(), self.in_package_words(one)));
                Value::Object(members.collect())
            }
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tplkit::json::Value;
    use tplkit::upgrade::{Conflict, Side, Take, value_digest};
    use tplkit::workspace::{Id, RecordKind};

    use super::{RecordNames, decision_as_toml};

    #[test]
    fn the_digest_stands_for_a_value_that_is_cut() {
        let values = ["a", "b", "long…"].map(Into::into);
        let mut conflict =
            Conflict::changed(RecordKind::Feature, "f_a", Id::nil(), "label", values);
        let words = RecordNames(HashMap::new());
        let line = |conflict: &Conflict| {
            decision_as_toml(&words.decision(conflict, Take::Side(Side::Ours)))
        };
        assert_eq!(line(&conflict), r#"{ take = "ours", ours = "long…" }"#);
        conflict.ours_digest = Some("sha256:ab".to_owned());
        assert_eq!(line(&conflict), r#"{ take = "ours", ours = "sha256:ab" }"#);
        conflict.ours_digest = None;
        conflict.ours = Value::parse(r#"{"a":[null]}"#).expect("JSON");
        let digest = value_digest(&conflict.ours).write();
        assert_eq!(
            line(&conflict),
            format!(r#"{{ take = "ours", ours = {digest} }}"#)
        );
    }
}
