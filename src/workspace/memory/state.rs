//! What a workspace in memory holds, and the JSON file of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::contradictions::contradictions;
use crate::json::{Object, Value};
use crate::workspace::ledger::Entry;
use crate::workspace::{AnyRecord, Id, Organization, StoredRow, Structure, Workspace};

/// A job that was completed in a workspace: what a later upgrade starts from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppliedJob {
    /// The package, as it was applied.
    pub package: Value,
    /// What was decided about dependencies, in the form of an apply body.
    #[serde(default)]
    pub request: Value,
    /// What it wrote.
    pub ledger: Vec<Entry>,
}

/// A draft of an automation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DraftVersion {
    /// The version that was in force when it was begun.
    pub base: AnyRecord,
    /// What it says.
    #[serde(rename = "thing")]
    pub record: AnyRecord,
}

/// Everything of a workspace: one JSON file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct State {
    /// Everything but rows.
    pub structure: Structure,
    /// Other workspaces that were created in the organization.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_workspaces: Vec<Workspace>,
    /// Rows by table, by ascending id.
    #[serde(default)]
    pub rows: BTreeMap<Id, Vec<StoredRow>>,
    /// By sequence column: the next number, where it is not 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sequences: BTreeMap<Id, u64>,
    /// Versions of automations that were never in force.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drafts: BTreeMap<Id, DraftVersion>,
    /// Jobs that were completed here, oldest first. A workspace does not look at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<AppliedJob>,
}

/// A file that is not a workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// It is not JSON, or something in it has another shape.
    #[error("not a workspace file: {0}")]
    Shape(#[from] serde_json::Error),
    /// Its parts contradict each other: everything that is wrong.
    #[error("the workspace contradicts itself: {}", .0.join("; "))]
    Contradiction(Vec<String>),
}

impl State {
    /// A workspace without anything in it.
    pub fn empty(organization: Id, workspace: Id, name: &str, label: &str) -> State {
        State {
            structure: Structure {
                organization: Organization {
                    id: organization,
                    connections: Some(Vec::new()),
                    channels: Some(Vec::new()),
                    timer_profiles: Some(Vec::new()),
                },
                workspace: Workspace {
                    id: workspace,
                    name: name.to_owned(),
                    label: label.to_owned(),
                    config: Object::new(),
                },
                modules: Vec::new(),
                features: Vec::new(),
                automations: Vec::new(),
                earlier_automations: Vec::new(),
                shared: Vec::new(),
                row_access_stays: false,
                unseen: BTreeSet::new(),
            },
            other_workspaces: Vec::new(),
            rows: BTreeMap::new(),
            sequences: BTreeMap::new(),
            drafts: BTreeMap::new(),
            jobs: Vec::new(),
        }
    }

    /// Reads a file that [`State::save`] wrote, or that somebody wrote by hand: rows may be in
    /// any order.
    ///
    /// # Errors
    /// When it has another shape, or when an id or a name appears twice, rows are of no table, or a
    /// sequence of no column.
    pub fn load(text: &str) -> Result<State, StateError> {
        let mut state: State = serde_json::from_str(text)?;
        for rows in state.rows.values_mut() {
            rows.sort_by_key(|row| row.id);
        }
        match contradictions(&state) {
            faults if faults.is_empty() => Ok(state),
            faults => Err(StateError::Contradiction(faults)),
        }
    }

    /// The file: the same state gives the same bytes.
    pub fn save(&self) -> Result<String, StateError> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// The number that the next empty cell of a sequence column gets.
    pub fn sequence(&self, column: Id) -> u64 {
        self.sequences.get(&column).copied().unwrap_or(1)
    }

    /// Sets the next number of a sequence column.
    pub(super) fn set_sequence(&mut self, column: Id, next: u64) {
        if next == 1 {
            self.sequences.remove(&column);
        } else {
            self.sequences.insert(column, next);
        }
    }
}
