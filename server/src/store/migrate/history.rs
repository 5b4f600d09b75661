//! Compares the recorded migrations of a store with those of this program.
//!
//! Each is recorded with the digest of its text. A store that other texts brought to the same
//! number would fail later, in the middle of a request, so it is refused at the start. This module
//! does no I/O.

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::migration::Migration;
use crate::store::StoreError;

/// A migration as a store has recorded it.
#[derive(Debug)]
pub(super) struct RecordedMigration {
    pub(super) number: i64,
    pub(super) name: String,
    pub(super) digest: String,
}

/// A migration of this program for one of the two stores.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) number: i64,
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) digest: String,
}

impl Step {
    /// Of a migration, with the text that the store takes.
    pub(super) fn of(migration: &Migration, text: &'static str) -> Step {
        Step {
            number: migration.number,
            name: migration.name,
            text,
            digest: digest(text),
        }
    }
}

/// SHA-256 of a migration's text, in hex.
fn digest(text: &str) -> String {
    format!("{:x}", Bytes::copy_from_slice(&Sha256::digest(text)))
}

/// What has to be done yet, when what was done is the beginning of what this program does. Both are in
/// the order of their numbers.
pub(super) fn pending(
    recorded: &[RecordedMigration],
    steps: impl IntoIterator<Item = Step>,
) -> Result<Vec<Step>, StoreError> {
    let mut steps: Vec<Step> = steps.into_iter().collect();
    let known = steps.last().map_or(0, |last| last.number);
    if let Some(newest) = recorded.last()
        && newest.number > known
    {
        return Err(StoreError::Newer {
            found: newest.number,
            known,
        });
    }
    for (index, recorded) in recorded.iter().enumerate() {
        let same = steps.get(index).is_some_and(|step| {
            (step.number, step.name, &step.digest)
                == (recorded.number, recorded.name.as_str(), &recorded.digest)
        });
        if !same {
            return Err(StoreError::OtherMigration(recorded.name.clone()));
        }
    }
    steps.drain(..recorded.len());
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::{RecordedMigration, Step, digest, pending};
    use crate::store::StoreError;

    fn steps() -> Vec<Step> {
        [(1, "0001_one"), (2, "0002_two"), (3, "0003_three")]
            .map(|(number, name)| Step {
                number,
                name,
                text: name,
                digest: digest(name),
            })
            .to_vec()
    }

    fn recorded(numbers: &[usize]) -> Vec<RecordedMigration> {
        let steps = steps();
        let of = |number: &usize| RecordedMigration {
            number: steps[number - 1].number,
            name: steps[number - 1].name.to_owned(),
            digest: steps[number - 1].digest.clone(),
        };
        numbers.iter().map(of).collect()
    }

    fn left(recorded: &[RecordedMigration]) -> Result<Vec<i64>, StoreError> {
        let pending = pending(recorded, steps())?;
        Ok(pending.iter().map(|step| step.number).collect())
    }

    #[test]
    fn what_is_recorded_is_not_done_again() {
        assert_eq!(left(&[]), Ok(vec![1, 2, 3]));
        assert_eq!(left(&recorded(&[1])), Ok(vec![2, 3]));
        assert_eq!(left(&recorded(&[1, 2, 3])), Ok(Vec::new()));
    }

    #[test]
    fn another_text_name_or_order_is_refused() {
        let other = |change: &dyn Fn(&mut RecordedMigration)| {
            let mut recorded = recorded(&[1, 2]);
            change(&mut recorded[1]);
            left(&recorded)
        };
        let refused = |name: &str| Err(StoreError::OtherMigration(name.to_owned()));
        assert_eq!(
            other(&|two| two.digest = digest("0002_two ")),
            refused("0002_two")
        );
        assert_eq!(
            other(&|two| two.name = "0002_also".to_owned()),
            refused("0002_also")
        );
        assert_eq!(left(&recorded(&[1, 3])), refused("0003_three"));
        assert_eq!(left(&recorded(&[2])), refused("0002_two"));
    }

    #[test]
    fn a_newer_store_is_newer_whatever_else_it_is() {
        let mut recorded = recorded(&[1, 2, 3]);
        recorded[0].digest.clear();
        recorded[2].number = 4;
        let newer = StoreError::Newer { found: 4, known: 3 };
        assert_eq!(left(&recorded), Err(newer));
    }
}
