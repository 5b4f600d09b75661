//! Tests: who gets a permit, who waits, who is refused.

use std::time::Duration;

use futures_util::FutureExt as _;
use uuid::Uuid;

use super::{Busy, Lane, LaneKind, LanePermit, WaitLimits};

const LONG: Duration = Duration::from_secs(3600);

fn lane(places: usize, waiting: usize) -> Lane {
    Lane::new(
        LaneKind::Queries,
        places,
        WaitLimits {
            waiting,
            time: LONG,
        },
    )
}

fn organization(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// A permit that needs no waiting.
fn at_once(lane: &Lane, number: u128) -> Option<LanePermit> {
    let entered = lane.enter(organization(number)).now_or_never();
    entered.map(|entered| entered.expect("not busy"))
}

#[tokio::test]
async fn one_organization_holds_half_and_others_the_rest() {
    let lane = lane(4, 8);
    let held = [at_once(&lane, 1), at_once(&lane, 1)];
    assert!(held.iter().all(Option::is_some));
    assert!(at_once(&lane, 1).is_none(), "half is held");
    let other = [at_once(&lane, 2), at_once(&lane, 3)];
    assert!(other.iter().all(Option::is_some));
    assert!(at_once(&lane, 4).is_none(), "all is held");
    drop(held);
    assert!(at_once(&lane, 4).is_some());
}

#[tokio::test]
async fn a_lane_of_one_place_has_one() {
    let lane = lane(1, 8);
    let held = at_once(&lane, 1).expect("a place");
    assert!(at_once(&lane, 2).is_none());
    drop(held);
    assert!(at_once(&lane, 2).is_some());
}

#[tokio::test]
async fn who_holds_least_comes_first() {
    let lane = lane(4, 8);
    let [first, _second] = [at_once(&lane, 1), at_once(&lane, 1)];
    let [third, _fourth] = [at_once(&lane, 2), at_once(&lane, 2)];
    let mut more = Box::pin(lane.enter(organization(1)));
    let mut new = Box::pin(lane.enter(organization(3)));
    assert!((&mut more).now_or_never().is_none());
    assert!((&mut new).now_or_never().is_none());
    drop(first);
    let new = (&mut new).now_or_never().expect("is let in").expect("is");
    assert!(
        (&mut more).now_or_never().is_none(),
        "came first, holds one"
    );
    drop(third);
    assert!((&mut more).now_or_never().is_some());
    drop(new);
}

#[tokio::test]
async fn so_many_wait_for_one_organization_and_no_more() {
    let lane = lane(2, 2);
    let held = at_once(&lane, 1).expect("a place");
    assert!(!lane.is_full(organization(1)));
    let mut waiting = [1, 1].map(|number| Box::pin(lane.enter(organization(number))));
    for waiting in &mut waiting {
        assert!(waiting.now_or_never().is_none());
    }
    assert!(lane.is_full(organization(1)));
    let refused = lane.enter(organization(1)).now_or_never();
    assert_eq!(refused.expect("at once").map(drop), Err(Busy));
    // Nobody else is concerned.
    assert!(!lane.is_full(organization(2)));
    assert!(at_once(&lane, 2).is_some());
    // Who gives up makes room.
    drop(waiting);
    assert!(!lane.is_full(organization(1)));
    drop(held);
    assert!(at_once(&lane, 1).is_some());
}

#[tokio::test]
async fn a_place_that_is_granted_to_who_has_gone_is_not_lost() {
    let lane = lane(2, 2);
    let held = at_once(&lane, 1).expect("a place");
    let mut gone = Box::pin(lane.enter(organization(1)));
    assert!((&mut gone).now_or_never().is_none());
    drop(held);
    // It is granted by now, and was not looked at.
    drop(gone);
    assert!(at_once(&lane, 1).is_some());
}

#[tokio::test]
async fn who_waits_too_long_is_reported() {
    let patience = WaitLimits {
        waiting: 2,
        time: Duration::from_millis(1),
    };
    let lane = Lane::new(LaneKind::Queries, 2, patience);
    let _held = at_once(&lane, 1).expect("a place");
    assert_eq!(lane.enter(organization(1)).await.map(drop), Err(Busy));
    assert!(at_once(&lane, 1).is_none());
}
