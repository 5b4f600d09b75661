//! Jobs: a package, what was decided about it, and one attempt after the other.

use tplkit::apply::{
    ApplyError, Approved, JobHistory, Minter, Report, Request, ResolveInput, resolve, run,
};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::State;
use tplkit::workspace::{Structure, Target, ready};

use crate::decide::{decided, modes};
use crate::seeds::Dice;
use crate::world::destination;

/// One apply of one package.
pub(crate) struct Job<'t> {
    pub(crate) package: &'t Checked<'t>,
    pub(crate) request: Request,
    pub(crate) minter: Minter,
    pub(crate) nonce: u64,
}

fn minter(nonce: u64) -> Minter {
    Minter::at("2026-03-02T10:00:00Z".parse().unwrap(), nonce)
}

/// A job with random decisions on the package of a random workspace, and where it goes.
pub(crate) fn job<'t>(seed: u64, package: &'t Checked<'t>, source: &State) -> (Job<'t>, State) {
    let mut dice = Dice::new(seed);
    let destination = destination(seed, source, &mut dice);
    let mut request = decided(package, &destination, Some(&mut dice));
    modes(package, &mut request, &mut dice);
    (Job::new(package, request, seed), destination)
}

impl<'t> Job<'t> {
    pub(crate) fn new(package: &'t Checked<'t>, request: Request, nonce: u64) -> Job<'t> {
        Job {
            package,
            request,
            minter: minter(nonce),
            nonce,
        }
    }

    /// The same once more, as a job of its own.
    pub(crate) fn later(&self, times: u64) -> Job<'t> {
        let nonce = self.nonce + times * 1_000_000;
        Job::new(self.package, self.request.clone(), nonce)
    }

    /// Everything decided for a destination that looks like this.
    pub(crate) fn approve(
        &self,
        destination: &Structure,
        earlier: &[Entry],
    ) -> Result<Approved, String> {
        let (package, request) = (self.package, &self.request);
        let definitions = Definitions::embedded();
        let said = resolve(
            ResolveInput {
                package,
                request,
                destination,
                past: JobHistory::of(earlier),
                definitions,
            },
            self.minter,
        );
        said.map_err(|refusals| format!("refused: {refusals:?}"))
    }

    /// The whole apply, as far as it gets: the report, or nothing when the store failed.
    pub(crate) fn attempt<T: Target>(
        &self,
        target: &mut T,
        earlier: &[Entry],
    ) -> Result<Option<Report>, String> {
        let (Ok(own), Ok(destination)) = (ready(target.ledger()), ready(target.structure())) else {
            return Ok(None);
        };
        let approved = self.approve(&destination, &[earlier, &own].concat())?;
        carry_out(target, &approved, self.package, earlier)
    }

    /// The whole apply.
    pub(crate) fn run<T: Target>(
        &self,
        target: &mut T,
        earlier: &[Entry],
    ) -> Result<Report, String> {
        let report = self.attempt(target, earlier)?;
        report.ok_or_else(|| "the store failed, and nobody asked it to".to_owned())
    }
}

fn carry_out<T: Target>(
    target: &mut T,
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
