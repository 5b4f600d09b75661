//! Workspaces and jobs put into a store by hand.

use tplkit::apply::{Minter, Request, Resolutions};
use tplkit_server::context::{Context, random};
use tplkit_server::jobs::{self, Destination, Job, Lease};
use tplkit_server::rows::Tables;
use tplkit_server::store::{Scope, Store, StoreError, Tx};
use uuid::Uuid;

/// An empty workspace that everybody in the organization sees, and somebody of the same id who may write
/// to it: jobs are asked for by people who still have the right to.
pub async fn workspace(store: &Store, context: &Context, organization: Uuid) -> Uuid {
    let id = context.id();
    let input = (organization, id, context.now());
    let made = store.write(&Scope::Operator, input, |tx, (organization, id, now)| {
        Box::pin(async move {
            let sql = "INSERT INTO main.workspaces {into $1} (organization_id, id, name, label, \
                 access, config, created_at, updated_at) \
                 VALUES ($1, $2, $3, 'Fresh', 'organization', $4, $5, $5)";
            let parameters = [
                (*organization).into(),
                (*id).into(),
                format!("w{id}").into(),
                "{}".into(),
                (*now).into(),
            ];
            tx.query(sql, &parameters).await?;
            person(tx, *organization, *id, *now).await
        })
    });
    let made: Result<(), StoreError> = made.await;
    made.expect("a workspace");
    id
}

async fn person(tx: &mut Tx, organization: Uuid, id: Uuid, now: i64) -> Result<(), StoreError> {
    let email = format!("{id}@acme.test");
    let sql = "INSERT INTO main.users (id, email, password_hash, platform_admin, created_at) \
         VALUES ($1, $2, 'x', $3, $4)";
    let parameters = [id.into(), email.as_str().into(), false.into(), now.into()];
    tx.query(sql, &parameters).await?;
    let sql = "INSERT INTO main.memberships {into $1} (organization_id, user_id, email, role, \
         created_at) VALUES ($1, $2, $3, 'editor', $4)";
    let parameters = [organization.into(), id.into(), email.into(), now.into()];
    tx.query(sql, &parameters).await.map(drop)
}

/// A job that is asked for.
pub fn new(context: &Context, organization: Uuid, workspace: Uuid) -> jobs::New {
    jobs::New {
        organization,
        workspace,
        id: context.id(),
        template: context.id(),
        creator: workspace,
        request: Request::default(),
        // The clock may stand still; two jobs never mint the same ids.
        minter: Minter::at(context_time(context), u64::from_be_bytes(random())),
        inherited: Resolutions::new(),
        parts: Vec::new(),
        base: Vec::new(),
        now: context.now(),
    }
}

fn context_time(context: &Context) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(context.now()).expect("a time")
}

/// Writes a job down.
pub async fn create(store: &Store, new: jobs::New) -> bool {
    let made = store.write(&Scope::Operator, new, |tx, new| {
        Box::pin(jobs::create(tx, new))
    });
    made.await.expect("is written")
}

/// The job as it is.
pub async fn job(store: &Store, context: &Context, job: Uuid) -> Job {
    let input = (job, context.now());
    let found = store.read(&Scope::Operator, input, |tx, input| {
        Box::pin(jobs::find(tx, input.0, input.1))
    });
    let found: Result<Option<Job>, StoreError> = found.await;
    found.expect("is read").expect("is there")
}

/// Takes a job up.
pub async fn taken(store: &Store, context: &Context, id: Uuid, seconds: i64) -> Lease {
    let job = job(store, context, id).await;
    let lease = jobs::take(store, context, &job, seconds * 1_000_000).await;
    lease.expect("is taken").expect("is free")
}

/// The workspace of a job that was taken up.
pub async fn destination(store: &Store, context: &Context, lease: Lease) -> Destination {
    let opened = Destination::open(store, context, &Tables::default(), lease).await;
    opened.expect("opens")
}
