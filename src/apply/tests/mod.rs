//! All stages of an apply together, and people who work in the workspace between attempts.

mod deleted;
mod mapped;
mod recognised;
mod upgrade;
mod world;
