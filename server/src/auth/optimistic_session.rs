//! The session of a request: the only path from a credential to statements that run for a caller.
//!
//! A caller is read from the store, or remembered from an earlier request. A remembered caller is not
//! trusted: the check goes along with the first statement of the transaction, and a transaction whose check
//! fails does nothing. A session has three steps, each taken once:
//!
//! 1. [`open`](OptimisticSession::open): a credential becomes a caller.
//! 2. [`run`](OptimisticSession::run): an operation runs for the caller, after the check where one is required.
//! 3. [`confirm`](OptimisticSession::confirm): a caller whom no transaction has checked is checked at the end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use uuid::Uuid;

use super::caller::Caller;
use super::credential_cache::CredentialCache;
use super::identify::{
    ADMINISTRATOR, KEY, MEMBER, PresentedCredential, SESSION, holder, is_administrator, is_member,
    read_key, read_session,
};
use crate::ids::{TableKey, WorkspaceKey};
use crate::refusal::Refusal;
use crate::store::{
    Check, Input, Output, Precondition, QueryFn, Row, Scope, Store, StoreError, TransactionMode,
    Value,
};

/// Who asks, and whether the store has said so since the request came. Clones are one session.
#[derive(Debug, Clone)]
pub(crate) struct OptimisticSession(Arc<State>);

#[derive(Debug)]
struct State {
    presented: PresentedCredential,
    caller: Arc<Caller>,
    /// The caller of today, where the store knew another one than the remembered.
    renewed: OnceLock<Arc<Caller>>,
    is_verified: AtomicBool,
    /// Whether the store has said so of the one table that the request is about.
    is_verified_of_table: AtomicBool,
}

/// What a transaction of a request is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// How it reads or writes.
    pub(crate) mode: TransactionMode,
    /// The one table that it is about, if it is about one.
    pub(crate) table: Option<TableKey>,
}

impl OptimisticSession {
    /// The session of a credential. With a cache the caller may be a remembered one. `None` for what is no
    /// credential.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn open(
        store: &Store,
        cache: Option<&CredentialCache>,
        credential: &str,
        now: i64,
    ) -> Result<Option<OptimisticSession>, StoreError> {
        let Some(presented) = PresentedCredential::read(credential, now) else {
            return Ok(None);
        };
        if let Some(caller) = cache.and_then(|cache| cache.find(&presented)) {
            return Ok(Some(OptimisticSession::of(presented, caller, false)));
        }
        let Some(caller) = holder(store, presented.clone()).await?.map(Arc::new) else {
            return Ok(None);
        };
        if let Some(cache) = cache {
            cache.remember(&presented, &caller);
        }
        Ok(Some(OptimisticSession::of(presented, caller, true)))
    }

    fn of(
        presented: PresentedCredential,
        caller: Arc<Caller>,
        is_verified: bool,
    ) -> OptimisticSession {
        OptimisticSession(Arc::new(State {
            presented,
            caller,
            renewed: OnceLock::new(),
            is_verified: AtomicBool::new(is_verified),
            is_verified_of_table: AtomicBool::new(false),
        }))
    }

    /// Who asks, as far as it is known.
    pub(crate) fn caller(&self) -> &Arc<Caller> {
        self.0.renewed.get().unwrap_or(&self.0.caller)
    }

    fn is_verified(&self) -> bool {
        self.0.is_verified.load(Ordering::Acquire)
    }

    /// Whether nothing has to be checked for a transaction about a table, or about whatever else.
    fn is_verified_for(&self, table: Option<TableKey>) -> bool {
        let of_table = || self.0.is_verified_of_table.load(Ordering::Acquire);
        self.is_verified() || (table.is_some() && of_table())
    }

    /// Runs an operation for the caller. `prepare` puts the caller into the input, and says as whom the store is
    /// asked, or why not. Where the store knows another caller than the remembered one, nothing was done for
    /// that one, and the operation is prepared and run once more for the one of today. A request is about one
    /// `table` at most: then nothing but that is asked about, neither by the check nor by row security.
    ///
    /// # Errors
    /// Those of the operation and of `prepare`, the store's, and 401 when the credential is good no more.
    pub(crate) async fn run<I: Input, T: Output>(
        &self,
        store: &Store,
        cache: &CredentialCache,
        Subject { mode, table }: Subject,
        mut input: I,
        prepare: impl Fn(&mut I, &Arc<Caller>) -> Result<Scope, Refusal>,
        work: impl QueryFn<I, T, Refusal> + Clone,
    ) -> Result<T, Refusal> {
        let mut scope = prepare(&mut input, self.caller())?;
        let narrow = table.and_then(|table| Some((table, self.caller().scope_of_table(table)?)));
        let table = narrow.map(|(table, narrow)| {
            scope = narrow;
            table
        });
        if self.is_verified_for(table) {
            return store.run(mode, &scope, None, input, work).await.0;
        }
        let check = CallerCheck::new(&self.0.presented, self.caller().clone(), table);
        let check = Arc::new(check);
        let checked: Check = check.clone();
        let (result, input) = store
            .run(mode, &scope, Some(checked), input, work.clone())
            .await;
        let Some(holds) = check.outcome() else {
            // It has asked nothing of the store, or the store did not answer.
            return result;
        };
        if holds {
            let verified = match table {
                Some(_) => &self.0.is_verified_of_table,
                None => &self.0.is_verified,
            };
            verified.store(true, Ordering::Release);
            return result;
        }
        self.renew(store, cache).await?;
        let Some(mut input) = input else {
            return result;
        };
        let scope = prepare(&mut input, self.caller())?;
        store.run(mode, &scope, None, input, work).await.0
    }

    /// Puts the caller of today in place of the remembered one, for this and every later transaction of the session.
    async fn renew(&self, store: &Store, cache: &CredentialCache) -> Result<(), Refusal> {
        let presented = &self.0.presented;
        let Some(caller) = holder(store, presented.clone()).await?.map(Arc::new) else {
            cache.forget(presented);
            return Err(Refusal::unauthenticated());
        };
        cache.remember(presented, &caller);
        let _ = self.0.renewed.set(caller);
        self.0.is_verified.store(true, Ordering::Release);
        Ok(())
    }

    /// Makes sure of a caller whom no transaction has checked: then at least the credential has to be good.
    ///
    /// # Errors
    /// 401 when it is not, and those of the store.
    pub(crate) async fn confirm(&self, store: &Store, now: i64) -> Result<(), Refusal> {
        if self.is_verified() || self.0.is_verified_of_table.load(Ordering::Acquire) {
            return Ok(());
        }
        let presented = PresentedCredential {
            now,
            ..self.0.presented.clone()
        };
        match holder(store, presented).await? {
            Some(_) => Ok(()),
            None => Err(Refusal::unauthenticated()),
        }
    }
}

/// The check that a credential still belongs to a caller, with the same rights.
struct CallerCheck {
    query: CallerQuery,
    parameters: Vec<Value>,
    caller: Arc<Caller>,
    outcome: OnceLock<bool>,
}

/// What has to be asked to be sure.
#[derive(Clone, Copy)]
enum CallerQuery {
    /// Of a key of that organization.
    Key(Uuid),
    /// Of a session whose holder administers all of their organizations.
    Administrator,
    /// Of a session, where one table is asked about.
    Member(TableKey),
    /// Of any other session.
    Session,
}

impl CallerCheck {
    fn new(
        presented: &PresentedCredential,
        caller: Arc<Caller>,
        table: Option<TableKey>,
    ) -> CallerCheck {
        let query = match (presented.organization, table) {
            (Some(organization), _) => CallerQuery::Key(organization),
            (None, Some(table)) => CallerQuery::Member(table),
            (None, None) if caller.administers_all() => CallerQuery::Administrator,
            (None, None) => CallerQuery::Session,
        };
        let mut parameters = match query {
            CallerQuery::Key(organization) => vec![organization.into()],
            CallerQuery::Member(table) => vec![table.organization.into(), table.workspace.into()],
            CallerQuery::Administrator | CallerQuery::Session => Vec::new(),
        };
        parameters.extend([presented.hash.into(), presented.now.into()]);
        CallerCheck {
            query,
            parameters,
            caller,
            outcome: OnceLock::new(),
        }
    }

    /// Whether it held; nothing before it was asked.
    fn outcome(&self) -> Option<bool> {
        self.outcome.get().copied()
    }
}

impl Precondition for CallerCheck {
    fn statement(&self) -> &'static str {
        match self.query {
            CallerQuery::Key(_) => KEY,
            CallerQuery::Administrator => ADMINISTRATOR,
            CallerQuery::Member(_) => MEMBER,
            CallerQuery::Session => SESSION,
        }
    }

    fn parameters(&self) -> &[Value] {
        &self.parameters
    }

    fn holds(&self, response: &[Row]) -> Result<bool, StoreError> {
        let caller = &*self.caller;
        let holds = match self.query {
            CallerQuery::Key(organization) => {
                let known = read_key(organization, response)?;
                known.is_some_and(|(known, _)| known == *caller)
            }
            CallerQuery::Administrator => is_administrator(caller, response)?,
            CallerQuery::Member(table) => {
                let place = WorkspaceKey {
                    organization: table.organization,
                    workspace: table.workspace,
                };
                is_member(caller, place, response)?
            }
            CallerQuery::Session => read_session(response)?.as_ref() == Some(caller),
        };
        // The first attempt at a transaction decides.
        let _ = self.outcome.set(holds);
        Ok(holds)
    }
}
