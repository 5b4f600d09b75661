//! tplkit

pub mod automation;
pub mod check;
pub mod definitions;
pub mod json;
pub mod package;
pub mod rows;
