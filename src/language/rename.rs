//! Renames a ref: every place that names it follows, and no text of people does.

use super::refs::{all_refs, mentions, ref_at};
use super::{Mention, Package};
use crate::finding::Edit;
use crate::package::reference::{WORKSPACE, is_declaration, undollared};

/// Why a ref is not renamed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenameError {
    /// There is none at the cursor.
    #[error("there is no ref here to rename")]
    NoRef,
    /// It is the builtin.
    #[error("`$workspace` is a builtin and keeps its name")]
    Builtin,
    /// The new name is outside the grammar.
    #[error(
        "`{0}` is not a ref: it begins with f_, c_, v_, r_, m_, w_, connection_ or timerprofile_, and goes on with a letter or digit, then letters, digits, _ and -"
    )]
    Grammar(String),
    /// Something has that name.
    #[error("`{0}` is already declared in this package")]
    Declared(String),
}

/// The ref at a byte, if it can be renamed.
///
/// # Errors
/// When there is none, or it is the builtin.
pub fn renameable(package: &Package<'_>, offset: usize) -> Result<(String, Mention), RenameError> {
    let found = ref_at(package, offset).ok_or(RenameError::NoRef)?;
    if found.0 == WORKSPACE {
        return Err(RenameError::Builtin);
    }
    Ok(found)
}

/// The edits that give the ref at a byte another name (a leading dollar is tolerated).
///
/// # Errors
/// When there is no ref, or it cannot have that name.
pub fn rename(
    package: &Package<'_>,
    offset: usize,
    new_name: &str,
) -> Result<Vec<Edit>, RenameError> {
    let (name, _) = renameable(package, offset)?;
    let new = undollared(new_name);
    if !is_declaration(new) {
        return Err(RenameError::Grammar(new_name.to_owned()));
    }
    if all_refs(package).iter().any(|known| known == new) {
        return Err(RenameError::Declared(new.to_owned()));
    }
    let edits = mentions(package, &name).into_iter().map(|mention| Edit {
        text: if mention.dollar {
            format!("${new}")
        } else {
            new.to_owned()
        },
        span: mention.span,
    });
    Ok(edits.collect())
}
