//! The rule for one leaf (`upgrade` 3.4.1), and what a decision makes of it (3.5.3).

use super::decision::{LeafDecision, Side, Take, TrackedDecisions};
use super::list::merged;
use crate::json::Value;

/// What becomes of a leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LeafOutcome {
    /// Nothing: it is what the package says, or nobody changed it.
    Same,
    /// It becomes that value.
    Written(Value),
    /// It stays although the package says otherwise.
    Kept {
        /// Because somebody decided so; else because the package did not change it.
        decided: bool,
    },
    /// Somebody has to decide.
    Conflict,
}

/// What the rule alone makes of base, theirs and ours.
pub(crate) fn natural([base, theirs, ours]: &[Value; 3], list: bool) -> LeafOutcome {
    if theirs == ours {
        return LeafOutcome::Same;
    }
    if base == theirs {
        return LeafOutcome::Kept { decided: false };
    }
    if base == ours {
        return LeafOutcome::Written(theirs.clone());
    }
    // Where people took the list away there is none that could be merged.
    if !list || *ours == Value::Null {
        return LeafOutcome::Conflict;
    }
    let [base, theirs, own] = [base, theirs, ours].map(|side| side.as_list().unwrap_or_default());
    match merged(base, theirs, own) {
        // A list without elements is none where there was none.
        Some(list) if list.as_slice() == own => LeafOutcome::Same,
        Some(list) => LeafOutcome::Written(list.into()),
        None => LeafOutcome::Conflict,
    }
}

/// A leaf that is decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecidedLeaf<'p> {
    /// The ref of the record.
    pub reference: &'p str,
    /// The path of the leaf.
    pub path: &'p str,
    /// Whether it merges by element.
    pub list: bool,
}

/// What becomes of a leaf with what somebody decided; `read` turns a value in the words of the package
/// into one of the destination.
pub(crate) fn verdict(
    leaf: DecidedLeaf<'_>,
    values: &[Value; 3],
    tracked: &TrackedDecisions<'_>,
    read: &dyn Fn(&Value) -> Value,
) -> LeafOutcome {
    let natural = natural(values, leaf.list);
    // Of what the cells do not fit nothing is taken that nobody has decided.
    let measured = tracked.measured(leaf.reference, leaf.path);
    let written = matches!(natural, LeafOutcome::Written(_));
    let needs_decision = natural == LeafOutcome::Conflict || (measured.is_some() && written);
    let decided = decided(leaf, values, tracked, read, needs_decision, written);
    match decided {
        Some(decided) if speaks(leaf, values, tracked) => decided,
        _ if needs_decision => LeafOutcome::Conflict,
        _ => natural,
    }
}

/// Whether a decision speaks of what people made of a leaf, and not of what they made of it since.
fn speaks(leaf: DecidedLeaf<'_>, values: &[Value; 3], tracked: &TrackedDecisions<'_>) -> bool {
    let [base, _, ours] = values;
    base == ours || tracked.sees(leaf.reference, leaf.path, ours)
}

/// What somebody decided about a leaf; nothing where nobody did.
fn decided(
    leaf: DecidedLeaf<'_>,
    [_, theirs, ours]: &[Value; 3],
    tracked: &TrackedDecisions<'_>,
    read: &dyn Fn(&Value) -> Value,
    needs_decision: bool,
    written: bool,
) -> Option<LeafOutcome> {
    let measured = tracked.measured(leaf.reference, leaf.path);
    let take_it = |after: Value| match measured {
        Some(measured) if !measured.may_be_taken => {
            tracked.loses(leaf.reference, leaf.path);
            LeafOutcome::Conflict
        }
        _ => LeafOutcome::Written(after),
    };
    let take = match tracked.at(leaf.reference, leaf.path, ours, read) {
        LeafDecision::Take(take) => take,
        LeafDecision::Nothing if needs_decision => {
            let side = match measured {
                Some(_) => tracked.own_side(leaf.reference),
                None => tracked.side(leaf.reference),
            };
            return side.map(|side| match side {
                Side::Ours => LeafOutcome::Kept { decided: true },
                Side::Theirs => take_it(theirs.clone()),
            });
        }
        // Nothing wider decides where a decision does not hold any more: that is asked again.
        LeafDecision::Stale if needs_decision => {
            tracked.asks_again(leaf.reference, leaf.path);
            return None;
        }
        LeafDecision::Nothing | LeafDecision::Stale => return None,
    };
    let used = || tracked.uses(leaf.reference, leaf.path);
    match take {
        Take::Side(Side::Theirs) if theirs != ours => {
            used();
            Some(take_it(theirs.clone()))
        }
        Take::Side(Side::Ours) if needs_decision || written => {
            used();
            Some(LeafOutcome::Kept { decided: true })
        }
        Take::Value(_) if tracked.is_unfit(leaf.reference, leaf.path) => {
            used();
            Some(LeafOutcome::Conflict)
        }
        Take::Value(value) if theirs != ours => {
            used();
            Some(match read(value) {
                value if value == *ours => LeafOutcome::Kept { decided: true },
                value => take_it(value),
            })
        }
        _ => None,
    }
}

/// What becomes of a leaf that nobody may be shown: nothing but what is decided for its ref, or for everything,
/// decides about it.
pub(crate) fn unseen(
    leaf: DecidedLeaf<'_>,
    values: &[Value; 3],
    tracked: &TrackedDecisions<'_>,
) -> LeafOutcome {
    let natural = natural(values, false);
    let [_, theirs, _] = values;
    if natural != LeafOutcome::Conflict {
        return natural;
    }
    match tracked.side(leaf.reference) {
        Some(side) if speaks(leaf, values, tracked) => match side {
            Side::Ours => LeafOutcome::Kept { decided: true },
            Side::Theirs => LeafOutcome::Written(theirs.clone()),
        },
        _ => LeafOutcome::Conflict,
    }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::{DecidedLeaf, LeafOutcome, natural, unseen, verdict};
    use crate::json::Value;
    use crate::upgrade::SeenLeaves;
    use crate::upgrade::decision::{Decision, Decisions, Side, Take, TrackedDecisions};

    fn value(text: &str) -> Value {
        Value::parse(text).expect("JSON")
    }

    const KEPT: LeafOutcome = LeafOutcome::Kept { decided: false };
    const DECIDED: LeafOutcome = LeafOutcome::Kept { decided: true };

    fn written(text: &str) -> LeafOutcome {
        LeafOutcome::Written(value(text))
    }

    /// base, theirs, ours.
    fn values(sides: [&str; 3]) -> [Value; 3] {
        sides.map(value)
    }

    #[test]
    fn three_way_rule_table() {
        for (sides, expected) in [
            // B = N: D stays.
            (["1", "1", "1"], LeafOutcome::Same),
            (["1", "1", "2"], KEPT),
            (["1", "1", "null"], KEPT),
            // B = D ≠ N: N is written.
            (["1", "2", "1"], written("2")),
            (["null", "2", "null"], written("2")),
            (["1", "null", "1"], written("null")),
            // D = N: nothing.
            (["1", "2", "2"], LeafOutcome::Same),
            (["1", "null", "null"], LeafOutcome::Same),
            // All three differ.
            (["1", "2", "3"], LeafOutcome::Conflict),
            (["1", "2", "null"], LeafOutcome::Conflict),
            (["null", "2", "3"], LeafOutcome::Conflict),
            (
                [r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":1,"b":1}"#],
                LeafOutcome::Conflict,
            ),
        ] {
            assert_eq!(natural(&values(sides), false), expected, "{sides:?}");
        }
    }

    #[test]
    fn lists_of_references_merge() {
        for (sides, expected) in [
            (["[1,2]", "[1,2,3]", "[2,1]"], written("[2,3,1]")),
            (["[1,2,3]", "[1,3]", "[1,2,3,4]"], written("[1,3,4]")),
            // What they took out people took out too: nothing is left to do.
            (["[1,2]", "[1]", "[1]"], LeafOutcome::Same),
            (["[1,2,3]", "[1,2]", "[2,1]"], LeafOutcome::Same),
            (["[1,2,3]", "[3,2,1]", "[2,1,3]"], LeafOutcome::Conflict),
            (["null", "[1]", "[2]"], written("[1,2]")),
            // People took the whole list away.
            (["[1,2]", "[1,2,3]", "null"], LeafOutcome::Conflict),
            (["[1,2]", "[1,2,3]", "[]"], written("[3]")),
        ] {
            assert_eq!(natural(&values(sides), true), expected, "{sides:?}");
        }
    }

    /// What a leaf comes to with decisions, and those that were of no use.
    fn decided(
        sides: [&str; 3],
        decisions: &[(&str, Decision)],
        conflicts: Option<Side>,
    ) -> (LeafOutcome, usize) {
        let of = decisions.iter();
        let of: IndexMap<String, Decision> = of
            .map(|(path, decision)| ((*path).to_owned(), decision.clone()))
            .collect();
        let decisions = Decisions::from_iter([("f_a".to_owned(), of)]);
        let tracked = TrackedDecisions::new(&decisions, conflicts);
        let leaf = DecidedLeaf {
            reference: "f_a",
            path: "label",
            list: false,
        };
        let verdict = verdict(leaf, &values(sides), &tracked, &Value::clone);
        (verdict, tracked.unused().len())
    }

    fn side(side: Side) -> Decision {
        Decision {
            take: Take::Side(side),
            ours: None,
        }
    }

    fn against(take: Take, ours: &str) -> Decision {
        Decision {
            take,
            ours: Some(value(ours)),
        }
    }

    const CONFLICT: [&str; 3] = ["1", "2", "3"];

    #[test]
    fn leaf_before_ref_before_everything() {
        let (ours, theirs) = (side(Side::Ours), side(Side::Theirs));
        let label = |decision: &Decision| ("label", decision.clone());
        let all = |decision: &Decision| ("*", decision.clone());
        for (decisions, conflicts, expected) in [
            (vec![], None, LeafOutcome::Conflict),
            (vec![], Some(Side::Ours), DECIDED),
            (vec![], Some(Side::Theirs), written("2")),
            (vec![all(&ours)], Some(Side::Theirs), DECIDED),
            (vec![all(&theirs)], None, written("2")),
            (
                vec![label(&theirs), all(&ours)],
                Some(Side::Ours),
                written("2"),
            ),
            (vec![label(&ours), all(&theirs)], None, DECIDED),
        ] {
            assert_eq!(decided(CONFLICT, &decisions, conflicts).0, expected);
        }
    }

    #[test]
    fn the_wider_words_decide_what_is_asked_alone() {
        for (sides, expected) in [(["1", "2", "1"], written("2")), (["1", "1", "2"], KEPT)] {
            for word in [Side::Ours, Side::Theirs] {
                let decisions = [("*", side(word))];
                assert_eq!(
                    decided(sides, &decisions, Some(word)),
                    (expected.clone(), 1)
                );
            }
        }
    }

    #[test]
    fn a_decision_at_the_leaf_counts_where_it_can_change_something() {
        let value = |text: &str| Decision {
            take: Take::Value(value(text)),
            ours: None,
        };
        for (sides, decision, expected, unused) in [
            // `theirs` takes back what people changed.
            (["1", "1", "2"], side(Side::Theirs), written("1"), 0),
            (["1", "2", "2"], side(Side::Theirs), LeafOutcome::Same, 1),
            (["1", "2", "1"], side(Side::Ours), DECIDED, 0),
            (["1", "1", "2"], side(Side::Ours), KEPT, 1),
            (["1", "2", "2"], side(Side::Ours), LeafOutcome::Same, 1),
            (CONFLICT, value("9"), written("9"), 0),
            (["1", "1", "2"], value("9"), written("9"), 0),
            (["1", "1", "2"], value("2"), DECIDED, 0),
            (["1", "2", "2"], value("9"), LeafOutcome::Same, 1),
        ] {
            let found = decided(sides, &[("label", decision.clone())], None);
            assert_eq!(found, (expected, unused), "{sides:?} {decision:?}");
        }
    }

    #[test]
    fn a_decision_holds_while_the_value_stands_that_it_was_made_against() {
        let ours = Take::Side(Side::Ours);
        let theirs = Take::Side(Side::Theirs);
        assert_eq!(
            decided(CONFLICT, &[("label", against(ours.clone(), "3"))], None),
            (DECIDED, 0)
        );
        // Nothing wider decides for it.
        let stale = [
            ("label", against(ours.clone(), "4")),
            ("*", side(Side::Ours)),
        ];
        assert_eq!(
            decided(CONFLICT, &stale, Some(Side::Ours)),
            (LeafOutcome::Conflict, 1)
        );
        // Where nothing would be asked it is of no use.
        let again = [("label", against(theirs.clone(), "3"))];
        assert_eq!(decided(["1", "1", "2"], &again, None), (KEPT, 1));
        let absent = [("label", against(theirs, "null"))];
        assert_eq!(
            decided(["1", "2", "null"], &absent, None),
            (written("2"), 0)
        );
        assert_eq!(decided(CONFLICT, &absent, None), (LeafOutcome::Conflict, 0));
    }

    #[test]
    fn in_a_job_decisions_speak_of_what_the_plan_saw() {
        let decisions = Decisions::default();
        let leaf = DecidedLeaf {
            reference: "f_a",
            path: "label",
            list: false,
        };
        let decided = |sides: [&str; 3], planned: &SeenLeaves| {
            let tracked = TrackedDecisions::new(&decisions, Some(Side::Theirs));
            let tracked = tracked.with_planned(Some(planned));
            let values = values(sides);
            let seen = verdict(leaf, &values, &tracked, &Value::clone);
            assert_eq!(seen, unseen(leaf, &values, &tracked));
            seen
        };
        let planning = TrackedDecisions::new(&decisions, Some(Side::Theirs));
        verdict(leaf, &values(CONFLICT), &planning, &Value::clone);
        let planned = planning.take_seen();
        assert_eq!(decided(CONFLICT, &planned), written("2"));
        assert_eq!(decided(["1", "2", "4"], &planned), LeafOutcome::Conflict);
        // Nobody has changed it.
        let nothing = SeenLeaves::default();
        assert_eq!(decided(["1", "2", "1"], &nothing), written("2"));
        assert_eq!(decided(CONFLICT, &nothing), LeafOutcome::Conflict);
    }

    #[test]
    fn in_a_job_a_decision_at_the_leaf_takes_back_what_the_plan_saw_alone() {
        let of = IndexMap::from_iter([("label".to_owned(), side(Side::Theirs))]);
        let decisions = Decisions::from_iter([("f_a".to_owned(), of)]);
        let nothing = SeenLeaves::default();
        let tracked = TrackedDecisions::new(&decisions, None).with_planned(Some(&nothing));
        let leaf = DecidedLeaf {
            reference: "f_a",
            path: "label",
            list: false,
        };
        let found = verdict(leaf, &values(["1", "1", "2"]), &tracked, &Value::clone);
        assert_eq!(found, KEPT);
    }
}
