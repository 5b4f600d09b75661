//! What a process asks that looks for work.

use std::thread;
use std::time::Duration;

use tplkit_server_testkit::citus;

use super::serve;
use super::tenant::others;
use crate::stores::Place;

/// However many organizations are noted, a process asks each worker once.
#[test]
fn a_look_asks_no_more_for_more_organizations() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::distributed(citus);
    others(&place, 400, 40);
    let _serving = serve(&place);
    let transactions = || -> i64 {
        let sql = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
        place.ask(sql).parse().expect("a number")
    };
    let in_a_while = || {
        let before = transactions();
        thread::sleep(Duration::from_secs(6));
        transactions() - before
    };
    thread::sleep(Duration::from_secs(2));
    let few = in_a_while();
    others(&place, 400, 400);
    let many = in_a_while();
    assert!(few > 10 && many < 2 * few, "{few} and {many}");
}
