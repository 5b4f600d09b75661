//! Test tools of this workspace, for the tests, benches and examples of its crates. Nothing that is
//! released depends on them.
//!
//! | To | Use |
//! |---|---|
//! | hold an implementation of a workspace to what all of them promise | [`contract`] |
//! | let a workspace fail at any call | [`crashing`] |
//! | get a workspace with anything in it, from a number | [`random`] |
//! | get a workspace of plain tables, as large as a bench wants it | [`customers`] |
//! | get the package of a workspace | [`packaged`] |
//! | hold a workspace to the laws of upgrades | [`upgrades`] |
//! | hold the modules of a crate to one order | [`direction`] |
//! | run the examples in the help texts of a program | [`help`] |
//! | complete what is typed into a shell | [`typing`] |

pub mod contract;
pub mod crashing;
pub mod customers;
pub mod direction;
pub mod help;
pub mod packaged;
pub mod random;
pub mod typing;
pub mod upgrades;
