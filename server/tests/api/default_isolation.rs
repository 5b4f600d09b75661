//! Races on a PostgreSQL whose transactions see one state from their beginning to their end, unless they say otherwise.

use super::members::{of_two_owners_who_leave_together_one_stays, seats_are_counted_in_a_race};
use super::rows::quota::a_quota_holds_in_a_race;
use super::rows::races::concurrent_merges_of_different_keys_all_survive;
use crate::stores::{Place, run};

/// A database with that default.
fn with_default(isolation: &str) -> Option<Place> {
    let place = Place::plain_postgres()?;
    let name = place.database_name();
    place.execute(&format!(
        "ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'"
    ));
    Some(place)
}

#[test]
fn seats_are_counted() {
    run(with_default("repeatable read"), seats_are_counted_in_a_race);
}

#[test]
fn one_owner_stays() {
    let place = with_default("repeatable read");
    run(place, of_two_owners_who_leave_together_one_stays);
}

#[test]
fn a_quota_holds() {
    run(with_default("repeatable read"), a_quota_holds_in_a_race);
}

#[test]
fn all_merges_survive() {
    for isolation in ["repeatable read", "serializable"] {
        let place = with_default(isolation);
        run(place, concurrent_merges_of_different_keys_all_survive);
    }
}
