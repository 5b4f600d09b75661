//! A workspace in memory becomes the same one in an empty store, with its ids.
//!
//! Records and rows are written by the code that jobs write with. What belongs to the organization and is known by
//! name alone gets a place that nothing is sent to.

use tplkit::workspace::memory::State;
use tplkit::workspace::{Automation, Change, Feature, Id, Module, New, RecordKind};

use super::DeclaredError;
use crate::app::App;
use crate::automation::channels::{self, NewChannel};
use crate::automation::connections::{ConnectionKind, SetConnection, set_connection};
use crate::automation::pause;
use crate::identity::organizations;
use crate::refusal::Refusal;
use crate::store::{Scope, Store};
use crate::workspace::{FileUses, PreparedUnit, UnitContext, UnitError, write};

/// Where connections of tests lead: to a name that is never there.
const NOWHERE: &str = "https://stub.invalid/";
const NO_TIME: &str = "delay:0";

/// Creates the organization.
pub(super) async fn organization(app: &App, state: &State) -> Result<(), DeclaredError> {
    let (store, context) = (&app.store, &app.context);
    let organization = &state.structure.organization;
    let new = organizations::New {
        id: organization.id,
        label: "Tests".to_owned(),
        seats: None,
        row_quota: None,
        file_quota: None,
        now: context.now(),
    };
    organizations::create(store, new).await?;
    for channel in organization.channels.iter().flatten() {
        let name = channel.name.as_ref().or(channel.label.as_ref());
        let new = NewChannel {
            id: channel.id,
            organization: organization.id,
            name: name.cloned().unwrap_or_default(),
            now: context.now(),
        };
        let created: Result<_, Refusal> = store
            .write(&Scope::Operator, new, |tx, new| {
                Box::pin(channels::insert(tx, new))
            })
            .await;
        created?;
    }
    let set = |id: Id, name: &str, kind: ConnectionKind| SetConnection {
        id: if id.is_nil() { context.id() } else { id },
        organization: organization.id,
        name: name.to_owned(),
        url: if kind == ConnectionKind::Timer {
            NO_TIME.to_owned()
        } else {
            NOWHERE.to_owned()
        },
        kind,
        secret: None,
        now: context.now(),
    };
    for connection in organization.connections.iter().flatten() {
        // Nothing is sent there, whatever kind of place it is.
        let kind = ConnectionKind::Http;
        set_connection(store, None, set(Id::nil(), &connection.name, kind)).await?;
    }
    for timer in organization.timer_profiles.iter().flatten() {
        let set = set(timer.id, &timer.name, ConnectionKind::Timer);
        set_connection(store, None, set).await?;
    }
    Ok(())
}

/// Creates the workspace with everything in it, for somebody to whom its rows belong.
pub(super) async fn workspace(app: &App, state: &State, creator: Id) -> Result<(), DeclaredError> {
    let structure = &state.structure;
    let here = &structure.workspace;
    let mut seed = Seed {
        app,
        here: UnitContext {
            organization: structure.organization.id,
            workspace: here.id,
            creator: Some(creator),
            now: app.context.now(),
            file_uses: FileUses::End,
            context: app.context.clone(),
            tables: app.tables.clone(),
        },
    };
    let others = state.other_workspaces.iter();
    let workspaces = std::iter::once(here).chain(others).map(|workspace| {
        Change::Create(New::Workspace {
            id: workspace.id,
            name: workspace.name.clone(),
            label: workspace.label.clone(),
        })
    });
    seed.write(workspaces.collect()).await?;
    if !here.config.is_empty() {
        let config = Change::Configure {
            kind: RecordKind::Workspace,
            id: here.id,
            config: here.config.clone().into(),
        };
        seed.write(vec![config]).await?;
    }
    seed.write(structure.features.iter().flat_map(table).collect())
        .await?;
    seed.write(structure.modules.iter().flat_map(module).collect())
        .await?;
    for automation in &structure.automations {
        seed.automation(automation).await?;
    }
    seed.rows(state, &structure.features).await?;
    if !structure.shared.is_empty() {
        seed.shared(state).await?;
    }
    Ok(())
}

fn table(feature: &Feature) -> Vec<Change> {
    let bare = Feature {
        columns: Vec::new(),
        views: Vec::new(),
        ..feature.clone()
    };
    let mut changes = vec![Change::Create(New::Feature(bare))];
    changes.extend(feature.columns.iter().map(|column| {
        Change::Create(New::Column {
            feature: feature.id,
            column: column.clone(),
        })
    }));
    changes.extend(feature.views.iter().map(|view| {
        Change::Create(New::View {
            feature: feature.id,
            view: view.clone(),
        })
    }));
    changes
}

fn module(module: &Module) -> Vec<Change> {
    let bare = Module {
        rails: Vec::new(),
        ..module.clone()
    };
    let mut changes = vec![Change::Create(New::Module(bare))];
    changes.extend(module.rails.iter().map(|rail| {
        Change::Create(New::Rail {
            module: module.id,
            rail: rail.clone(),
        })
    }));
    changes
}

/// A unit for the thread of the connection.
struct UnitInput {
    here: UnitContext,
    changes: Vec<Change>,
}

struct Seed<'a> {
    app: &'a App,
    here: UnitContext,
}

impl Seed<'_> {
    fn store(&self) -> &Store {
        &self.app.store
    }

    async fn write(&self, changes: Vec<Change>) -> Result<(), DeclaredError> {
        if changes.is_empty() {
            return Ok(());
        }
        let here = self.here.clone();
        let unit = UnitInput { here, changes };
        let written: Result<(), UnitError> = self
            .store()
            .write_long(&Scope::Operator, unit, |tx, unit| {
                Box::pin(async move {
                    let prepared = PreparedUnit::default();
                    write(tx, &unit.here, &unit.changes, &prepared).await
                })
            })
            .await;
        written.map_err(|error| match error {
            UnitError::Store(error) => error.into(),
            other => DeclaredError::Destination(other.to_string()),
        })
    }

    /// A draft, or one that was published, and fires or not.
    async fn automation(&self, automation: &Automation) -> Result<(), DeclaredError> {
        // It is put in force like any other.
        let created = Change::Create(New::Workflow(Automation {
            draft: true,
            has_draft: false,
            ..automation.clone()
        }));
        self.write(vec![created]).await?;
        if automation.draft {
            return Ok(());
        }
        let workflow = automation.id;
        self.write(vec![Change::Publish { workflow }]).await?;
        if !automation.active {
            let input = (workflow, self.here.now);
            let paused: Result<_, Refusal> = self
                .store()
                .write(&Scope::Operator, input, |tx, (workflow, now)| {
                    Box::pin(pause(tx, *workflow, *now))
                })
                .await;
            paused?;
        }
        Ok(())
    }

    async fn rows(&self, state: &State, tables: &[Feature]) -> Result<(), DeclaredError> {
        for feature in tables {
            for rows in state
                .rows
                .get(&feature.id)
                .into_iter()
                .flat_map(|rows| rows.chunks(500))
            {
                let inserted = Change::InsertRows {
                    feature: feature.id,
                    rows: rows.to_vec(),
                };
                self.write(vec![inserted]).await?;
            }
            for column in &feature.columns {
                let to = state.sequence(column.id);
                if to > 1 {
                    let moved = Change::MoveSequence {
                        feature: feature.id,
                        column: column.id,
                        from: 1,
                        to,
                    };
                    self.write(vec![moved]).await?;
                }
            }
        }
        Ok(())
    }

    /// Tables of another workspace.
    async fn shared(&mut self, state: &State) -> Result<(), DeclaredError> {
        let id = self.app.context.id();
        let other = New::Workspace {
            id,
            name: "shared".to_owned(),
            label: "Shared".to_owned(),
        };
        self.write(vec![Change::Create(other)]).await?;
        self.here.workspace = id;
        let shared = &state.structure.shared;
        self.write(shared.iter().flat_map(table).collect()).await?;
        self.rows(state, shared).await
    }
}
