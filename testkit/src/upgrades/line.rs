//! Jobs one after the other in one workspace, as a server carries them out: a plan, and a job only when
//! nothing is against it.

use tplkit::apply::{
    ApplyError, BasePackage, DriftInput, JobHistory, LineJob, Minter, Preview, PreviewInput,
    Report, Request, Resolutions, ResolveInput, RowBase, decide_from, drift, preview, run_from,
    speaks_of_all,
};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::problem::Code;
use tplkit::simulate::proposed;
use tplkit::upgrade::Drift;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::State;
use tplkit::workspace::{
    CommitError, Id, Lookup as _, Progress, Source as _, Structure, Target as _, Unit,
};

use super::killed::{Attempt, Kill};
use super::{Place, changes};
use crate::random::{EditStep, Hand, Shape, edit};

/// A workspace with what was applied to it.
pub(super) struct Line<P> {
    place: P,
    jobs: Vec<Done>,
    /// How many jobs there were.
    nonce: u64,
}

/// A job that was completed.
#[derive(Clone)]
pub(super) struct Done {
    number: usize,
    text: String,
    resolutions: Resolutions,
    pub(super) ledger: Vec<Entry>,
    /// Whether it is an upgrade with rows.
    compares: bool,
}

/// A job that was not refused.
pub(super) struct Ran {
    pub(super) report: Report,
    /// Units that it wrote when nothing stopped it.
    pub(super) units: usize,
    /// Whether a job that was to be killed was.
    pub(super) killed: bool,
}

pub(super) fn request(upgrade: bool) -> Request {
    let mut request = Request {
        upgrade,
        ..Request::default()
    };
    request.terms.allow_downgrade = upgrade;
    request
}

fn failed<E: std::fmt::Display>(doing: &str) -> impl Fn(E) -> String + '_ {
    move |error| format!("{doing}: {error}")
}

impl<P: Place> Line<P> {
    /// Nothing was applied there yet.
    pub(super) fn new(place: P) -> Line<P> {
        Line {
            place,
            jobs: Vec::new(),
            nonce: 0,
        }
    }

    /// What all jobs have written.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let jobs = self.jobs.iter();
        jobs.flat_map(|job| job.ledger.iter().cloned()).collect()
    }

    /// Everything of the workspace.
    pub(super) async fn state(&mut self) -> Result<State, String> {
        let job = self.place.begin().await;
        let target = self.place.open(job).await;
        let structure = target.structure().await.map_err(failed("reading"))?;
        let here = &structure.workspace;
        let mut state = State::empty(structure.organization.id, here.id, &here.name, &here.label);
        for feature in &structure.features {
            let mut all = Vec::new();
            loop {
                let after = all.last().map(|row: &tplkit::workspace::StoredRow| row.id);
                let page = target.rows(feature.id, after, 500).await;
                let page = page.map_err(failed("reading rows"))?;
                if page.is_empty() {
                    break;
                }
                all.extend(page);
            }
            if !all.is_empty() {
                state.rows.insert(feature.id, all);
            }
            for column in feature.columns.iter().filter(|one| one.is_sequence()) {
                let next = target.sequence(feature.id, column.id).await;
                let next = next.map_err(failed("reading sequences"))?;
                if let Some(next) = next.filter(|next| *next != 1) {
                    state.sequences.insert(column.id, next);
                }
            }
        }
        state.structure = structure;
        Ok(state)
    }

    /// People do something. Gives what they did.
    pub(super) async fn people(
        &mut self,
        shape: &Shape,
        history: &[EditStep],
        hand: Hand,
    ) -> Result<Vec<String>, String> {
        let mut before = self.state().await?;
        let mut done = Vec::new();
        let job = self.place.begin().await;
        for step in history {
            let mut after = before.clone();
            // Behind those of the author.
            let step = EditStep {
                position: step.position + 1_000,
                ..*step
            };
            let Some(what) = edit(&mut after, shape, step, hand) else {
                continue;
            };
            let unit = Unit {
                changes: changes::between(&before, &after),
                entry: None,
                progress: Progress {
                    phase: "structure",
                    done: 0,
                    total: 0,
                },
                report: None,
            };
            match self.place.open(job).await.commit(unit).await {
                Ok(()) => {
                    done.push(what);
                    before = after;
                }
                // The workspace refuses the value, and people do something else.
                Err(CommitError::Refused(refused)) if refused.code == Code::UniqueViolation => {}
                Err(error) => {
                    return Err(format!("people cannot do that: {error}: {what}, {done:#?}"));
                }
            }
        }
        Ok(done)
    }

    /// What would be done.
    pub(super) async fn plan(&mut self, text: &str, request: &Request) -> Result<Preview, String> {
        let package = Checked::trusted(text).map_err(failed("reading"))?;
        let entries = self.entries();
        let jobs = self.jobs.clone();
        let packages = packages(&jobs)?;
        let rows = row_bases(&entries, &jobs, &packages);
        let job = self.place.begin().await;
        let target = self.place.open(job).await;
        let structure = target.structure().await.map_err(failed("reading"))?;
        let request = &complete(&package, request, &structure);
        let input = PreviewInput {
            package: &package,
            package_digest: "",
            request,
            earlier: &entries,
            base: base(&jobs, &packages, &rows),
            definitions: Definitions::embedded(),
        };
        preview(&*target, &structure, input)
            .await
            .map_err(failed("planning"))
    }

    /// The same, made twice: whoever looked at the one agrees to the other.
    pub(super) async fn plan_twice(
        &mut self,
        text: &str,
        request: &Request,
    ) -> Result<Preview, String> {
        let plan = self.plan(text, request).await?;
        let again = self.plan(text, request).await?;
        if plan != again {
            return Err(format!(
                "two plans of the same differ: {plan:#?}\n{again:#?}"
            ));
        }
        Ok(plan)
    }

    /// A job from its start to its end; nothing when it is refused.
    pub(super) async fn apply(
        &mut self,
        text: &str,
        request: &Request,
    ) -> Result<Option<Ran>, String> {
        let plan = self.plan(text, request).await?;
        if !plan.refusals.is_empty() {
            return Ok(None);
        }
        self.run(text, request, None).await.map(Some)
    }

    /// The same, whatever a plan says, killed on the way and taken up again.
    pub(super) async fn run(
        &mut self,
        text: &str,
        request: &Request,
        kill: Option<Kill>,
    ) -> Result<Ran, String> {
        let package = Checked::trusted(text).map_err(failed("reading"))?;
        self.nonce += 1;
        let start = "2026-03-02T10:00:00Z".parse();
        let start = start.map_err(|_| "no instant")?;
        let minter = Minter::at(start, 0xABC_0000 + self.nonce);
        let number = self.place.begin().await;
        let target = self.place.open(number).await;
        let structure = target.structure().await.map_err(failed("reading"))?;
        let request = &complete(&package, request, &structure);
        let mut kills = kill.into_iter();
        let mut killed = false;
        loop {
            let kill = kills.next();
            let entries = self.entries();
            let jobs = self.jobs.clone();
            let packages = packages(&jobs)?;
            let rows = row_bases(&entries, &jobs, &packages);
            let past = JobHistory {
                entries: &entries,
                base: base(&jobs, &packages, &rows),
            };
            let target = self.place.open(number).await;
            let own = target
                .ledger()
                .await
                .map_err(failed("reading the ledger"))?;
            let structure = target.structure().await.map_err(failed("reading"))?;
            let known = [entries.as_slice(), &own].concat();
            let deciding = JobHistory {
                entries: &known,
                ..past
            };
            let definitions = Definitions::embedded();
            let decided = decide_from(
                &*target,
                ResolveInput {
                    package: &package,
                    request,
                    destination: &structure,
                    past: deciding,
                    definitions,
                },
                minter,
            );
            let decided = decided.await.map_err(failed("measuring"))?;
            let approved = decided.map_err(|refusals| format!("refused: {refusals:#?}"))?;
            let mut attempt = Attempt::new(target, kill);
            let payloads = &package.payloads;
            let mut unwatched = |_| {};
            let ran = run_from(
                &mut attempt,
                &approved,
                payloads,
                past,
                definitions,
                &mut unwatched,
            );
            let ran = ran.await;
            killed |= attempt.killed;
            let units = attempt.units;
            // A job that was killed at its last unit is completed all the same.
            let ran = match (ran, attempt.completed) {
                (Err(ApplyError::Fenced), Some(report)) => {
                    Ok(serde_json::from_str(&report).map_err(failed("reading the report"))?)
                }
                (ran, _) => ran,
            };
            match ran {
                Ok(report) => {
                    let done = Done {
                        number,
                        text: text.to_owned(),
                        resolutions: request.resolutions.clone(),
                        ledger: self.place.ledger(number).await,
                        compares: request.compares_rows(),
                    };
                    self.jobs.push(done);
                    return Ok(Ran {
                        report,
                        units,
                        killed,
                    });
                }
                Err(ApplyError::Fenced) if killed && kill.is_some() => {}
                Err(error) => return Err(format!("the apply failed: {error}")),
            }
        }
    }

    /// Takes a job back that others came after.
    pub(super) async fn undo_at(&mut self, at: usize) -> Result<(), String> {
        let job = self.jobs.remove(at);
        self.place.undo(job.number).await
    }

    /// Takes the last job back.
    pub(super) async fn undo(&mut self) -> Result<(), String> {
        let Some(job) = self.jobs.pop() else {
            return Err("there is nothing to undo".to_owned());
        };
        self.place.undo(job.number).await
    }

    /// What differs from what was applied last.
    pub(super) async fn drift(&mut self) -> Result<Drift, String> {
        let entries = self.entries();
        let Some(newest) = self.jobs.last().cloned() else {
            return Err("nothing was applied".to_owned());
        };
        let package = Checked::trusted(&newest.text).map_err(failed("reading"))?;
        let jobs = self.jobs.clone();
        let packages = packages(&jobs)?;
        let rows = row_bases(&entries, &jobs, &packages);
        let job = self.place.begin().await;
        let target = self.place.open(job).await;
        let structure = target.structure().await.map_err(failed("reading"))?;
        let request = complete(&package, &request(false), &structure);
        let input = DriftInput {
            template: Id::nil(),
            past: JobHistory {
                entries: &entries,
                base: base(&jobs, &packages, &rows),
            },
            request: &request,
            unseen: &std::collections::HashSet::new(),
            cells: true,
            definitions: Definitions::embedded(),
        };
        drift(&*target, &structure, input)
            .await
            .map_err(failed("comparing"))
    }
}

/// With what becomes of dependencies.
fn complete(package: &Checked<'_>, request: &Request, destination: &Structure) -> Request {
    Request {
        resolutions: proposed(package, request, destination),
        ..request.clone()
    }
}

fn packages(jobs: &[Done]) -> Result<Vec<Checked<'_>>, String> {
    let texts = jobs.iter().map(|job| Checked::trusted(&job.text));
    texts
        .map(|package| package.map_err(failed("reading")))
        .collect()
}

fn row_bases<'b>(
    entries: &[Entry],
    jobs: &[Done],
    packages: &'b [Checked<'b>],
) -> Vec<RowBase<'b>> {
    let mut end = 0;
    let jobs = jobs.iter().zip(packages).map(|(job, package)| {
        let start = end;
        end += job.ledger.len();
        LineJob {
            package,
            entries: start..end,
            compares_rows: job.compares,
        }
    });
    let mut bases = RowBase::of_line(entries, jobs);
    // A server reads no more than it has to.
    if let Some(most) = (1..bases.len()).find(|most| speaks_of_all(entries, &bases[..*most])) {
        bases.truncate(most);
    }
    bases
}

fn base<'b>(
    jobs: &'b [Done],
    packages: &'b [Checked<'b>],
    rows: &'b [RowBase<'b>],
) -> Option<BasePackage<'b>> {
    Some(BasePackage {
        job: None,
        package: packages.last()?,
        resolutions: &jobs.last()?.resolutions,
        legacy_jobs: &[],
        rows,
    })
}
