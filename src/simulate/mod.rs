//! Simulates an apply and its undo in memory, with the real resolver and executor.
//!
//! The default destination is an empty workspace, filled with the targets of the request's
//! mappings, so resolutions for a real workspace can be tried without it.

mod stand_in;

use crate::apply::{
    self, ApplyError, BasePackage, JobHistory, LineJob, Minter, Preview, PreviewInput, Refusal,
    Report, Request, Resolution, Resolutions, ResolveInput, RowBase, UndoError,
};
use crate::check::Checked;
use crate::context::{Clock, Ids};
use crate::definitions::Definitions;
use crate::package::model::Dependency;
use crate::rows::sorted_to;
use crate::workspace::ledger::Entry;
use crate::workspace::memory::{Memory, MemoryError, State};
use crate::workspace::{RowData, Source as _, Structure, ready};

pub use stand_in::stand_in;

/// What an apply would do, did, did again, and left behind when it was undone.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// What it was going to do.
    pub preview: Preview,
    /// What it did.
    pub report: Report,
    /// The workspace afterwards.
    pub applied: State,
    /// The ledgers of it, those of the base before.
    pub ledger: Vec<Entry>,
    /// What the same apply did once more.
    pub again: Report,
    /// Whether that changed anything.
    pub again_changed: bool,
    /// What its own job wrote, for later upgrades to start from.
    pub written: Vec<Entry>,
    /// Whether the undo gave back the workspace that was there before, the order of the cells of rows aside.
    pub restored: bool,
    /// What was decided about dependencies, for later upgrades to start from. As at a server, what nobody decided is
    /// none: a dependency that an equal name satisfies stays satisfied.
    pub resolutions: Resolutions,
}

/// Why a simulation did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The package cannot be applied as asked.
    #[error("the package cannot be applied as asked")]
    Refused(Vec<Refusal>),
    /// The upgrade cannot be made as asked: the plan says why, and what is to be decided.
    #[error("the upgrade cannot be made as asked")]
    Undecided(Box<Preview>),
    /// The apply failed.
    #[error(transparent)]
    Apply(#[from] ApplyError<MemoryError>),
    /// The undo failed.
    #[error(transparent)]
    Undo(#[from] UndoError<MemoryError>),
    /// The workspace does not respond.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Applies, applies again, undoes. The digest of the package ([`apply::content_digest`]) is part
/// of the preview's.
pub fn simulate(
    package: &Checked<'_>,
    package_digest: &str,
    request: &Request,
    destination: State,
    definitions: &Definitions,
    clock: &dyn Clock,
    ids: &mut dyn Ids,
) -> Result<Simulation, SimulateError> {
    let mut workspace = Memory::new(destination);
    let before = workspace.state();
    let minter = Minter::new(clock, ids);
    let structure = ready(workspace.structure())?;
    let approved = apply::resolve(
        ResolveInput {
            package,
            request,
            destination: &structure,
            past: JobHistory::default(),
            definitions,
        },
        minter,
    )
    .map_err(SimulateError::Refused)?;
    let preview = ready(apply::preview(
        &workspace,
        &structure,
        PreviewInput {
            package,
            package_digest,
            request,
            earlier: &[],
            base: None,
            definitions,
        },
    ))?;
    let report = ready(apply::run(
        &mut workspace,
        &approved,
        &package.payloads,
        &[],
        definitions,
        &mut |_| {},
    ))?;
    let applied = workspace.state();

    let first = workspace.next_job();
    let structure = ready(workspace.structure())?;
    let approved = apply::resolve(
        ResolveInput {
            package,
            request: &Request {
                copy: false,
                ..request.clone()
            },
            destination: &structure,
            past: JobHistory::of(&first),
            definitions,
        },
        Minter::new(clock, ids),
    )
    .map_err(SimulateError::Refused)?;
    let again = ready(apply::run(
        &mut workspace,
        &approved,
        &package.payloads,
        &first,
        definitions,
        &mut |_| {},
    ))?;
    let again_changed = workspace.state() != applied;

    ready(apply::undo(&mut workspace, false))?;
    workspace.take_up(first.clone());
    ready(apply::undo(&mut workspace, false))?;
    let restored = is_same(workspace.state(), before);
    Ok(Simulation {
        preview,
        report,
        applied,
        ledger: first.clone(),
        written: first,
        again,
        again_changed,
        restored,
        resolutions: request.resolutions.clone(),
    })
}

/// What an upgrade that is tried starts from.
#[derive(Debug, Clone, Copy)]
pub enum UpgradeBase<'q, 't> {
    /// The package that is applied before.
    Package(&'q Checked<'t>),
    /// Jobs that were completed in the destination, oldest first.
    Jobs(&'q [KnownJob<'t>]),
}

/// A job that was completed in the destination.
#[derive(Debug, Clone)]
pub struct KnownJob<'t> {
    /// Its package.
    pub package: Checked<'t>,
    /// How it was applied.
    pub request: Request,
    /// What it wrote.
    pub ledger: Vec<Entry>,
}

/// An upgrade that is tried.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedUpgrade<'q, 't> {
    /// The new package.
    pub package: &'q Checked<'t>,
    /// Its digest ([`apply::content_digest`]).
    pub package_digest: &'q str,
    /// How it is applied: an upgrade.
    pub request: &'q Request,
    /// What it starts from.
    pub base: UpgradeBase<'q, 't>,
    /// The definitions of the destination.
    pub definitions: &'q Definitions,
}

/// What an upgrade that is tried goes on from.
struct UpgradeStart<'q> {
    /// The package that was applied last.
    package: Option<&'q Checked<'q>>,
    /// How its dependencies were decided.
    resolutions: Resolutions,
    /// What the jobs wrote, oldest first.
    applied: Vec<Entry>,
    /// The jobs.
    past_jobs: Vec<LineJob<'q>>,
}

impl<'q> UpgradeStart<'q> {
    /// Applies a package to the workspace.
    fn apply(
        base: &'q Checked<'q>,
        request: &Request,
        workspace: &mut Memory,
        definitions: &Definitions,
        minter: Minter,
    ) -> Result<UpgradeStart<'q>, SimulateError> {
        let destination = ready(workspace.structure())?;
        let first = Request {
            resolutions: proposed(base, request, &destination),
            ..Request::default()
        };
        let from = JobHistory::default();
        pass(workspace, base, &first, from, definitions, minter)?;
        let applied = workspace.next_job();
        let job = LineJob {
            package: base,
            entries: 0..applied.len(),
            compares_rows: false,
        };
        Ok(UpgradeStart {
            package: Some(base),
            resolutions: first.resolutions,
            applied,
            past_jobs: vec![job],
        })
    }

    /// Takes jobs that the workspace has behind it.
    fn after(jobs: &'q [KnownJob<'q>]) -> UpgradeStart<'q> {
        let resolutions = jobs.iter().flat_map(|job| job.request.resolutions.clone());
        let ledgers = jobs.iter().flat_map(|job| job.ledger.iter().cloned());
        let mut end = 0;
        let past_jobs = jobs.iter().map(|job| {
            let start = end;
            end += job.ledger.len();
            LineJob {
                package: &job.package,
                entries: start..end,
                compares_rows: job.request.compares_rows(),
            }
        });
        UpgradeStart {
            package: jobs.last().map(|job| &job.package),
            past_jobs: past_jobs.collect(),
            resolutions: resolutions.collect(),
            applied: ledgers.collect(),
        }
    }
}

/// Applies the base, then upgrades to the new package, upgrades again, and undoes both upgrades. The
/// workspace before is the one that the base has left.
pub fn upgrade(
    upgrade: SimulatedUpgrade<'_, '_>,
    destination: State,
    people: &mut dyn FnMut(&mut State),
    clock: &dyn Clock,
    ids: &mut dyn Ids,
) -> Result<Simulation, SimulateError> {
    let SimulatedUpgrade {
        package,
        base,
        request,
        definitions,
        ..
    } = upgrade;
    let mut workspace = Memory::new(destination);
    let UpgradeStart {
        package: base,
        resolutions,
        applied,
        mut past_jobs,
    } = match base {
        UpgradeBase::Package(base) => {
            let minter = Minter::new(clock, ids);
            UpgradeStart::apply(base, request, &mut workspace, definitions, minter)?
        }
        UpgradeBase::Jobs(jobs) => UpgradeStart::after(jobs),
    };
    let mut state = workspace.state();
    people(&mut state);
    let mut workspace = Memory::new(state);
    let before = workspace.state();
    let structure = ready(workspace.structure())?;
    let rows = RowBase::of_line(&applied, past_jobs.iter().cloned());
    let past = JobHistory {
        entries: &applied,
        base: base.map(|package| BasePackage {
            job: None,
            package,
            resolutions: &resolutions,
            legacy_jobs: &[],
            rows: &rows,
        }),
    };
    let completed = past
        .base
        .map(|base| base.completed(request, package, &structure));
    let preview = ready(apply::preview(
        &workspace,
        &structure,
        PreviewInput {
            package,
            package_digest: upgrade.package_digest,
            request,
            earlier: past.entries,
            base: past.base,
            definitions,
        },
    ))?;
    if !preview.refusals.is_empty() {
        return Err(SimulateError::Undecided(Box::new(preview)));
    }
    let report = pass(
        &mut workspace,
        package,
        request,
        past,
        definitions,
        Minter::new(clock, ids),
    )?;
    let after = workspace.state();

    let upgraded = workspace.next_job();
    let kept = completed.map_or_else(
        || request.resolutions.clone(),
        |completed| completed.resolutions,
    );
    past_jobs.push(LineJob {
        package,
        entries: applied.len()..applied.len() + upgraded.len(),
        compares_rows: request.compares_rows(),
    });
    let entries = [applied.as_slice(), &upgraded].concat();
    let rows = RowBase::of_line(&entries, past_jobs);
    let past = JobHistory {
        entries: &entries,
        base: Some(BasePackage {
            job: None,
            package,
            resolutions: &kept,
            legacy_jobs: &[],
            rows: &rows,
        }),
    };
    let again = pass(
        &mut workspace,
        package,
        request,
        past,
        definitions,
        Minter::new(clock, ids),
    )?;
    let again_changed = workspace.state() != after;
    ready(apply::undo(&mut workspace, false))?;
    workspace.take_up(upgraded.clone());
    ready(apply::undo(&mut workspace, false))?;
    let restored = is_same(workspace.state(), before);
    Ok(Simulation {
        preview,
        report,
        applied: after,
        ledger: entries,
        written: upgraded,
        again,
        again_changed,
        restored,
        resolutions: kept,
    })
}

/// Whether two workspaces hold the same. In which order the cells of a row stand says nothing: one that was taken out
/// comes back at the end.
fn is_same(one: State, other: State) -> bool {
    one == other || with_sorted_cells(one) == with_sorted_cells(other)
}

fn with_sorted_cells(mut state: State) -> State {
    for row in state.rows.values_mut().flatten() {
        let mut cells = String::new();
        sorted_to(&mut cells, row.data.as_str());
        row.data = RowData::trusted(&cells);
    }
    state
}

/// One pass of a package over a workspace.
fn pass(
    workspace: &mut Memory,
    package: &Checked<'_>,
    request: &Request,
    past: JobHistory<'_>,
    definitions: &Definitions,
    minter: Minter,
) -> Result<Report, SimulateError> {
    let structure = ready(workspace.structure())?;
    let decided = apply::decide_from(
        workspace,
        ResolveInput {
            package,
            request,
            destination: &structure,
            past,
            definitions,
        },
        minter,
    );
    let approved = ready(decided)?.map_err(SimulateError::Refused)?;
    let payloads = &package.payloads;
    let mut unwatched = |_| {};
    let run = apply::run_from(
        workspace,
        &approved,
        payloads,
        past,
        definitions,
        &mut unwatched,
    );
    Ok(ready(run)?)
}

/// What is to become of dependencies: what a request says, else what can be had without asking. Nothing is said of those
/// that an equal name satisfies.
pub fn proposed(package: &Checked<'_>, request: &Request, destination: &Structure) -> Resolutions {
    let dependencies = package.manifest.dependencies().iter();
    let resolution = |dependency: &Dependency| {
        let given = request.resolutions.get(&dependency.reference);
        given.cloned().or_else(|| match dependency.blueprint {
            Some(_) => Some(Resolution::Import),
            None if apply::is_satisfied(dependency, destination) => None,
            None => Some(Resolution::Skip),
        })
    };
    dependencies
        .filter_map(|dependency| Some((dependency.reference.clone(), resolution(dependency)?)))
        .collect()
}

/// An empty workspace after a package was applied to it: what the package uses and does not bring
/// is created where it has a blueprint and skipped where it has none.
pub fn built(
    package: &Checked<'_>,
    empty: State,
    definitions: &Definitions,
    clock: &dyn Clock,
    ids: &mut dyn Ids,
) -> Result<State, SimulateError> {
    let request = Request {
        resolutions: proposed(package, &Request::default(), &empty.structure),
        ..Request::default()
    };
    let mut workspace = Memory::new(empty);
    let minter = Minter::new(clock, ids);
    pass(
        &mut workspace,
        package,
        &request,
        JobHistory::default(),
        definitions,
        minter,
    )?;
    Ok(workspace.state())
}
