//! The session of a request: the only path from a credential to statements that run for a caller.
//!
//! A caller is read from the store, or remembered from an earlier request. A remembered caller is not
//! trusted: the check goes along with the first statement of the transaction, and a transaction whose check
//! fails does nothing. A session has three steps, each taken once:
//!
//! 1. [`open`](OptimisticSession::open): a credential becomes a caller.
//! 2. [`run`](OptimisticSession::run): an operation runs for the caller, after the check where one is required.
//! 3. [`confirm`](OptimisticSession::confirm): a caller whom no transaction has checked is checked at the end.
//!
//! A request that takes long continues in a session of its own, opened by
//! [`reopen`](OptimisticSession::reopen). The credential is read from the request once, before `open`.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

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

/// Who asks, and what the store has confirmed of that since the request came. Clones are one session.
#[derive(Debug, Clone)]
pub(crate) struct OptimisticSession(Arc<State>);

#[derive(Debug)]
struct State {
    presented: PresentedCredential,
    known: Mutex<KnownCaller>,
}

/// The caller of a session, as far as it is known.
#[derive(Debug, Clone)]
struct KnownCaller {
    /// The remembered caller, or the one that the store knows today.
    caller: Arc<Caller>,
    /// How much of the caller the store has confirmed.
    confirmed: Confirmed,
}

/// How much of a caller the store has confirmed since the request came, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Confirmed {
    /// Nothing: the caller is remembered from an earlier request.
    Nothing,
    /// What concerns the one table that the request is about.
    Table,
    /// Everything.
    Everything,
}

impl Confirmed {
    /// What a check confirms that is about a table, or about everything.
    fn by_check_of(table: Option<TableKey>) -> Confirmed {
        match table {
            Some(_) => Confirmed::Table,
            None => Confirmed::Everything,
        }
    }

    /// Whether nothing has to be checked for a transaction about a table, or about everything.
    fn suffices_for(self, table: Option<TableKey>) -> bool {
        self >= Confirmed::by_check_of(table)
    }
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
            let session = OptimisticSession::of(presented, caller, Confirmed::Nothing);
            return Ok(Some(session));
        }
        let Some(caller) = holder(store, presented.clone()).await?.map(Arc::new) else {
            return Ok(None);
        };
        if let Some(cache) = cache {
            cache.remember(&presented, &caller);
        }
        let session = OptimisticSession::of(presented, caller, Confirmed::Everything);
        Ok(Some(session))
    }

    /// A new session of the same credential, whose caller is read from the store. `None` when the credential is
    /// good no more.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn reopen(
        &self,
        store: &Store,
        now: i64,
    ) -> Result<Option<OptimisticSession>, StoreError> {
        let presented = self.presented_at(now);
        let caller = holder(store, presented.clone()).await?.map(Arc::new);
        Ok(caller.map(|caller| OptimisticSession::of(presented, caller, Confirmed::Everything)))
    }

    fn of(
        presented: PresentedCredential,
        caller: Arc<Caller>,
        confirmed: Confirmed,
    ) -> OptimisticSession {
        OptimisticSession(Arc::new(State {
            presented,
            known: Mutex::new(KnownCaller { caller, confirmed }),
        }))
    }

    /// Who asks, as far as it is known.
    pub(crate) fn caller(&self) -> Arc<Caller> {
        self.lock().caller.clone()
    }

    /// The hash by which the store knows the credential.
    pub(crate) fn credential_hash(&self) -> [u8; 32] {
        self.0.presented.hash
    }

    /// The credential, to be good at another time.
    fn presented_at(&self, now: i64) -> PresentedCredential {
        PresentedCredential {
            now,
            ..self.0.presented.clone()
        }
    }

    fn known(&self) -> KnownCaller {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, KnownCaller> {
        let known = &self.0.known;
        known.lock().unwrap_or_else(PoisonError::into_inner)
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
        let KnownCaller { caller, confirmed } = self.known();
        let mut scope = prepare(&mut input, &caller)?;
        let narrow = table.and_then(|table| Some((table, caller.scope_of_table(table)?)));
        let table = narrow.map(|(table, narrow)| {
            scope = narrow;
            table
        });
        if confirmed.suffices_for(table) {
            return store.run(mode, &scope, None, input, work).await.0;
        }
        let check = Arc::new(CallerCheck::new(&self.0.presented, caller, table));
        let checked: Check = check.clone();
        let (result, input) = store
            .run(mode, &scope, Some(checked), input, work.clone())
            .await;
        let Some(holds) = check.outcome() else {
            // It has asked nothing of the store, or the store did not respond.
            return result;
        };
        if holds {
            self.note(Confirmed::by_check_of(table));
            return result;
        }
        let caller = self.renew(store, cache).await?;
        let Some(mut input) = input else {
            return result;
        };
        let scope = prepare(&mut input, &caller)?;
        store.run(mode, &scope, None, input, work).await.0
    }

    /// Notes what a check has confirmed.
    fn note(&self, confirmed: Confirmed) {
        let mut known = self.lock();
        known.confirmed = known.confirmed.max(confirmed);
    }

    /// Puts the caller of today in place of the remembered one, for this and every later transaction of the session.
    async fn renew(&self, store: &Store, cache: &CredentialCache) -> Result<Arc<Caller>, Refusal> {
        let presented = &self.0.presented;
        let Some(caller) = holder(store, presented.clone()).await?.map(Arc::new) else {
            cache.forget(presented);
            return Err(Refusal::unauthenticated());
        };
        cache.remember(presented, &caller);
        *self.lock() = KnownCaller {
            caller: caller.clone(),
            confirmed: Confirmed::Everything,
        };
        Ok(caller)
    }

    /// Makes sure of a caller whom no transaction has checked: then at least the credential has to be good.
    ///
    /// # Errors
    /// 401 when it is not, and those of the store.
    pub(crate) async fn confirm(&self, store: &Store, now: i64) -> Result<(), Refusal> {
        if self.known().confirmed > Confirmed::Nothing {
            return Ok(());
        }
        match holder(store, self.presented_at(now)).await? {
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
    /// Whether it held at the first attempt at the transaction.
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

    /// Whether it held; nothing before the store responded to it.
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
