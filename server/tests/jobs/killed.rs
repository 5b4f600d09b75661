//! Workers are killed, stopped and raced while they carry a job out, and in the end everything is as if
//! nothing had happened.
//!
//! `TPLKIT_KILLS` says how often (10), `TPLKIT_KILL_TABLES` and `TPLKIT_KILL_ROWS` how much is applied (6
//! tables of 520 rows). Every other run has several kills.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::time::sleep;
use tplkit_server::context::{Context, SystemClock, random};
use tplkit_server::identity::organizations;
use tplkit_server::jobs::{Status, Undo};
use tplkit_server::store::Store;
use uuid::Uuid;

use super::fixtures;
use super::outcome::{Outcome, ledger, plain, published};
use super::packages::{Package, everything};
use crate::process::command;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_job_survives_the_death_of_its_workers,
    an_undo_survives_the_death_of_its_workers,
);

/// What the environment says of how much is tested.
fn setting(name: &str, usual: usize) -> usize {
    #[expect(clippy::disallowed_methods, reason = "says how much is tested")]
    let started = std::env::var(name).ok();
    started
        .and_then(|started| started.parse().ok())
        .unwrap_or(usual)
}

/// A process that carries jobs out; it ends with the test.
struct Working(Child);

impl Working {
    fn start(place: &Place) -> Working {
        let mut command = command(&["worker", "--lease-seconds", "1", "--database", &place.url]);
        let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Working(started.expect("starts"))
    }

    fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.expect("kill exists").success());
    }

    /// Whether it still runs: a worker that ends by itself is not worth waiting for.
    #[track_caller]
    fn lives(&mut self) {
        let ended = self.0.try_wait().expect("is known");
        assert!(ended.is_none(), "a worker has ended by itself: {ended:?}");
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct StartedJob {
    organization: Uuid,
    workspace: Uuid,
    job: Uuid,
    minter: tplkit::apply::Minter,
    before: Outcome,
}

fn context() -> Context {
    Context::new(std::sync::Arc::new(SystemClock))
}

async fn start_job(store: &Store, package: &Package) -> StartedJob {
    let context = context();
    let new = organizations::New {
        id: context.id(),
        label: "O".to_owned(),
        seats: None,
        row_quota: None,
        file_quota: None,
        now: context.now(),
    };
    let organization = organizations::create(store, new).await.expect("creates").id;
    let workspace = fixtures::workspace(store, &context, organization).await;
    let before = Outcome::of(store, workspace).await;
    let new = package.job(&context, organization, workspace);
    let (job, minter) = (new.id, new.minter);
    assert!(fixtures::create(store, new).await);
    StartedJob {
        organization,
        workspace,
        job,
        minter,
        before,
    }
}

async fn status(store: &Store, job: Uuid) -> Status {
    fixtures::job(store, &context(), job).await.status
}

async fn finished(store: &Store, started: &StartedJob, workers: &mut [Working]) {
    while !status(store, started.job).await.is_finished() {
        workers.iter_mut().for_each(Working::lives);
        sleep(Duration::from_millis(20)).await;
    }
}

/// Asserts that a job came to what it must provide.
async fn assert_applied(store: &Store, package: &Package, started: &StartedJob) {
    let job = fixtures::job(store, &context(), started.job).await;
    assert_eq!(job.status, Status::Completed, "{:?}", job.error);
    let (expected, report) = package.expected(started.before.state(), started.minter);
    Outcome::of(store, started.workspace).await.is(&expected);
    let shown = job.report.as_deref().expect("a report");
    let shown = serde_json::from_str(shown).expect("a report");
    assert_eq!(plain(shown), plain(report));
    let entries = ledger(store, started.organization, started.job).await;
    let published = published(&entries);
    assert_eq!(published.len(), 3, "{published:?}");
    assert!(published.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Many runs of many rows would fill a disk.
const RUNS_IN_A_STORE: usize = 8;

async fn a_job_survives_the_death_of_its_workers(mut place: Place) {
    let mut store = place.open().await;
    let tables = setting("TPLKIT_KILL_TABLES", 6);
    let package = everything(tables, setting("TPLKIT_KILL_ROWS", 520));
    // How long it takes when nobody is killed: until then any instant is as good as another.
    let whole = start_job(&store, &package).await;
    let begun = now();
    finished(&store, &whole, &mut [Working::start(&place)]).await;
    let long = begun.elapsed();
    assert_applied(&store, &package, &whole).await;
    let (mut killed, mut several, mut runs) = (0, 0, 0);
    while killed < setting("TPLKIT_KILLS", 4) {
        if runs > 0 && runs % RUNS_IN_A_STORE == 0 {
            drop(store);
            place = place.another();
            store = place.open().await;
        }
        let started = start_job(&store, &package).await;
        let wanted = if runs % 2 == 0 { 1 } else { 3 };
        let mut here = 0;
        for _ in 0..wanted {
            let mut worker = Working::start(&place);
            let instant = now() + long.mul_f64(f64::from(random_u16()) / f64::from(u16::MAX));
            while now() < instant && !status(&store, started.job).await.is_finished() {
                sleep(Duration::from_millis(2)).await;
            }
            worker.lives();
            if status(&store, started.job).await.is_finished() {
                break;
            }
            worker.signal("-KILL");
            here += 1;
        }
        finished(&store, &started, &mut [Working::start(&place)]).await;
        assert_applied(&store, &package, &started).await;
        (killed, runs) = (killed + here, runs + 1);
        several += usize::from(here > 1);
    }
    print_summary(&format!(
        "{}: {killed} kills in {runs} runs, {several} of them with several; a run takes {:.1} s",
        store.kind(),
        long.as_secs_f64()
    ));
}

/// Every worker dies as soon as it has written a unit, and so in the middle of the next.
async fn an_undo_survives_the_death_of_its_workers(place: Place) {
    let store = place.open().await;
    let package = everything(6, 1100);
    let started = start_job(&store, &package).await;
    finished(&store, &started, &mut [Working::start(&place)]).await;
    let job = fixtures::job(&store, &context(), started.job).await;
    let by = job.created_by.unwrap_or_default();
    let undo = Undo::begin(&store, &context(), &job, by, false, 60_000_000).await;
    let undo = undo.expect("the store works").expect("is free");
    let released = undo.lease.release(&store, &context(), 0).await;
    released.expect("is released");
    let mut killed = 0;
    loop {
        let before = fixtures::job(&store, &context(), started.job).await;
        let mut worker = Working::start(&place);
        let after = loop {
            worker.lives();
            let now = fixtures::job(&store, &context(), started.job).await;
            if now.status.is_finished() || (&now.phase, now.done) != (&before.phase, before.done) {
                break now;
            }
            sleep(Duration::from_millis(1)).await;
        };
        if after.status.is_finished() {
            break;
        }
        assert_eq!(
            (after.status, after.phase.as_str()),
            (Status::Undoing, "undo")
        );
        worker.signal("-KILL");
        killed += 1;
    }
    assert!(killed > 1, "{killed}");
    let job = fixtures::job(&store, &context(), started.job).await;
    assert_eq!(job.status, Status::Undone, "{:?}", job.error);
    assert_eq!(Outcome::of(&store, started.workspace).await, started.before);
}

#[expect(clippy::disallowed_methods, reason = "a kill has to come at some time")]
fn now() -> Instant {
    Instant::now()
}

fn random_u16() -> u16 {
    u16::from_be_bytes(random())
}

#[expect(clippy::print_stdout, reason = "shown by who asks for it")]
fn print_summary(text: &str) {
    println!("{text}");
}

#[test]
fn a_worker_that_was_stopped_past_its_lease_writes_nothing() {
    crate::stores::run(Place::postgres(), async |place: Place| {
        let store = place.open().await;
        let package = everything(6, 1500);
        let started = start_job(&store, &package).await;
        let mut slow = Working::start(&place);
        while !matches!(
            status(&store, started.job).await,
            Status::Rows | Status::Completed
        ) {
            slow.lives();
            sleep(Duration::from_millis(5)).await;
        }
        slow.signal("-STOP");
        assert!(
            !status(&store, started.job).await.is_finished(),
            "too fast to be stopped"
        );
        let mut quick = [Working::start(&place)];
        finished(&store, &started, &mut quick).await;
        assert_applied(&store, &package, &started).await;
        let before = ledger(&store, started.organization, started.job).await;
        slow.signal("-CONT");
        // It finds out that the job is not its own, and looks for others.
        drop(quick);
        let next = start_job(&store, &everything(1, 5)).await;
        finished(&store, &next, &mut [slow]).await;
        let after = ledger(&store, started.organization, started.job).await;
        assert_eq!(before, after);
        assert_applied(&store, &package, &started).await;
    });
}

#[test]
fn two_processes_share_the_jobs_of_one_store() {
    crate::stores::run(Place::postgres(), async |place: Place| {
        let store = place.open().await;
        let package = everything(3, 30);
        let mut all = Vec::new();
        for _ in 0..6 {
            all.push(start_job(&store, &package).await);
        }
        let mut workers = [Working::start(&place), Working::start(&place)];
        for started in &all {
            finished(&store, started, &mut workers).await;
            assert_applied(&store, &package, started).await;
        }
    });
}
