//! Jobs: a package, what was decided about it, and one attempt after the other.

use indexmap::IndexMap;
use tplkit::apply::{
    ApplyError, Approved, Minter, Report, Request, Resolution, RowsMode, resolve, run,
};
use tplkit::check::Checked;
use tplkit::definitions::{Definitions, ReferenceKind};
use tplkit::package::model::{Dependency, DependencyForm};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Source as _, Structure, Target as _, ready};

use crate::seeds::Dice;
use crate::world::empty_beside;

/// One apply of one package.
pub(crate) struct Job<'t> {
    pub(crate) package: &'t Checked<'t>,
    pub(crate) request: Request,
    pub(crate) minter: Minter,
}

pub(crate) fn minter(nonce: u64) -> Minter {
    Minter::at("2026-03-02T10:00:00Z".parse().unwrap(), nonce)
}

/// Decides every dependency in a way that cannot be refused: what has a name is taken by name,
/// what can be created is, what remains is skipped. With dice some are skipped all the same.
pub(crate) fn decided(package: &Checked<'_>, into: &State, dice: Option<&mut Dice>) -> Request {
    let mut request = Request::default();
    let mut none = Dice::new(0);
    let skipping = dice.is_some();
    let dice = dice.unwrap_or(&mut none);
    for dependency in dependencies(package) {
        let organization = &into.structure.organization;
        let name = dependency.identity.name.as_str();
        let channels = organization.channels.iter().flatten();
        let channel = channels
            .filter(|channel| channel.name.as_deref() == Some(name))
            .map(|channel| channel.id.to_string())
            .next();
        let taken = match dependency.kind {
            ReferenceKind::Channel => channel,
            ReferenceKind::Connection => {
                let known = organization.connections.as_ref();
                let there = |all: &Vec<_>| {
                    all.iter()
                        .any(|one: &tplkit::workspace::Connection| one.name == name)
                };
                known.is_none_or(there).then(|| name.to_owned())
            }
            ReferenceKind::TimerProfile if dependency.form == DependencyForm::Name => {
                let known = organization.timer_profiles.as_ref();
                let there = |all: &Vec<_>| {
                    all.iter()
                        .any(|one: &tplkit::workspace::Named| one.name == name)
                };
                known.is_none_or(there).then(|| name.to_owned())
            }
            _ => None,
        };
        let resolution = if skipping && dice.below(3) == 0 {
            Resolution::Skip
        } else if let Some(id) = taken {
            let columns = IndexMap::new();
            Resolution::Map { id, columns }
        } else if dependency.blueprint.is_some() {
            Resolution::Import
        } else {
            Resolution::Skip
        };
        request
            .resolutions
            .insert(dependency.reference.clone(), resolution);
    }
    request
}

/// Some tables by key, some not at all, where the package allows it.
fn modes(package: &Checked<'_>, request: &mut Request, dice: &mut Dice) {
    for entry in &package.payloads {
        let mode = match dice.below(5) {
            0 => RowsMode::None,
            1 if entry.key_column.is_some() && entry.key_unique => RowsMode::MissingByKey,
            _ => continue,
        };
        request.rows_modes.insert(entry.feature_ref.clone(), mode);
    }
}

/// A job with random decisions on the package of a random workspace, and where it goes: beside
/// its source, or into a workspace that is in use.
pub(crate) fn job<'t>(seed: u64, package: &'t Checked<'t>, source: &State) -> (Job<'t>, State) {
    let mut dice = Dice::new(seed);
    let destination = if dice.below(2) == 0 {
        empty_beside(source)
    } else {
        source.clone()
    };
    let mut request = decided(package, &destination, Some(&mut dice));
    modes(package, &mut request, &mut dice);
    let minter = minter(seed);
    let job = Job {
        package,
        request,
        minter,
    };
    (job, destination)
}

impl Job<'_> {
    /// Everything decided for a destination that looks like this.
    pub(crate) fn approve(
        &self,
        destination: &Structure,
        earlier: &[Entry],
    ) -> Result<Approved, String> {
        let (package, request) = (self.package, &self.request);
        let definitions = Definitions::embedded();
        let earlier = Some(earlier);
        let said = resolve(
            package,
            request,
            destination,
            earlier,
            self.minter,
            definitions,
        );
        said.map_err(|refusals| format!("refused: {refusals:?}"))
    }

    /// The whole apply, as far as it gets: the report, or nothing when the store failed.
    pub(crate) fn attempt(
        &self,
        target: &mut Memory,
        earlier: &[Entry],
    ) -> Result<Option<Report>, String> {
        let (Ok(own), Ok(destination)) = (ready(target.ledger()), ready(target.structure())) else {
            return Ok(None);
        };
        let approved = self.approve(&destination, &[earlier, &own].concat())?;
        carry_out(target, &approved, self.package, earlier)
    }

    /// The whole apply.
    pub(crate) fn run(&self, target: &mut Memory, earlier: &[Entry]) -> Result<Report, String> {
        let report = self.attempt(target, earlier)?;
        report.ok_or_else(|| "the store failed, and nobody asked it to".to_owned())
    }
}

fn carry_out(
    target: &mut Memory,
    approved: &Approved,
    package: &Checked<'_>,
    earlier: &[Entry],
) -> Result<Option<Report>, String> {
    let (payloads, definitions) = (&package.payloads, Definitions::embedded());
    let mut watch = |_| {};
    match ready(run(
        target,
        approved,
        payloads,
        earlier,
        definitions,
        &mut watch,
    )) {
        Ok(report) => Ok(Some(report)),
        Err(ApplyError::Store { .. }) => Ok(None),
        Err(error) => Err(format!("the apply failed: {error}")),
    }
}

/// What the package uses and does not carry.
pub(crate) fn dependencies<'p>(package: &'p Checked<'_>) -> &'p [Dependency] {
    let layers = package.manifest.layers();
    layers.map_or(&[], |layers| &layers.dependencies)
}
