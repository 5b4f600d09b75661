//! The six kinds of records: table, parent, and specific fields.

use std::sync::OnceLock;

use tplkit::definitions::Definitions;

use super::statements::Statements;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// Holds modules and features.
    Workspace,
    /// Holds rails.
    Module,
    /// A navigation entry.
    Rail,
    /// A table.
    Feature,
    /// A way to look at a table.
    View,
    /// A column of a table.
    Column,
}

/// What a field of a kind holds.
#[derive(Debug, Clone, Copy)]
pub enum OwnFieldForm {
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// A text or nothing.
    Nullable,
    /// An integer.
    Integer,
    /// An integer or nothing; never in a body.
    Maybe,
    /// A truth value.
    Flag,
}

/// A field that not every kind has.
#[derive(Debug)]
pub struct OwnField {
    /// Its column in the store.
    pub column: &'static str,
    /// Its key in bodies and responses; without one it is the store's own business.
    pub key: Option<&'static str>,
    /// What it holds.
    pub form: OwnFieldForm,
    /// Whether a create has to name it.
    pub required: bool,
}

/// A kind of records.
#[derive(Debug)]
pub struct KindDescription {
    /// Which one.
    pub what: RecordKind,
    /// Its word, which is also the name of a record whose label gives none.
    pub word: &'static str,
    /// Its table.
    pub table: &'static str,
    /// What it lies in; a workspace lies in an organization, which is not a record of the model.
    pub parent: Option<&'static KindDescription>,
    /// The columns with the ids of what it lies in, the organization first, the parent last.
    pub within: &'static [&'static str],
    /// Its own fields.
    pub own: &'static [OwnField],
    statements: OnceLock<Statements>,
}

impl RecordKind {
    /// Whether its config is kept as a list of objects.
    pub fn lists_config(self) -> bool {
        matches!(self, RecordKind::Rail | RecordKind::View)
    }
}

impl KindDescription {
    /// The column with the id of the parent.
    pub fn parent_column(&self) -> &'static str {
        self.within.last().copied().unwrap_or_default()
    }

    /// The column with the id of the workspace.
    pub(super) fn workspace_column(&self) -> &'static str {
        match self.what {
            RecordKind::Workspace => "id",
            _ => "workspace_id",
        }
    }

    /// Position of an own field.
    pub(super) fn position(&self, column: &str) -> Option<usize> {
        self.own.iter().position(|own| own.column == column)
    }

    /// Its statements.
    pub(super) fn statements(&'static self) -> &'static Statements {
        self.statements.get_or_init(|| Statements::of(self))
    }
}

const fn own(column: &'static str, key: &'static str, form: OwnFieldForm) -> OwnField {
    OwnField {
        column,
        key: Some(key),
        form,
        required: false,
    }
}

const fn inner(column: &'static str, form: OwnFieldForm) -> OwnField {
    OwnField {
        column,
        key: None,
        form,
        required: false,
    }
}

const ORDER: OwnField = own("position", "order", OwnFieldForm::Integer);

/// Workspaces.
pub static WORKSPACE: KindDescription = KindDescription {
    what: RecordKind::Workspace,
    word: "workspace",
    table: "workspaces",
    parent: None,
    within: &["organization_id"],
    own: &[own("access", "access", OwnFieldForm::Word(access))],
    statements: OnceLock::new(),
};

/// Modules.
pub static MODULE: KindDescription = KindDescription {
    what: RecordKind::Module,
    word: "module",
    table: "modules",
    parent: Some(&WORKSPACE),
    within: &["organization_id", "workspace_id"],
    own: &[own("icon", "icon", OwnFieldForm::Nullable), ORDER],
    statements: OnceLock::new(),
};

/// Rails.
pub static RAIL: KindDescription = KindDescription {
    what: RecordKind::Rail,
    word: "rail",
    table: "rails",
    parent: Some(&MODULE),
    within: &["organization_id", "workspace_id", "module_id"],
    own: &[ORDER],
    statements: OnceLock::new(),
};

/// Features.
pub static FEATURE: KindDescription = KindDescription {
    what: RecordKind::Feature,
    word: "feature",
    table: "features",
    parent: Some(&WORKSPACE),
    within: &["organization_id", "workspace_id"],
    own: &[
        own("is_shared", "is_shared", OwnFieldForm::Flag),
        inner("own_rows", OwnFieldForm::Flag),
        inner("version", OwnFieldForm::Integer),
    ],
    statements: OnceLock::new(),
};

/// Views.
pub static VIEW: KindDescription = KindDescription {
    what: RecordKind::View,
    word: "view",
    table: "views",
    parent: Some(&FEATURE),
    within: &["organization_id", "workspace_id", "feature_id"],
    own: &[
        OwnField {
            required: true,
            ..own("type", "type", OwnFieldForm::Word(view_type))
        },
        ORDER,
    ],
    statements: OnceLock::new(),
};

/// Columns.
pub static COLUMN: KindDescription = KindDescription {
    what: RecordKind::Column,
    word: "column",
    table: "columns",
    parent: Some(&FEATURE),
    within: &["organization_id", "workspace_id", "feature_id"],
    own: &[
        OwnField {
            required: true,
            ..own("type", "type", OwnFieldForm::Word(column_type))
        },
        own(
            "default_component",
            "default_component",
            OwnFieldForm::Word(component),
        ),
        ORDER,
        inner("is_unique", OwnFieldForm::Flag),
        inner("next_number", OwnFieldForm::Integer),
        inner("slot", OwnFieldForm::Maybe),
        inner("slot_ready", OwnFieldForm::Flag),
        inner("slot_long", OwnFieldForm::Flag),
        inner("is_searched", OwnFieldForm::Flag),
        inner("search_ready", OwnFieldForm::Flag),
    ],
    statements: OnceLock::new(),
};

fn access() -> Vec<&'static str> {
    vec!["organization", "members"]
}

fn view_type() -> Vec<&'static str> {
    let types = Definitions::embedded().view_types.keys();
    types.map(String::as_str).collect()
}

fn column_type() -> Vec<&'static str> {
    let types = Definitions::embedded().column_types.keys();
    types.map(String::as_str).collect()
}

fn component() -> Vec<&'static str> {
    let components = Definitions::embedded().components.iter();
    components.map(String::as_str).collect()
}
