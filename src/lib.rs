//! tplkit

pub mod automation;
pub mod check;
pub mod contents;
pub mod context;
pub mod definitions;
pub mod graph;
pub mod json;
mod markup;
pub mod package;
pub mod rows;
pub mod starter;
