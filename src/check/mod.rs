//! Checking: a package goes in, findings come out.

#[cfg(test)]
mod changed;
mod checked;
pub mod facts;
pub mod fix;
mod promotion;
mod rows;
mod rules;
mod run;
pub mod sensitive;

pub use checked::{Checked, NotChecked};
pub use run::{CheckOptions, check, check_text, promote};
