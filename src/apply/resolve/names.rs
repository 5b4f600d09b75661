//! Finds free technical names: a taken name gets `_2`, `_3` and so on.

use std::collections::HashSet;

use crate::package::name;

/// Names for new records in one parent, given those that are taken there.
///
/// Whoever can keep the own name keeps it; the others get numbers that no one of them wants.
pub(super) fn unique_names(
    wanted: &[&str],
    taken: impl IntoIterator<Item = String>,
) -> Vec<String> {
    let mut taken: HashSet<String> = taken.into_iter().collect();
    let kept: Vec<bool> = wanted
        .iter()
        .map(|name| taken.insert((*name).to_owned()))
        .collect();
    wanted
        .iter()
        .zip(kept)
        .map(|(name, kept)| {
            if kept {
                return (*name).to_owned();
            }
            let mut number = 2u64;
            loop {
                let candidate = numbered(name, number);
                if taken.insert(candidate.clone()) {
                    return candidate;
                }
                number += 1;
            }
        })
        .collect()
}

fn numbered(name: &str, number: u64) -> String {
    let suffix = format!("_{number}");
    let base: String = name.chars().take(name::MAX_CHARS - suffix.len()).collect();
    format!("{base}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::unique_names;
    use crate::package::name::fault;

    fn taken(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn free_names_stay_and_taken_ones_are_numbered() {
        assert_eq!(
            unique_names(&["a", "b"], taken(&["b", "b_2"])),
            ["a", "b_3"]
        );
    }

    #[test]
    fn nobody_is_given_a_name_that_another_one_brings() {
        assert_eq!(unique_names(&["a", "a_2"], taken(&["a"])), ["a_3", "a_2"]);
        assert_eq!(
            unique_names(&["a", "a", "a_2"], taken(&[])),
            ["a", "a_3", "a_2"]
        );
    }

    #[test]
    fn numbers_fit_into_63_characters() {
        let long = "é".repeat(63);
        let other = format!("{}x", "é".repeat(62));
        let chosen = unique_names(&[&long, &other], taken(&[&long, &other]));
        assert_eq!(chosen[0], format!("{}_2", "é".repeat(61)));
        assert_eq!(chosen[1], format!("{}_3", "é".repeat(61)));
        assert!(chosen.iter().all(|name| fault(name).is_none()));
    }
}
