//! What is to travel.

use std::collections::HashSet;

use super::error::{Fault, UnknownId};
use crate::package::model::Catalog;
use crate::workspace::{Automation, Feature, Id, Module, Rail, Structure, View};

/// What is to travel. An absent list means all of that kind; of views and rails: all of the tables
/// and modules that travel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Selection {
    /// Tables, with all their columns.
    pub features: Option<Vec<Id>>,
    /// Views.
    pub views: Option<Vec<Id>>,
    /// Modules.
    pub modules: Option<Vec<Id>>,
    /// Navigation entries.
    pub rails: Option<Vec<Id>>,
    /// Automations.
    pub workflows: Option<Vec<Id>>,
    /// Which tables travel with their rows.
    #[cfg_attr(feature = "schemas", schemars(with = "Option<RowsSelection>"))]
    pub rows: RowsSelection,
    /// Catalog fields of the package; name and label are the workspace's when absent.
    #[cfg_attr(
        feature = "schemas",
        schemars(with = "Option<super::identity_document::IdentityDocument>")
    )]
    pub identity: Catalog,
}

/// Tables whose rows travel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RowsSelection {
    /// None.
    #[default]
    None,
    /// All tables that travel.
    All,
    /// These of them.
    Some(Vec<Id>),
}

#[cfg(feature = "schemas")]
impl schemars::JsonSchema for RowsSelection {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RowsSelection".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let tables = generator.subschema_for::<Vec<Id>>();
        schemars::json_schema!({"oneOf": [{"type": "string", "enum": ["none", "all"]}, tables]})
    }
}

/// The records that travel, in the order of the workspace.
pub(super) struct SelectedRecords<'s> {
    pub(super) features: Vec<&'s Feature>,
    /// Each with its table, which need not travel.
    pub(super) views: Vec<(&'s Feature, &'s View)>,
    pub(super) modules: Vec<&'s Module>,
    /// Each with its module, which need not travel.
    pub(super) rails: Vec<(&'s Module, &'s Rail)>,
    pub(super) automations: Vec<&'s Automation>,
    /// Tables whose rows travel.
    pub(super) rows: Vec<&'s Feature>,
}

impl Selection {
    /// Whether the config of the workspace itself travels: only what is chosen does, once anything
    /// is. Which rows travel is not such a choice.
    pub(super) fn takes_workspace(&self) -> bool {
        let lists = [
            &self.features,
            &self.views,
            &self.modules,
            &self.rails,
            &self.workflows,
        ];
        lists.into_iter().all(Option::is_none)
    }

    pub(super) fn choose<'s>(
        &self,
        structure: &'s Structure,
    ) -> Result<SelectedRecords<'s>, Fault> {
        let mut unknown = Vec::new();
        let mut pick = Pick {
            unknown: &mut unknown,
        };
        let features = structure.features.iter();
        let features = pick.of("features", self.features.as_ref(), features, |one| one.id);
        let modules = structure.modules.iter();
        let modules = pick.of("modules", self.modules.as_ref(), modules, |one| one.id);
        let views = structure
            .features
            .iter()
            .flat_map(|table| table.views.iter().map(move |view| (table, view)));
        let views = match &self.views {
            None => views
                .filter(|(table, _)| features.iter().any(|one| one.id == table.id))
                .collect(),
            listed => pick.of("views", listed.as_ref(), views, |(_, view)| view.id),
        };
        let rails = structure
            .modules
            .iter()
            .flat_map(|module| module.rails.iter().map(move |rail| (module, rail)));
        let rails = match &self.rails {
            None => rails
                .filter(|(module, _)| modules.iter().any(|one| one.id == module.id))
                .collect(),
            listed => pick.of("rails", listed.as_ref(), rails, |(_, rail)| rail.id),
        };
        let automations = structure.automations.iter();
        let workflows = self.workflows.as_ref();
        let automations = pick.of("workflows", workflows, automations, |one| one.id);
        let rows = match &self.rows {
            RowsSelection::None => Vec::new(),
            RowsSelection::All => features.clone(),
            RowsSelection::Some(listed) => {
                let tables = structure.features.iter();
                pick.of("rows", Some(listed), tables, |one| one.id)
            }
        };
        if !unknown.is_empty() {
            return Err(Fault::Unknown(unknown));
        }
        let travels = |id: Id| features.iter().any(|one| one.id == id);
        let without_table = rows.iter().map(|one| one.id).filter(|id| !travels(*id));
        let without_table: Vec<Id> = without_table.collect();
        if !without_table.is_empty() {
            return Err(Fault::RowsWithoutTable(without_table));
        }
        Ok(SelectedRecords {
            features,
            views,
            modules,
            rails,
            automations,
            rows,
        })
    }
}

struct Pick<'u> {
    unknown: &'u mut Vec<UnknownId>,
}

impl Pick<'_> {
    /// The listed ones of `all` in their order; everything when there is no list.
    fn of<T: Copy>(
        &mut self,
        list: &'static str,
        listed: Option<&Vec<Id>>,
        all: impl Iterator<Item = T>,
        id: impl Fn(T) -> Id,
    ) -> Vec<T> {
        let Some(listed) = listed else {
            return all.collect();
        };
        let mut missing: HashSet<Id> = listed.iter().copied().collect();
        let wanted = missing.clone();
        let found = all.filter(|one| {
            missing.remove(&id(*one));
            wanted.contains(&id(*one))
        });
        let found = found.collect();
        for id in listed.iter().filter(|id| missing.remove(id)) {
            self.unknown.push(UnknownId { list, id: *id });
        }
        found
    }
}
