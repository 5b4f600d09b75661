//! Laws of upgrades (`upgrade` 6): a package, the next one, and people's changes in between. The laws
//! are those of the test tools, which stores are held to as well. Each applies several times, so they are
//! tried on a fifth of the seeds.

use std::collections::BTreeMap;

use tplkit::workspace::ready;
use tplkit_testkit::upgrades::{InMemory, LAWS, Seen, Triple, failure, hold};

use crate::seeds::{Verdict, each_of};

fn law(name: &str, seed: u64) -> Verdict {
    let triple = Triple::of(seed);
    let law =
        |triple: Triple| Box::pin(async move { Box::pin(hold(name, &InMemory, &triple)).await });
    match ready(failure(&triple, law)) {
        None => Ok(()),
        Some(wrong) => Err(wrong),
    }
}

macro_rules! laws {
    ($($name:ident),+ $(,)?) => {
        $(#[test]
        fn $name() {
            each_of(5, |seed| law(stringify!($name), seed));
        })+

        #[test]
        fn every_law_is_tried() {
            assert_eq!([$(stringify!($name)),+], LAWS);
        }
    };
}

laws!(
    the_same_version_changes_nothing,
    untouched_it_is_a_fresh_apply,
    undone_it_is_as_before,
    nothing_has_drifted_after_it,
    refused_it_changes_nothing,
    killed_it_ends_as_not_killed,
    what_people_changed_stays_unless_decided,
    a_plain_apply_before_it_makes_no_difference,
    other_upgrades_before_it_make_no_difference,
);

/// Triples for which a law once did not hold.
const FAILED_ONCE: [(&str, &[u64]); 5] = [
    (
        "untouched_it_is_a_fresh_apply",
        &[844, 3629, 7345, 8540, 8945],
    ),
    ("undone_it_is_as_before", &[4146]),
    (
        "killed_it_ends_as_not_killed",
        &[607, 3854, 5142, 5159, 5352, 6523, 9883],
    ),
    (
        "what_people_changed_stays_unless_decided",
        &[3619, 3971, 6312, 6378, 8440],
    ),
    ("a_plain_apply_before_it_makes_no_difference", &[9543]),
];

#[test]
fn laws_hold_where_they_once_did_not() {
    for (name, seeds) in FAILED_ONCE {
        for seed in seeds {
            assert_eq!(law(name, *seed), Ok(()), "{name}: {seed}");
        }
    }
}

/// Each law meets triples that it is about, where decisions are taken with decisions.
#[test]
fn laws_are_about_something() {
    for law in LAWS {
        let decisions = [LAWS[2], LAWS[4], LAWS[5], LAWS[6]].contains(&law);
        let mut seen: BTreeMap<Seen, u32> = BTreeMap::new();
        let is_met = |seen: &BTreeMap<Seen, u32>| {
            let met = |seen_as: Seen| seen.get(&seen_as).copied().unwrap_or(0);
            let decided = met(Seen::Decided);
            met(Seen::Plain) + decided >= 10 && (!decisions || decided >= 5)
        };
        for seed in 0..60 {
            if is_met(&seen) {
                break;
            }
            if let Ok(met) = ready(Box::pin(hold(law, &InMemory, &Triple::of(seed)))) {
                *seen.entry(met).or_default() += 1;
            }
        }
        assert!(is_met(&seen), "{law}: {seen:#?}");
    }
}
