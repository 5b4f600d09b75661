//! The catalog: every rule, in the order in which they are listed and reported.
//!
//! Code, name and severity are stable for readers of reports; the page of each rule
//! (`pages/<code>-<name>.md`) explains it and holds the examples that the tests run.

/// The page of a rule. Those who check in a browser read it elsewhere: there its bytes would be most of
/// what is loaded in vain.
macro_rules! page {
    ($path:literal) => {
        if cfg!(target_arch = "wasm32") {
            ""
        } else {
            include_str!($path)
        }
    };
}

mod automation;
mod dependency;
mod file;
mod item;
mod leak;
mod manifest;
mod payload;
mod plan;
mod promotion;
mod unresolved;

use crate::finding::Rule;

pub use automation::*;
pub use dependency::*;
pub use file::*;
pub use item::*;
pub use leak::*;
pub use manifest::*;
pub use payload::*;
pub use plan::*;
pub use promotion::*;
pub use unresolved::*;

/// All rules.
pub static RULES: &[&Rule] = &[
    &J001, &J002, &J003, &J004, &J005, &J006, &J007, &J008, &J009, &J010, &M001, &M002, &M003,
    &M004, &M005, &M006, &M007, &M008, &I001, &I002, &I003, &I004, &I005, &I006, &I007, &I008,
    &I009, &I010, &I011, &I012, &I013, &I014, &I015, &I016, &I017, &I018, &D001, &D002, &D003,
    &D004, &D005, &D006, &D007, &D008, &D009, &D010, &D011, &D012, &D013, &D014, &D015, &D016,
    &D017, &D018, &D019, &U001, &U002, &U003, &U004, &U005, &U006, &U007, &U008, &U009, &U010,
    &S001, &S002, &S003, &S004, &S005, &S006, &S007, &S008, &S009, &S010, &S011, &S012, &S013,
    &S014, &S015, &S016, &S017, &S018, &S019, &S020, &S021, &S022, &R001, &R002, &R003, &R004,
    &R005, &R006, &R007, &R008, &R009, &R010, &R011, &R012, &R013, &R014, &R015, &R016, &R017,
    &R018, &R019, &R020, &R021, &R022, &R023, &R024, &R025, &R026, &R027, &A001, &A002, &A003,
    &A004, &A005, &A006, &A007, &A008, &A009, &A010, &A011, &A012, &A013, &A014, &A015, &A016,
    &A017, &A018, &A019, &P001, &P002, &P003, &P004, &P005, &X001, &X002, &X003, &X004,
];

/// The rule of that code (in any case) or name.
pub fn find(code_or_name: &str) -> Option<&'static Rule> {
    let wanted = code_or_name.trim();
    RULES
        .iter()
        .find(|rule| {
            rule.code.eq_ignore_ascii_case(wanted) || rule.name.eq_ignore_ascii_case(wanted)
        })
        .copied()
}
