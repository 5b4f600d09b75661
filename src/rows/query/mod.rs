//! The row query language: filters, sorts and aggregates (`service` "Rows", `rest` 4.4 to 4.8).
//!
//! In: the texts of the parameters.
//!
//! Out: a [`Filter`], a [`Sort`], an [`Operation`], or the fault of the text. Each also evaluates a
//! [`Row`] in memory, in the simplest way. Stores use statements and indexes, and have to give the
//! same results; so this module knows no store and stays simple. Where the specification leaves
//! room:
//!
//! - An operator, `not.` and the words of `is` are written in lower case, exactly.
//! - The column must not be empty. The value may be: `a:eq:` and `a:in:` ask for the empty text,
//!   `a:like:` too, and `a:contains:` finds every cell that is there.
//! - `neq`, `ncontains` and every negation find cells that are there. A cell that is absent or null is
//!   found by `is:null`, `not.is:true` and `not.is:false` alone.
//! - The value of a numeric operator is a number as JSON writes it, and one that a store could hold.
//! - `gt` and its like on texts, `eq`, `in` and `like` look at case; `ilike`, `contains`, `ncontains`,
//!   `startswith` and `endswith` do not.
//! - On `id` and the timestamps, `in` needs a value of their kind in each of its alternatives. A UUID
//!   may be in either case. An instant with digits beyond the microsecond lies between two timestamps,
//!   and equals none.
//! - A record always has its `id` and its timestamps: `is:null`, `is:true` and `is:false` find none,
//!   their negations all.
//! - `match=any` without filters asks nothing, and finds every row.
//! - Empty, for a sort, is a cell that is absent or null; the empty text is a text.
//! - U+0000 is in no filter and no sort: no cell can hold it.

mod aggregate;
mod column;
mod fault;
mod filter;
mod like;
mod matches;
mod operators;
mod parse;
mod row;
mod sort;

pub use aggregate::{Aggregate, Operation, SAMPLE};
pub use column::Column;
pub use fault::{FilterFault, FilterReason};
pub use filter::{CellTest, Compare, Condition, Filter, IsValue, OwnTest, Search};
pub use like::like;
pub use matches::{Match, matches};
pub use operators::{MOST_BYTES, MOST_FILTERS, number_operators, text_operators};
pub use parse::parse;
pub use row::Row;
pub use sort::{Order, Sort};
