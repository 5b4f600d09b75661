//! Reads the decisions about an upgrade (`upgrade` 3.5.1, 3.5.3).

use indexmap::IndexMap;

use super::read::{Reader, path_of};
use crate::finding::suggest::short_value;
use crate::json::{Node, Value};
use crate::upgrade::{Decision, Decisions, EVERYTHING, RecordDecision, SeenLeaves, Side, Take};
use crate::workspace::Id;

/// How an upgrade is to be made, beyond the options of every apply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(default, rename_all = "camelCase")
)]
pub struct UpgradeTerms {
    /// Whether the package may be of a lower version than the base.
    pub allow_downgrade: bool,
    /// Whether decisions may lose cells and rows.
    pub allow_destructive: bool,
    /// The job that it starts from; that of the newest line without it.
    pub base_job: Option<Id>,
    /// What is taken where both sides changed something and nothing narrower is decided.
    pub conflicts: Option<Side>,
    /// What is decided, by ref and path.
    #[cfg_attr(
        feature = "schemas",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub decisions: Decisions,
    /// What the plan of a job saw of leaves that people had changed; nothing outside of jobs. It is not part of what
    /// somebody asks for.
    #[cfg_attr(feature = "schemas", schemars(skip))]
    pub planned: Option<SeenLeaves>,
    /// Members that were given without an upgrade and say nothing.
    #[cfg_attr(feature = "schemas", schemars(skip))]
    pub empty: Vec<&'static str>,
}

impl UpgradeTerms {
    /// The members of a request that say it.
    pub(super) const MEMBERS: [&'static str; 5] = [
        "allowDowngrade",
        "allowDestructive",
        "baseJob",
        "conflicts",
        "decisions",
    ];

    /// The members that say something else than what is so anyway.
    pub(in crate::apply) fn members(&self) -> Vec<(&'static str, Value)> {
        let mut members = Vec::new();
        if self.allow_downgrade {
            members.push(("allowDowngrade", true.into()));
        }
        if self.allow_destructive {
            members.push(("allowDestructive", true.into()));
        }
        if let Some(job) = self.base_job {
            members.push(("baseJob", job.to_string().into()));
        }
        if let Some(side) = self.conflicts {
            members.push(("conflicts", side.as_str().into()));
        }
        if !self.decisions.is_empty() {
            let of = |of: &IndexMap<String, Decision>| {
                let paths = of.iter();
                let paths = paths.map(|(path, decision)| (path.clone(), decision.to_value()));
                Value::Object(paths.collect())
            };
            let refs = self.decisions.iter();
            let refs = refs.map(|(reference, paths)| (reference.clone(), of(paths)));
            members.push(("decisions", Value::Object(refs.collect())));
        }
        members
    }

    /// The members that were given, whatever they say.
    pub(in crate::apply) fn given(&self) -> impl Iterator<Item = &'static str> {
        let says = self.members();
        let is_given = move |name: &&'static str| {
            self.empty.contains(name) || says.iter().any(|(said, _)| said == name)
        };
        UpgradeTerms::MEMBERS.into_iter().filter(is_given)
    }

    /// Notes which members of a request say nothing: without an upgrade they are refused like all others.
    pub(super) fn note_empty(&mut self, request: Node<'_>) {
        let said = self.members();
        let is_empty = |name: &&'static str| {
            request.get(name).is_some() && said.iter().all(|(said, _)| said != name)
        };
        self.empty = UpgradeTerms::MEMBERS.into_iter().filter(is_empty).collect();
    }

    /// Reads one of them.
    pub(super) fn read(&mut self, reader: &mut Reader, member: Node<'_>) {
        match member.key().unwrap_or_default() {
            "allowDowngrade" => self.allow_downgrade = reader.flag(member).unwrap_or_default(),
            "allowDestructive" => self.allow_destructive = reader.flag(member).unwrap_or_default(),
            "baseJob" => self.base_job = reader.id(member),
            "conflicts" => {
                let side = reader.word(member, &["ours", "theirs"]);
                self.conflicts = side.and_then(Side::parse);
            }
            _ => {
                let read = |reader: &mut Reader, member: Node<'_>| paths(reader, member);
                self.decisions = reader.by_ref(member, "a thing", read);
            }
        }
    }
}

/// What is decided under a ref: the word for it, or an object by path.
fn paths(reader: &mut Reader, node: Node<'_>) -> Option<IndexMap<String, Decision>> {
    if !node.is_object() {
        let decision = decision(reader, node)?;
        return Some(IndexMap::from_iter([(EVERYTHING.to_owned(), decision)]));
    }
    let mut read = IndexMap::new();
    for member in node.members() {
        let path = member.key().unwrap_or_default();
        let Some(decision) = decision(reader, member) else {
            continue;
        };
        if let (true, Take::Word(word)) = (path != EVERYTHING, &decision.take) {
            reader.unknown_word(member, word.as_str());
            continue;
        }
        if path == EVERYTHING && matches!(decision.take, Take::Value(_)) {
            reader.wrong(member, "a word: it speaks of all that is asked there");
            continue;
        }
        read.insert(path.to_owned(), decision);
    }
    Some(read)
}

fn decision(reader: &mut Reader, node: Node<'_>) -> Option<Decision> {
    if !node.is_object() {
        let take = take(reader, node)?;
        return Some(Decision { take, ours: None });
    }
    let mut read = Decision {
        take: Take::Side(Side::Ours),
        ours: None,
    };
    let (mut given, mut made_against) = (0, 0);
    for member in node.members() {
        match member.key().unwrap_or_default() {
            "take" => {
                given += 1;
                read.take = Take::Side(side(reader, node, member)?);
            }
            "value" => {
                given += 1;
                read.take = Take::Value(value(member));
            }
            "ours" => {
                made_against += 1;
                read.ours = Some(value(member));
            }
            "absent" if member.as_bool() == Some(true) => {
                made_against += 1;
                read.ours = Some(Value::Null);
            }
            "absent" => {
                reader.wrong(member, "true, or leave it out");
                return None;
            }
            _ => {
                reader.unknown(member, &["take", "value", "ours", "absent"]);
                return None;
            }
        }
    }
    if given != 1 {
        let at = path_of(node);
        let detail = format!("`{at}` has to say either `take` or `value`.");
        reader.about(node, &detail);
        return None;
    }
    if made_against > 1 {
        let at = path_of(node);
        let detail = format!(
            "`{at}` has both `ours` and `absent`. Give the value that it was made against, or say that there was none."
        );
        reader.about(node, &detail);
        return None;
    }
    Some(read)
}

/// The side that an object takes.
fn side(reader: &mut Reader, node: Node<'_>, member: Node<'_>) -> Option<Side> {
    let side = member.as_str().and_then(Side::parse);
    if side.is_none() {
        let (at, taken) = (path_of(node), short_value(member.raw()));
        let detail = format!(
            "`{at}` takes {taken}. Give `ours` or `theirs`; a word for a whole thing stands alone, as in `\"<ref>\" = \"rename\"`."
        );
        reader.about(node, &detail);
    }
    side
}

fn take(reader: &mut Reader, node: Node<'_>) -> Option<Take> {
    let text = node.as_str().unwrap_or_default();
    if let Some(side) = Side::parse(text) {
        return Some(Take::Side(side));
    }
    if let Some(word) = RecordDecision::parse(text) {
        return Some(Take::Word(word));
    }
    reader.wrong(
        node,
        "`ours`, `theirs` or `{ value = … }`; of a whole thing also `rename`, `adopt`, `create`, `delete`, `leave`",
    );
    None
}

fn value(node: Node<'_>) -> Value {
    Value::read(node).unwrap_or_default()
}
