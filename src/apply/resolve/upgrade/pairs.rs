//! Which record of the base each thing of the package is (`upgrade` 3.2).

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::base::Base;
use crate::apply::resolve::bind::kind_of;
use crate::apply::resolve::earlier::Earlier;
use crate::apply::resolve::steps::{Steps, Work, text_in, used_in};
use crate::definitions::Definitions;
use crate::json::{Object, Value};
use crate::package::reference::used;
use crate::upgrade::{Book, Rename, Word};
use crate::workspace::{Id, RecordKind, Structure, Thing};

/// What becomes of a thing of the package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::apply::resolve) enum Fate {
    /// It is new.
    New,
    /// The destination has it.
    Here(Thing),
    /// People removed it.
    Gone(Thing),
    /// People removed it, and it is created once more.
    Again(Thing),
    /// People made it, and it counts as the package's from now on.
    Adopted(Thing),
    /// Its parent stays away, and it with it.
    Nowhere,
}

/// The fates of all things.
#[derive(Debug, Default)]
pub(in crate::apply::resolve) struct Pairs {
    fates: HashMap<String, Fate>,
    /// Records of the base that some ref of the package stands for.
    claimed: HashSet<Id>,
    /// Pairs that may be one thing under a new name.
    pub(super) renames: Vec<Rename>,
    /// New things whose name a record of people has.
    pub(super) taken: Vec<(String, Thing)>,
    /// New things that cannot be without something that people removed and that stays away, with the refs of that.
    pub(super) barred: HashMap<String, String>,
}

struct Pairing<'a> {
    steps: &'a Steps<'a>,
    base: &'a Base,
    destination: &'a Structure,
    earlier: &'a Earlier<'a>,
    book: &'a Book<'a>,
    definitions: &'a Definitions,
    /// Refs that the package has, with their kinds.
    refs: HashSet<(&'a str, RecordKind)>,
}

impl Pairs {
    /// Pairs them.
    pub(in crate::apply::resolve) fn of(
        steps: &Steps<'_>,
        base: &Base,
        destination: &Structure,
        earlier: &Earlier<'_>,
        book: &Book<'_>,
        definitions: &Definitions,
    ) -> Pairs {
        let refs = steps
            .all
            .iter()
            .filter_map(|work| Some((work.step.reference.as_deref()?, kind_of(work.step.tool)?)));
        let pairing = Pairing {
            steps,
            base,
            destination,
            earlier,
            book,
            definitions,
            refs: refs.collect(),
        };
        let mut decided: HashMap<String, Id> = HashMap::new();
        loop {
            let mut pairs = pairing.pass(&decided);
            pairs.renames = pairing.renames(&pairs);
            // What is inside a renamed table is paired once that is.
            let mut found = pairs.renames.iter();
            match found.find(|rename| book.says(&rename.reference, Word::Rename)) {
                Some(rename) => drop(decided.insert(rename.reference.clone(), rename.id)),
                None => return pairs,
            }
        }
    }

    /// What becomes of what a ref stands for.
    pub(in crate::apply::resolve) fn fate(&self, reference: &str) -> &Fate {
        self.fates.get(reference).unwrap_or(&Fate::New)
    }

    /// Whether some ref of the package stands for a record of the base.
    pub(super) fn claims(&self, id: Id) -> bool {
        self.claimed.contains(&id)
    }
}

impl<'a> Pairing<'a> {
    fn pass(&self, renamed: &HashMap<String, Id>) -> Pairs {
        let mut pairs = Pairs::default();
        for work in &self.steps.all {
            let (Some(kind), Some(reference)) =
                (kind_of(work.step.tool), work.step.reference.as_deref())
            else {
                continue;
            };
            if work.blueprint {
                continue;
            }
            let parent = work
                .step
                .tool
                .parent_argument()
                .and_then(|argument| used_in(&work.step.args, argument));
            let above = parent.map(|parent| pairs.fate(parent).clone());
            let known = self.known(work, (kind, reference), above.as_ref(), renamed, &pairs);
            let barred = || self.barred_by(work, kind, &pairs).map(str::to_owned);
            let bar = known.is_none().then(barred).flatten();
            let fate = match known {
                Some(thing) => {
                    pairs.claimed.insert(thing.id);
                    self.paired(reference, thing, above.as_ref())
                }
                None => match bar {
                    Some(bar) => {
                        pairs.barred.insert(reference.to_owned(), bar);
                        Fate::Nowhere
                    }
                    None => self.fate_of_new(work, (kind, reference), above.as_ref(), &mut pairs),
                },
            };
            pairs.fates.insert(reference.to_owned(), fate);
        }
        pairs
    }

    /// The record of the base that a thing is.
    fn known(
        &self,
        work: &Work<'_>,
        (kind, reference): (RecordKind, &str),
        above: Option<&Fate>,
        renamed: &HashMap<String, Id>,
        pairs: &Pairs,
    ) -> Option<&'a Thing> {
        if let Some(id) = renamed.get(reference) {
            return self.base.get(*id).map(|based| &based.thing);
        }
        let parent = match above {
            Some(Fate::Here(parent) | Fate::Gone(parent) | Fate::Again(parent)) => Some(parent.id),
            // What is inside an adopted table was never the package's before.
            Some(Fate::New | Fate::Nowhere | Fate::Adopted(_)) => return None,
            None => None,
        };
        let inside = |thing: &&Thing| thing.parent == parent;
        if let Some(thing) = self.base.named(reference, kind) {
            return Some(thing).filter(inside);
        }
        let name = text_in(&work.step.args, "name");
        let mut all = self.base.all().filter(|based| {
            let own = (based.reference.as_str(), based.thing.kind);
            !self.refs.contains(&own) && !pairs.claimed.contains(&based.thing.id)
        });
        let found = all.find(|based| {
            let thing = &based.thing;
            thing.kind == kind && based.package_name() == name && inside(&thing)
        });
        found.map(|based| &based.thing)
    }

    /// The fate of a thing that the base has.
    fn paired(&self, reference: &str, thing: &Thing, above: Option<&Fate>) -> Fate {
        let (kind, id) = (thing.kind, thing.id);
        match above {
            Some(Fate::Gone(_)) => Fate::Gone(thing.clone()),
            Some(Fate::Again(_)) => Fate::Again(thing.clone()),
            _ => match Thing::find(self.destination, kind, id) {
                Some(here) if here.parent == thing.parent => Fate::Here(here),
                _ if self.book.says(reference, Word::Create) => Fate::Again(thing.clone()),
                _ => Fate::Gone(thing.clone()),
            },
        }
    }

    /// What a new thing has to name and that stays away, because somebody decided so.
    fn barred_by<'w>(&self, work: &Work<'w>, kind: RecordKind, pairs: &Pairs) -> Option<&'w str> {
        let args = &work.step.args;
        let config = args.get("config");
        let object = match config {
            Some(Value::List(objects)) => objects.first(),
            config => config,
        };
        let own_type = text_in(args, "type");
        let fields: Vec<_> = match kind {
            RecordKind::View => {
                let known = self.definitions.view_types.get(own_type);
                let fields = known.into_iter().flat_map(|known| &known.config);
                fields.map(|(name, field)| (name.as_str(), field)).collect()
            }
            RecordKind::Column => {
                let component = text_in(args, "defaultComponent");
                let fields = self.definitions.column_fields(own_type, component);
                fields.unwrap_or_default()
            }
            _ => return None,
        };
        let required = fields.into_iter().filter(|(_, field)| field.is_required());
        let mut named = required.filter_map(|(name, _)| used(object?.get(name)?.as_str()?));
        named.find(|reference| self.is_left(reference, pairs))
    }

    /// Whether somebody decided that something which people removed stays away, on its own or with what it was
    /// in.
    fn is_left(&self, reference: &str, pairs: &Pairs) -> bool {
        if pairs.barred.contains_key(reference) {
            return true;
        }
        let left = |reference: &str| {
            matches!(pairs.fate(reference), Fate::Gone(_) | Fate::Nowhere)
                && self.book.word(reference) == Some(Word::Leave)
        };
        let parent = self.steps.creating(reference).and_then(|step| {
            let argument = step.tool.parent_argument()?;
            used_in(&step.args, argument)
        });
        left(reference) || parent.is_some_and(left)
    }

    /// The fate of a thing that the base does not have.
    fn fate_of_new(
        &self,
        work: &Work<'_>,
        (kind, reference): (RecordKind, &str),
        above: Option<&Fate>,
        pairs: &mut Pairs,
    ) -> Fate {
        let (parent, adopts) = match above {
            Some(Fate::Here(parent)) => (Some(parent.id), false),
            Some(Fate::Adopted(parent)) => (Some(parent.id), true),
            Some(Fate::New | Fate::Again(_)) => return Fate::New,
            Some(Fate::Gone(_) | Fate::Nowhere) => return Fate::Nowhere,
            None => (None, false),
        };
        // What a blueprint made is an item by now.
        let made = self.earlier.made(reference, kind, parent, self.destination);
        let made = made.and_then(|(made, _)| Thing::find(self.destination, kind, made.id));
        if let Some(made) = made.filter(|made| self.base.get(made.id).is_none()) {
            return Fate::Adopted(made);
        }
        // The name of an automation is free text.
        if matches!(kind, RecordKind::Workflow | RecordKind::Workspace) {
            return Fate::New;
        }
        let args = &work.step.args;
        let same = |thing: &Thing| {
            thing.name == text_in(args, "name")
                && of_type(args, kind) == thing.own_type.as_deref()
                && self.base.get(thing.id).is_none()
        };
        let siblings = Thing::siblings(self.destination, kind, parent);
        let Some(theirs) = siblings.into_iter().find(same) else {
            return Fate::New;
        };
        if adopts || self.book.says(reference, Word::Adopt) {
            return Fate::Adopted(theirs);
        }
        if !self.book.says(reference, Word::Create) {
            pairs.taken.push((reference.to_owned(), theirs));
        }
        Fate::New
    }

    /// Pairs of one that is gone from the package and one that is new in it.
    fn renames(&self, pairs: &Pairs) -> Vec<Rename> {
        type Group = (RecordKind, Option<Id>, Option<String>);
        let mut new: IndexMap<Group, Vec<&str>> = IndexMap::new();
        for work in self.steps.all.iter().filter(|work| !work.blueprint) {
            let (Some(kind), Some(reference)) =
                (kind_of(work.step.tool), work.step.reference.as_deref())
            else {
                continue;
            };
            if *pairs.fate(reference) != Fate::New {
                continue;
            }
            let args = &work.step.args;
            let parent = work.step.tool.parent_argument();
            let parent = match parent.and_then(|argument| used_in(args, argument)) {
                None => None,
                Some(parent) => match pairs.fate(parent) {
                    Fate::Here(parent) => Some(parent.id),
                    _ => continue,
                },
            };
            let group = (kind, parent, of_type(args, kind).map(str::to_owned));
            new.entry(group).or_default().push(reference);
        }
        let gone = |(kind, parent, own_type): &Group| -> Vec<_> {
            let all = self.base.all().filter(|based| {
                let thing = &based.thing;
                (thing.kind, &thing.parent, &thing.own_type) == (*kind, parent, own_type)
                    && !pairs.claims(thing.id)
                    && Thing::find(self.destination, *kind, thing.id).is_some()
            });
            all.collect()
        };
        let renames = new.iter().filter_map(|(group, refs)| {
            let (&[reference], &[from]) = (refs.as_slice(), gone(group).as_slice()) else {
                return None;
            };
            Some(Rename {
                kind: group.0,
                reference: reference.to_owned(),
                from: from.reference.clone(),
                id: from.thing.id,
            })
        });
        renames.collect()
    }
}

fn of_type(args: &Object, kind: RecordKind) -> Option<&str> {
    match kind {
        RecordKind::Column | RecordKind::View => Some(text_in(args, "type")),
        _ => None,
    }
}
