//! The errors of the library as diagnostics: their codes are the paths of what failed. That of `client` stands there.

use std::error::Error;
use std::fmt::Display;

use miette::Diagnostic;

use crate::automation::TokenError;
use crate::check::NotChecked;
use crate::definitions::DefinitionsError;
use crate::diff::DiffError;
use crate::finding::baseline::BaselineError;
use crate::finding::selection::UnknownSelector;
use crate::json::SyntaxError;
use crate::language::RenameError;
use crate::layout::PackError;
use crate::package::canonical::CanonicalError;
use crate::package::model::ModelError;
use crate::simulate::SimulateError;
use crate::starter::BadName;
use crate::workspace::memory::{MemoryError, StateError};

/// Implements [`Diagnostic`] for errors that say everything in their message.
macro_rules! diagnostics {
    ($($error:ty => $code:literal;)*) => {
        $(
            impl Diagnostic for $error {
                fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
                    Some(Box::new($code))
                }
            }
        )*
    };
}

diagnostics! {
    BadName => "tplkit::starter";
    BaselineError => "tplkit::finding::baseline";
    CanonicalError => "tplkit::package::canonical";
    DefinitionsError => "tplkit::definitions";
    DiffError => "tplkit::diff";
    MemoryError => "tplkit::workspace::memory";
    ModelError => "tplkit::package::model";
    NotChecked => "tplkit::check";
    PackError => "tplkit::layout";
    RenameError => "tplkit::language::rename";
    SimulateError => "tplkit::simulate";
    StateError => "tplkit::workspace::memory::state";
    SyntaxError => "tplkit::json";
    TokenError => "tplkit::automation::token";
    UnknownSelector => "tplkit::finding::selection";
}

impl<E: Error + 'static> Diagnostic for crate::apply::ApplyError<E> {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new("tplkit::apply"))
    }
}

impl<E: Error + 'static> Diagnostic for crate::export::ExportError<E> {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new("tplkit::export"))
    }
}
