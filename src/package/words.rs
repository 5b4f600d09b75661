//! The words of the format as enums. The words themselves are here and nowhere else.

/// A set of words that a field takes.
pub trait WireWord: Sized + Copy + 'static {
    /// All of them.
    const ALL: &'static [Self];
    /// The word in a package.
    fn word(self) -> &'static str;

    /// The value of that word.
    fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// A table.
    Feature,
    /// A column.
    Column,
    /// A view.
    View,
    /// A module.
    Module,
    /// A navigation entry.
    Rail,
    /// An automation.
    Workflow,
    /// The rows of a table.
    Rows,
}

impl WireWord for ItemKind {
    const ALL: &'static [ItemKind] = &[
        ItemKind::Feature,
        ItemKind::Column,
        ItemKind::View,
        ItemKind::Module,
        ItemKind::Rail,
        ItemKind::Workflow,
        ItemKind::Rows,
    ];

    fn word(self) -> &'static str {
        match self {
            ItemKind::Feature => "feature",
            ItemKind::Column => "column",
            ItemKind::View => "view",
            ItemKind::Module => "module",
            ItemKind::Rail => "rail",
            ItemKind::Workflow => "workflow",
            ItemKind::Rows => "rows",
        }
    }
}

/// Whether other tables of the package link to the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataClass {
    /// They do.
    Reference,
    /// They do not.
    Transactional,
}

impl WireWord for DataClass {
    const ALL: &'static [DataClass] = &[DataClass::Reference, DataClass::Transactional];

    fn word(self) -> &'static str {
        match self {
            DataClass::Reference => "reference",
            DataClass::Transactional => "transactional",
        }
    }
}

/// How much a template holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// A whole organization.
    Organization,
    /// A workspace.
    Workspace,
    /// A module.
    Module,
    /// A table.
    Feature,
}

impl WireWord for Scope {
    const ALL: &'static [Scope] = &[
        Scope::Organization,
        Scope::Workspace,
        Scope::Module,
        Scope::Feature,
    ];

    fn word(self) -> &'static str {
        match self {
            Scope::Organization => "organization",
            Scope::Workspace => "workspace",
            Scope::Module => "module",
            Scope::Feature => "feature",
        }
    }
}

/// Who sees a template in the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// Everyone, as part of the platform.
    System,
    /// Its organization.
    Org,
    /// Everyone.
    Public,
}

impl WireWord for Visibility {
    const ALL: &'static [Visibility] = &[Visibility::System, Visibility::Org, Visibility::Public];

    fn word(self) -> &'static str {
        match self {
            Visibility::System => "system",
            Visibility::Org => "org",
            Visibility::Public => "public",
        }
    }
}

/// How configs name a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DependencyForm {
    /// By its ref.
    Uuid,
    /// By its name.
    Name,
}

impl WireWord for DependencyForm {
    const ALL: &'static [DependencyForm] = &[DependencyForm::Uuid, DependencyForm::Name];

    fn word(self) -> &'static str {
        match self {
            DependencyForm::Uuid => "uuid",
            DependencyForm::Name => "name",
        }
    }
}

/// What the exporter proposes for a dependency. It never proposes to skip one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proposal {
    /// Create it from its blueprint.
    Import,
    /// Take one that the destination has.
    Map,
}

impl WireWord for Proposal {
    const ALL: &'static [Proposal] = &[Proposal::Import, Proposal::Map];

    fn word(self) -> &'static str {
        match self {
            Proposal::Import => "import",
            Proposal::Map => "map",
        }
    }
}

/// How a field whose value was not carried over names things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnresolvedForm {
    /// By id.
    Uuid,
    /// By name.
    Name,
    /// By either.
    UuidOrName,
}

impl WireWord for UnresolvedForm {
    const ALL: &'static [UnresolvedForm] = &[
        UnresolvedForm::Uuid,
        UnresolvedForm::Name,
        UnresolvedForm::UuidOrName,
    ];

    fn word(self) -> &'static str {
        match self {
            UnresolvedForm::Uuid => "uuid",
            UnresolvedForm::Name => "name",
            UnresolvedForm::UuidOrName => "uuidOrName",
        }
    }
}

/// Why a value could not be carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The target no longer exists at the source.
    TargetGone,
    /// The target was not selected.
    NotSelected,
    /// A template cannot carry such a target.
    NotExportable,
    /// The table of a column token cannot be known.
    UnknownEnvelope,
    /// The target is declared by a later step.
    DeclaredLater,
    /// No ref was minted for the target.
    NoRefMinted,
    /// The linked table travels without rows.
    TargetWithoutRows,
    /// The importer skipped the dependency.
    DependencySkipped,
    /// The linked row did not enter the destination.
    RowRefDropped,
    /// Nobody bound the table's ref.
    FeatureRefUnresolved,
    /// Two payload entries point at each other.
    PayloadCycle,
}

impl Reason {
    /// The word in a package or a report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::TargetGone => "inexistente",
            Reason::NotSelected => "fora_da_selecao",
            Reason::NotExportable => "nao_exportavel",
            Reason::UnknownEnvelope => "envelope_indeterminado",
            Reason::DeclaredLater => "ref_adiante",
            Reason::NoRefMinted => "sem_ref_cunhado",
            Reason::TargetWithoutRows => "tabela_alvo_sem_linhas",
            Reason::DependencySkipped => "dependencia_saltada",
            Reason::RowRefDropped => "row_ref_dropped",
            Reason::FeatureRefUnresolved => "feature_ref_unresolved",
            Reason::PayloadCycle => "payload_cycle",
        }
    }

    /// The reason in English, said of what the field pointed at.
    pub const fn in_words(self) -> &'static str {
        match self {
            Reason::TargetGone => "no longer existed at the source",
            Reason::NotSelected => "was left out of the selection",
            Reason::NotExportable => "cannot be carried by a template",
            Reason::UnknownEnvelope => "its table cannot be known beforehand",
            Reason::DeclaredLater => "is created after it is used",
            Reason::NoRefMinted => "was given no ref",
            Reason::TargetWithoutRows => "links to rows that do not travel",
            Reason::DependencySkipped => "the dependency was skipped",
            Reason::RowRefDropped => "links to a row that did not arrive",
            Reason::FeatureRefUnresolved => "its table was bound to nothing",
            Reason::PayloadCycle => "two tables link to each other",
        }
    }
}

impl WireWord for Reason {
    const ALL: &'static [Reason] = &[
        Reason::TargetGone,
        Reason::NotSelected,
        Reason::NotExportable,
        Reason::UnknownEnvelope,
        Reason::DeclaredLater,
        Reason::NoRefMinted,
        Reason::TargetWithoutRows,
        Reason::DependencySkipped,
        Reason::RowRefDropped,
        Reason::FeatureRefUnresolved,
        Reason::PayloadCycle,
    ];

    fn word(self) -> &'static str {
        self.as_str()
    }
}

/// What was done with a value that could not be carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// It became an empty string.
    Emptied,
    /// It stayed.
    Kept,
    /// Its key was left out.
    Omitted,
}

impl Action {
    /// The word in a package or a report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Action::Emptied => "chave esvaziada",
            Action::Kept => "valor mantido",
            Action::Omitted => "chave omitida",
        }
    }

    /// What was done, in English.
    pub const fn in_words(self) -> &'static str {
        match self {
            Action::Emptied => "emptied",
            Action::Kept => "kept",
            Action::Omitted => "left out",
        }
    }
}

impl WireWord for Action {
    const ALL: &'static [Action] = &[Action::Emptied, Action::Kept, Action::Omitted];

    fn word(self) -> &'static str {
        self.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Action, DataClass, DependencyForm, ItemKind, Proposal, Reason, Scope, UnresolvedForm,
        Visibility, WireWord,
    };
    use crate::package::format::{self, Shape, Type};

    fn agree<W: WireWord>(words: &[&str]) {
        let ours: Vec<&str> = W::ALL.iter().map(|value| value.word()).collect();
        assert_eq!(ours, words);
        assert!(
            words
                .iter()
                .all(|word| W::parse(word).map(WireWord::word) == Some(*word))
        );
    }

    fn field(shape: &'static Shape, key: &str) -> &'static [&'static str] {
        match shape.field(key).map(|field| field.ty) {
            Some(Type::OneOf(words)) => words,
            _ => &[],
        }
    }

    #[test]
    fn enums_and_shape_tables_have_the_same_words() {
        agree::<ItemKind>(format::ITEM_KINDS);
        agree::<DataClass>(field(&format::ITEM, "dataClass"));
        agree::<Scope>(field(&format::MANIFEST, "scope"));
        agree::<Visibility>(field(&format::MANIFEST, "visibility"));
        agree::<DependencyForm>(field(&format::DEPENDENCY, "form"));
        agree::<Proposal>(field(&format::DEPENDENCY, "resolution"));
        agree::<UnresolvedForm>(field(&format::UNRESOLVED, "form"));
        agree::<Reason>(&[format::EXPORT_REASONS, format::IMPORT_REASONS].concat());
        agree::<Action>(format::ACTIONS);
    }
}
