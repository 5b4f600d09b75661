//! The environment of an automation under validation.
//!
//! One validator serves packages, definition files and the server. This holds their differences:
//! how references are written, whether other rules check them, and what is known about tables.

use crate::definitions::ReferenceKind;
use crate::json::Node;
use crate::json::path::{dotted, push_dotted};
use crate::package::reference::undollared;
use crate::package::uid::is_uuid;

/// What every row has next to its cells: it can be read like a column, and not be written.
pub(super) const OF_EVERY_ROW: [&str; 3] = ["id", "created_at", "updated_at"];

/// How references are written, and who checks configs besides the validator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// A package: references are `$` refs. The plan rules check what they point at, keys the
    /// definitions lack, and secrets; the validator is silent about those.
    Package,
    /// The API and definition files: tables by uuid, columns by technical name. The validator
    /// checks everything.
    Rest,
}

impl Setting {
    /// Whether two values name one table; `None` when either is not a proper reference, which is
    /// a mistake of its own and must not make a second one.
    pub(super) fn same_table(self, one: &str, other: &str) -> Option<bool> {
        match self {
            Setting::Package => (is_use(one) && is_use(other)).then(|| one == other),
            Setting::Rest => {
                (is_uuid(one) && is_uuid(other)).then(|| one.eq_ignore_ascii_case(other))
            }
        }
    }

    /// Whether two values name one column of the same table.
    pub(super) fn same_column(self, one: &str, other: &str) -> bool {
        let proper = match self {
            Setting::Package => is_use(one),
            Setting::Rest => !one.is_empty(),
        };
        proper && one == other
    }
}

/// The world around one automation.
///
/// Only [`Environment::setting`] is required; the other methods default to "nothing is known".
pub trait Environment {
    /// Which conventions hold.
    fn setting(&self) -> Setting;

    /// Whether something accounts for a required reference that is empty or absent: the place
    /// is `path` (member names) below `owner`. In a package that is an `unresolved` entry.
    fn excused(&self, owner: Node<'_>, path: &[&str]) -> bool {
        let _ = (owner, path);
        false
    }

    /// The automation itself as a config names it (`$w_nightly`, or its `workflow_id`).
    fn own_identity(&self) -> Option<&str> {
        None
    }

    /// Whether `value` names something of that kind that is visible here; `None` when unknown.
    fn exists(&self, kind: ReferenceKind, value: &str) -> Option<bool> {
        let _ = (kind, value);
        None
    }

    /// The technical names of a table's columns; `None` when unknown.
    fn columns(&self, table: &str) -> Option<Vec<String>> {
        let _ = table;
        None
    }
}

/// An automation in a plan step of a package.
pub struct PackageEnvironment<'p> {
    args: Node<'p>,
    own: Option<String>,
    unresolved: &'p dyn Fn(&str) -> bool,
    is_table: &'p dyn Fn(&str) -> Option<bool>,
}

impl<'p> PackageEnvironment<'p> {
    /// `args` of the `create_workflow_v2` step and the ref that it declares; `unresolved` says
    /// whether an entry of the item names a dotted path below the args (always true where the
    /// package has no such layer); `is_table` whether a `$` ref is declared as a table, with
    /// `None` for "cannot tell".
    pub fn new(
        args: Node<'p>,
        declared: Option<&str>,
        unresolved: &'p dyn Fn(&str) -> bool,
        is_table: &'p dyn Fn(&str) -> Option<bool>,
    ) -> PackageEnvironment<'p> {
        let own = declared.map(|name| format!("${}", undollared(name)));
        PackageEnvironment {
            args,
            own,
            unresolved,
            is_table,
        }
    }
}

impl Environment for PackageEnvironment<'_> {
    fn setting(&self) -> Setting {
        Setting::Package
    }

    fn excused(&self, owner: Node<'_>, path: &[&str]) -> bool {
        let mut place = dotted(self.args, owner);
        for segment in path {
            push_dotted(&mut place, segment);
        }
        (self.unresolved)(&place)
    }

    fn own_identity(&self) -> Option<&str> {
        self.own.as_deref()
    }

    fn exists(&self, kind: ReferenceKind, value: &str) -> Option<bool> {
        if kind == ReferenceKind::Feature {
            (self.is_table)(value)
        } else {
            None
        }
    }
}

/// An automation in a definition file: nothing around it is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyEnvironment<'w> {
    /// The file's `workflow_id`.
    pub workflow_id: Option<&'w str>,
}

impl Environment for EmptyEnvironment<'_> {
    fn setting(&self) -> Setting {
        Setting::Rest
    }

    fn own_identity(&self) -> Option<&str> {
        self.workflow_id
    }
}

/// Whether the text is a use of a ref, as far as its first character says.
pub(super) fn is_use(text: &str) -> bool {
    text.len() > 1 && text.starts_with('$')
}

/// Whether the text can be a technical name.
pub(super) fn is_technical_name(text: &str) -> bool {
    crate::package::name::fault(text).is_none()
}
