//! Rows of features.

pub mod unique;
