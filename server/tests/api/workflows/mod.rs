//! Automations over HTTP: their versions, their states, the verdicts about them.

mod cases;
mod issues;
mod random;
mod refusals;
mod states;

pub(crate) use tplkit_server_testkit::workflows::{
    PATH, body, graph, path, steps, switch, text, workflow,
};
