//! Checks packages: a package in, findings out.

mod anomalies;
mod checked;
pub mod facts;
pub mod fix;
mod folder;
mod lost_files;
mod opened;
mod parallel;
mod promotion;
mod rows;
mod rules;
mod run;
pub(crate) mod sensitive;
#[cfg(test)]
mod test_support;

pub use checked::{Checked, NotChecked};
pub use folder::{FixedFolder, apply_fixes_to_folder, check_folder, promote_folder};
pub use opened::OpenedPackage;
pub use run::{CheckOptions, check, check_text, promote};
