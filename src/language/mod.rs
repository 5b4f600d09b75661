//! What an editor asks about a package that is being written: a text and a byte of it in, what the editor shows out.
//!
//! In: the text of a package, good or bad. Out: places, edits, names and Markdown, all of them in bytes of
//! that text; [`Document`] turns bytes into the lines and columns of editors. Nothing here reads files,
//! keeps state or knows a protocol, and what is right or wrong is decided elsewhere.

mod actions;
mod complete;
mod completion;
mod cursor;
mod document;
mod expressions;
mod files;
mod folding;
mod hints;
mod hover;
mod package;
mod place;
mod refs;
mod rename;
mod repair;
mod symbols;
#[cfg(test)]
mod tests;
mod uids;

pub use actions::changed;
pub use complete::{Around, complete};
pub use completion::{Completion, CompletionKind, Completions};
pub use document::{Document, Encoding, Position};
pub use files::renamed_files;
pub use folding::{Fold, folds};
pub use hints::{Hint, hints};
pub use hover::{Hover, hover};
pub use package::Package;
pub use refs::{Mention, Role, mentions, ref_at};
pub use rename::{RenameError, rename, renameable};
pub use symbols::{Symbol, symbols};
pub use uids::{definition, references};
