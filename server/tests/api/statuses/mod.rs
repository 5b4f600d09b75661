//! What the table of operations promises is what comes back: every status that it lists for an
//! operation is reached here, with its code, on both stores, and no other.
//!
//! The refusals that every operation has are made from the table itself, and so are most requests; what
//! has to be known about single operations stands in `stage` and `conflicts`. An operation that
//! nobody taught the test about fails it. That no other test sees a status which is not listed is
//! seen to by its client.

mod conflicts;
mod order;
mod refusals;
mod stage;

use std::collections::BTreeMap;

use tplkit_server::api::operations::OPERATIONS;
use tplkit_server::call::operation::Operation;

use super::client::Response;
use crate::stores::{Place, on_both_stores};
use stage::Stage;

on_both_stores!(every_status_of_every_operation_is_reached);

/// What was reached of one operation: the code of each status, empty for successes.
#[derive(Debug, Default)]
struct ReachedDatabase(BTreeMap<u16, String>);

impl ReachedDatabase {
    fn note(&mut self, operation: &Operation, response: &Response) {
        let code = if response.status < 400 {
            String::new()
        } else {
            response.code()
        };
        let listed = operation.all_statuses().contains(&response.status);
        assert!(listed, "{operation:?} promises no such thing: {response:?}");
        self.0.insert(response.status, code);
    }
}

async fn every_status_of_every_operation_is_reached(place: Place) {
    let stage = Stage::new(place).await;
    let mut never = Vec::new();
    for operation in &OPERATIONS {
        let mut reached = ReachedDatabase::default();
        for response in refusals::of(&stage, operation).await {
            reached.note(operation, &response);
        }
        for response in stage.successes(operation).await {
            reached.note(operation, &response);
        }
        if let Some(response) = conflicts::of(&stage, operation).await {
            reached.note(operation, &response);
        }
        for status in operation.all_statuses() {
            if !reached.0.contains_key(&status) {
                never.push(format!("{operation:?} {status}"));
            }
        }
    }
    assert!(never.is_empty(), "listed and never reached: {never:#?}");
}
