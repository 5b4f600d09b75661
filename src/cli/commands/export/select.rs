//! The selection from flags: records by id, technical name or label.

use tplkit::export::{RowsSelection, Selection};
use tplkit::workspace::{Id, Structure};

use crate::cli::candidates::{Candidate, MAX_LISTED};
use crate::cli::error::CliError;

/// What travels.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Selection")]
pub(super) struct Choice {
    /// Only this table, by id or name, or `none`; repeatable.
    #[arg(long = "feature", value_name = "TABLE")]
    features: Vec<String>,
    /// Only this view, by id, name or `table.view` [default: all views of the exported tables].
    #[arg(long = "view", value_name = "VIEW")]
    views: Vec<String>,
    /// Only this module, by id or name.
    #[arg(long = "module", value_name = "MODULE")]
    modules: Vec<String>,
    /// Only this navigation entry, by id, name or `module.rail` [default: all of the exported
    /// modules].
    #[arg(long = "rail", value_name = "RAIL")]
    rails: Vec<String>,
    /// Only this automation, by id or name.
    #[arg(long = "workflow", value_name = "AUTOMATION")]
    workflows: Vec<String>,
    /// Tables whose rows are exported: `none`, `all`, or a table by id or name; repeatable.
    #[arg(long = "rows", value_name = "none|all|TABLE")]
    rows: Vec<String>,
}

/// Something that can be chosen.
struct Selectable {
    id: Id,
    /// The words for it, the most exact first.
    words: Vec<String>,
}

impl Choice {
    /// Whether nothing was chosen.
    pub(super) fn are_none(&self) -> bool {
        let lists = [
            &self.features,
            &self.views,
            &self.modules,
            &self.rails,
            &self.workflows,
            &self.rows,
        ];
        lists.iter().all(|list| list.is_empty())
    }

    /// The selection, with everything looked up in the workspace.
    pub(super) fn selection(&self, structure: &Structure) -> Result<Selection, CliError> {
        let tables = tables(structure);
        let rows = match self.rows.as_slice() {
            [] => RowsSelection::None,
            [only] if only == "none" => RowsSelection::None,
            [only] if only == "all" => RowsSelection::All,
            words => RowsSelection::Some(find_all("table", words, &tables)?),
        };
        Ok(Selection {
            features: chosen("table", &self.features, &tables)?,
            views: chosen("view", &self.views, &views(structure))?,
            modules: chosen("module", &self.modules, &modules(structure))?,
            rails: chosen("navigation entry", &self.rails, &rails(structure))?,
            workflows: chosen("automation", &self.workflows, &workflows(structure))?,
            rows,
            ..Selection::default()
        })
    }
}

fn tables(structure: &Structure) -> Vec<Selectable> {
    let tables = structure.features.iter();
    let thing = |id, words: &[&String]| Selectable {
        id,
        words: words.iter().map(|word| (*word).clone()).collect(),
    };
    tables
        .map(|one| thing(one.id, &[&one.name, &one.label]))
        .collect()
}

fn views(structure: &Structure) -> Vec<Selectable> {
    let views = structure.features.iter();
    let views = views.flat_map(|table| table.views.iter().map(move |view| (table, view)));
    let things = views.map(|(table, view)| Selectable {
        id: view.id,
        words: vec![
            format!("{}.{}", table.name, view.name),
            view.name.clone(),
            view.label.clone(),
        ],
    });
    things.collect()
}

fn modules(structure: &Structure) -> Vec<Selectable> {
    let things = structure.modules.iter().map(|one| Selectable {
        id: one.id,
        words: vec![one.name.clone(), one.label.clone()],
    });
    things.collect()
}

fn rails(structure: &Structure) -> Vec<Selectable> {
    let rails = structure.modules.iter();
    let rails = rails.flat_map(|module| module.rails.iter().map(move |rail| (module, rail)));
    let things = rails.map(|(module, rail)| Selectable {
        id: rail.id,
        words: vec![
            format!("{}.{}", module.name, rail.name),
            rail.name.clone(),
            rail.label.clone(),
        ],
    });
    things.collect()
}

fn workflows(structure: &Structure) -> Vec<Selectable> {
    let things = structure.automations.iter().map(|one| Selectable {
        id: one.id,
        words: vec![one.name.clone()],
    });
    things.collect()
}

/// A list of the selection: absent without words, empty with `none`.
fn chosen(
    kind: &str,
    words: &[String],
    things: &[Selectable],
) -> Result<Option<Vec<Id>>, CliError> {
    match words {
        [] => Ok(None),
        [only] if only == "none" => Ok(Some(Vec::new())),
        words => find_all(kind, words, things).map(Some),
    }
}

fn find_all(kind: &str, words: &[String], things: &[Selectable]) -> Result<Vec<Id>, CliError> {
    words.iter().map(|word| one(kind, word, things)).collect()
}

/// The one thing of that word. A name goes before a label, so that a label never hides a name.
fn one(kind: &str, word: &str, things: &[Selectable]) -> Result<Id, CliError> {
    if let Some(thing) = things.iter().find(|thing| thing.id.to_string() == word) {
        return Ok(thing.id);
    }
    let ranks = things
        .iter()
        .map(|thing| thing.words.len())
        .max()
        .unwrap_or(0);
    for rank in 0..ranks {
        let called = |thing: &&Selectable| thing.words.get(rank).is_some_and(|known| known == word);
        let found: Vec<&Selectable> = things.iter().filter(called).collect();
        match found.as_slice() {
            [] => {}
            [only] => return Ok(only.id),
            several => {
                return Err(CliError::Candidates {
                    message: format!("`{}` names more than one {kind}", word.escape_debug()),
                    help: "give the id".to_owned(),
                    candidates: several.iter().map(|thing| thing.candidate()).collect(),
                    more: 0,
                    path: None,
                });
            }
        }
    }
    let help = match things {
        [] => format!("it has no {kind} at all"),
        _ => format!("name a {kind} that it has"),
    };
    Err(CliError::Candidates {
        message: format!("the workspace has no {kind} `{}`", word.escape_debug()),
        help,
        candidates: things
            .iter()
            .take(MAX_LISTED)
            .map(Selectable::candidate)
            .collect(),
        more: things.len().saturating_sub(MAX_LISTED),
        path: None,
    })
}

impl Selectable {
    fn candidate(&self) -> Candidate {
        Candidate {
            id: self.id.to_string(),
            name: self.words.first().cloned(),
            label: self.words.last().cloned(),
            ..Candidate::default()
        }
    }
}
