//! What somebody decided about an upgrade (`upgrade` 3.5.3).

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use super::guard::digest;
use super::measured::{Measured, MeasuredLeaf};
use super::seen::SeenLeaves;
use crate::json::{Object, Value};

/// The word for a ref stands at this path.
pub const EVERYTHING: &str = "*";

/// Decisions by ref and path.
pub type Decisions = IndexMap<String, IndexMap<String, Decision>>;

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(inline, rename_all = "lowercase")
)]
pub enum Side {
    /// What the workspace has.
    Ours,
    /// What the package brings.
    Theirs,
}

impl Side {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Side::Ours => "ours",
            Side::Theirs => "theirs",
        }
    }

    /// The side of that word.
    pub fn parse(word: &str) -> Option<Side> {
        [Side::Ours, Side::Theirs]
            .into_iter()
            .find(|side| side.as_str() == word)
    }
}

/// What becomes of a record as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordDecision {
    /// It is the record that it is proposed to be.
    Rename,
    /// What people made is it.
    Adopt,
    /// It is created, although people have one of that name or removed it.
    Create,
    /// It goes.
    Delete,
    /// It stays away.
    Leave,
}

impl RecordDecision {
    const ALL: [RecordDecision; 5] = [
        RecordDecision::Rename,
        RecordDecision::Adopt,
        RecordDecision::Create,
        RecordDecision::Delete,
        RecordDecision::Leave,
    ];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            RecordDecision::Rename => "rename",
            RecordDecision::Adopt => "adopt",
            RecordDecision::Create => "create",
            RecordDecision::Delete => "delete",
            RecordDecision::Leave => "leave",
        }
    }

    /// What a text says.
    pub fn parse(word: &str) -> Option<RecordDecision> {
        RecordDecision::ALL
            .into_iter()
            .find(|known| known.as_str() == word)
    }
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What is taken.
    pub take: Take,
    /// The value of the destination that it was made against; null where that had none.
    pub ours: Option<Value>,
}

/// What is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Take {
    /// What one side has.
    Side(Side),
    /// A value in the words of the package.
    Value(Value),
    /// What becomes of a record as a whole.
    Word(RecordDecision),
}

impl Decision {
    /// As it stands in a request.
    pub fn to_value(&self) -> Value {
        let word = match &self.take {
            Take::Side(side) => Some(side.as_str()),
            Take::Word(word) => Some(word.as_str()),
            Take::Value(_) => None,
        };
        let mut members = Object::new();
        match (&self.take, word) {
            (Take::Value(value), _) => drop(members.insert("value".to_owned(), value.clone())),
            (_, Some(word)) if self.ours.is_none() => return word.into(),
            (_, word) => drop(members.insert("take".to_owned(), word.unwrap_or_default().into())),
        }
        match &self.ours {
            Some(Value::Null) => drop(members.insert("absent".to_owned(), true.into())),
            Some(value) => drop(members.insert("ours".to_owned(), value.clone())),
            None => {}
        }
        members.into()
    }
}

/// Refs and paths.
type LeafKeys = BTreeSet<(String, String)>;

fn lock<T>(keys: &Mutex<T>) -> MutexGuard<'_, T> {
    keys.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leaf_key(reference: &str, path: &str) -> (String, String) {
    (reference.to_owned(), path.to_owned())
}

/// Decisions, and which of them were of use.
#[derive(Debug)]
pub struct TrackedDecisions<'r> {
    decisions: &'r Decisions,
    conflicts: Option<Side>,
    measured: Option<&'r Measured>,
    used: Mutex<LeafKeys>,
    known: Mutex<LeafKeys>,
    /// Leaves that are asked about, although a decision was made when they were something else.
    asked_again: Mutex<LeafKeys>,
    /// Leaves at which somebody takes what nothing allows to take.
    losing: Mutex<LeafKeys>,
    /// Leaves at which somebody takes a value that cannot be written.
    unfit: Mutex<LeafKeys>,
    /// What the plan saw, of a job; people may have changed more since.
    planned: Option<&'r SeenLeaves>,
    /// Leaves that people have changed and that something decides about.
    seen: Mutex<SeenLeaves>,
}

/// What is decided about a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafDecision<'r> {
    /// Nothing.
    Nothing,
    /// It was made against another value than the one that stands now.
    Stale,
    /// That is taken.
    Take(&'r Take),
}

impl<'r> TrackedDecisions<'r> {
    /// Opens it.
    pub fn new(decisions: &'r Decisions, conflicts: Option<Side>) -> TrackedDecisions<'r> {
        TrackedDecisions {
            decisions,
            conflicts,
            measured: None,
            used: Mutex::default(),
            known: Mutex::default(),
            asked_again: Mutex::default(),
            losing: Mutex::default(),
            unfit: Mutex::default(),
            planned: None,
            seen: Mutex::default(),
        }
    }

    /// For a job: with what its plan saw. Of what people changed since no decision speaks.
    #[must_use]
    pub fn with_planned(self, planned: Option<&'r SeenLeaves>) -> TrackedDecisions<'r> {
        TrackedDecisions { planned, ..self }
    }

    /// Whether they are a job's, which carries out what was planned.
    pub fn is_of_job(&self) -> bool {
        self.planned.is_some()
    }

    /// Whether a decision may speak of a leaf that is not what its base says: the plan saw that value. A plan sees
    /// it now.
    pub fn sees(&self, reference: &str, path: &str, ours: &Value) -> bool {
        if let Some(planned) = self.planned {
            return planned.has(reference, path, ours);
        }
        lock(&self.seen).add(reference, path, ours);
        true
    }

    /// What was seen.
    pub fn take_seen(&self) -> SeenLeaves {
        std::mem::take(&mut *lock(&self.seen))
    }

    /// Whether a value is decided for any leaf of a ref.
    pub fn has_values(&self, reference: &str) -> bool {
        let mut of = self
            .decisions
            .get(reference)
            .into_iter()
            .flat_map(IndexMap::values);
        of.any(|decision| matches!(decision.take, Take::Value(_)))
    }

    /// Notes that the value that is decided for a leaf cannot be written.
    pub fn refuses_value(&self, reference: &str, path: &str) {
        lock(&self.unfit).insert(leaf_key(reference, path));
    }

    /// Whether the value that is decided for a leaf cannot be written.
    pub fn is_unfit(&self, reference: &str, path: &str) -> bool {
        lock(&self.unfit).contains(&leaf_key(reference, path))
    }

    /// With leaves that not all cells fit: somebody has to decide them.
    #[must_use]
    pub fn with_measured(self, measured: &'r Measured) -> TrackedDecisions<'r> {
        TrackedDecisions {
            measured: Some(measured),
            ..self
        }
    }

    /// What cells say against a leaf.
    pub fn measured(&self, reference: &str, path: &str) -> Option<&'r MeasuredLeaf> {
        self.measured?.get(reference, path)
    }

    /// Notes that a decision takes what nothing allows to take.
    pub fn loses(&self, reference: &str, path: &str) {
        lock(&self.losing).insert(leaf_key(reference, path));
    }

    /// Whether a decision does so.
    pub fn is_losing(&self, reference: &str, path: &str) -> bool {
        lock(&self.losing).contains(&leaf_key(reference, path))
    }

    fn entry(&self, reference: &str, path: &str) -> Option<(&'r str, &'r str, &'r Decision)> {
        let (reference, of) = self.decisions.get_key_value(reference)?;
        let (path, decision) = of.get_key_value(path)?;
        Some((reference, path, decision))
    }

    /// What is decided at the path of a leaf, which `ours` is now. `read` turns a value in the words of
    /// the package into one of the destination.
    pub fn at(
        &self,
        reference: &str,
        path: &str,
        ours: &Value,
        read: &dyn Fn(&Value) -> Value,
    ) -> LeafDecision<'r> {
        let Some((reference, path, decision)) = self.entry(reference, path) else {
            return LeafDecision::Nothing;
        };
        lock(&self.known).insert(leaf_key(reference, path));
        match &decision.ours {
            Some(made) if !is_still(made, ours, read) => LeafDecision::Stale,
            _ => LeafDecision::Take(&decision.take),
        }
    }

    /// Notes that there is such a leaf, whether anything comes of a decision about it.
    pub fn knows(&self, reference: &str, path: &str) {
        if let Some((reference, path, _)) = self.entry(reference, path) {
            lock(&self.known).insert(leaf_key(reference, path));
        }
    }

    /// Whether something is decided at the path of a leaf, whatever it was made against.
    pub fn decides(&self, reference: &str, path: &str) -> bool {
        self.takes(reference, path).is_some()
    }

    /// What is decided at the path of a leaf, whatever it was made against.
    pub fn takes(&self, reference: &str, path: &str) -> Option<&'r Take> {
        let (_, _, decision) = self.entry(reference, path)?;
        Some(&decision.take)
    }

    /// Notes that a decision at a path was of use.
    pub fn uses(&self, reference: &str, path: &str) {
        if let Some((reference, path, _)) = self.entry(reference, path) {
            lock(&self.known).insert(leaf_key(reference, path));
            lock(&self.used).insert(leaf_key(reference, path));
        }
    }

    /// Notes that a leaf is asked about once more: it is no more what a decision about it was made against.
    pub fn asks_again(&self, reference: &str, path: &str) {
        lock(&self.asked_again).insert(leaf_key(reference, path));
    }

    /// The side that is decided for everything that is asked about a ref, else about anything.
    pub fn side(&self, reference: &str) -> Option<Side> {
        match self.entry(reference, EVERYTHING) {
            Some((_, _, decision)) => match decision.take {
                Take::Side(side) => {
                    self.uses(reference, EVERYTHING);
                    Some(side)
                }
                _ => self.conflicts,
            },
            None => self.conflicts,
        }
    }

    /// The side for a ref alone: nothing wider decides about whole records.
    pub fn own_side(&self, reference: &str) -> Option<Side> {
        let (_, _, decision) = self.entry(reference, EVERYTHING)?;
        match decision.take {
            Take::Side(side) => {
                self.uses(reference, EVERYTHING);
                Some(side)
            }
            _ => None,
        }
    }

    /// Whether that word stands for a ref; then it was of use.
    pub fn says(&self, reference: &str, word: RecordDecision) -> bool {
        let stands = self
            .entry(reference, EVERYTHING)
            .is_some_and(|(_, _, decision)| decision.take == Take::Word(word));
        if stands {
            self.uses(reference, EVERYTHING);
        }
        stands
    }

    /// The word for a ref, used or not.
    pub fn word(&self, reference: &str) -> Option<RecordDecision> {
        match self.entry(reference, EVERYTHING)?.2.take {
            Take::Word(word) => Some(word),
            _ => None,
        }
    }

    /// For how many refs one of these words was of use.
    pub fn used_words(&self, words: &[RecordDecision]) -> usize {
        let used = lock(&self.used);
        let words = used.iter().filter(|(reference, path)| {
            let word = || self.word(reference);
            path == EVERYTHING && word().is_some_and(|word| words.contains(&word))
        });
        words.count()
    }

    /// Decisions that were of no use where nothing is asked, and whether anything is known at their place.
    pub fn unused(&self) -> Vec<(&'r str, &'r str, bool)> {
        let (used, known) = (lock(&self.used), lock(&self.known));
        let asked_again = lock(&self.asked_again);
        let all = self.decisions.iter().flat_map(|(reference, of)| {
            of.keys()
                .map(move |path| (reference.as_str(), path.as_str()))
        });
        let unused = all.filter(|(reference, path)| {
            let key = leaf_key(reference, path);
            !used.contains(&key) && !asked_again.contains(&key)
        });
        unused
            .map(|(reference, path)| (reference, path, known.contains(&leaf_key(reference, path))))
            .collect()
    }

    /// Everything that was of use.
    pub fn used(&self) -> usize {
        lock(&self.used).len()
    }
}

/// Whether what the package brings, or another value, is taken at a path of a ref.
pub fn takes_theirs(decisions: &Decisions, reference: &str, path: &str) -> bool {
    let of = decisions.get(reference);
    let decision = of.and_then(|of| of.get(path).or_else(|| of.get(EVERYTHING)));
    decision
        .is_some_and(|decision| matches!(decision.take, Take::Side(Side::Theirs) | Take::Value(_)))
}

fn is_still(made: &Value, ours: &Value, read: &dyn Fn(&Value) -> Value) -> bool {
    let of_digest = made.as_str().and_then(|text| text.strip_prefix("sha256:"));
    of_digest.is_some_and(|made| digest(&ours.write()) == made) || read(made) == *ours
}
