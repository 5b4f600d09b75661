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
//! A statement outside of `run` takes its scope from [`confirmed_scope`](OptimisticSession::confirmed_scope), which is an
//! error for a caller who has not been checked.
//!
//! A request whose body takes long goes on for a caller who is [read again](OptimisticSession::confirm_again), an upload in
//! a session whose caller is [doubted](OptimisticSession::doubted) once more. The credential is read from the request once,
//! before `open`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::caller::Caller;
use super::caller_statements::{ADMINISTRATOR, KEY, MEMBER, SESSION};
use super::credential_cache::CredentialCache;
use super::distributed_queries;
use super::identify::{
    PresentedCredential, holder, is_administrator, is_member, read_key, read_session,
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

/// A transaction of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// How it reads or writes.
    pub(crate) mode: TransactionMode,
    /// What it is about.
    pub(crate) scope: TransactionScope,
}

/// What a transaction of a request is about: by this its scope follows from the caller.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TransactionScope {
    /// Whatever the caller sees.
    Visible,
    /// One table.
    Table(TableKey),
    /// The model, which holds for everybody. The workspace is one that the caller opens, closes or creates.
    Model(Option<Uuid>),
}

impl TransactionScope {
    /// As whom the store is asked, for a caller of whom everything is confirmed.
    fn of(self, caller: &Caller) -> Scope {
        match self {
            TransactionScope::Visible | TransactionScope::Table(_) => caller.scope(),
            TransactionScope::Model(workspace) => caller.scope_of_model(workspace),
        }
    }

    /// The one table, and as whom the store is asked about it, where that is less than the caller sees.
    fn narrow(self, caller: &Caller) -> Option<(TableKey, Scope)> {
        let TransactionScope::Table(table) = self else {
            return None;
        };
        Some((table, caller.scope_of_table(table)?))
    }
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

    /// A new session of the same credential, whose caller counts as remembered: the store has confirmed nothing of it at
    /// that time.
    pub(crate) fn doubted(&self, now: i64) -> OptimisticSession {
        OptimisticSession::of(self.presented_at(now), self.caller(), Confirmed::Nothing)
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

    /// As whom the store is asked without a check.
    ///
    /// # Errors
    /// 500 where the store has not confirmed everything about the caller: the operation remembers callers, and its
    /// handler asks the store outside of [`run`](OptimisticSession::run).
    pub(crate) fn confirmed_scope(&self) -> Result<Scope, Refusal> {
        let KnownCaller { caller, confirmed } = self.known();
        if confirmed.suffices_for(None) {
            return Ok(caller.scope());
        }
        let why = "a statement was to run for a caller who has not been checked";
        Err(StoreError::Internal(why.to_owned()).into())
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

    /// Runs an operation for the caller. `prepare` puts the caller into the input, or refuses. Where the store
    /// knows another caller than the remembered one, nothing was done for that one, and the operation is
    /// prepared and run once more for the one of today. Where the transaction is about one table, nothing but
    /// that is asked about, neither by the check nor by row security.
    ///
    /// # Errors
    /// Those of the operation and of `prepare`, the store's, and 401 when the credential is good no more.
    pub(crate) async fn run<I: Input, T: Output>(
        &self,
        store: &Store,
        cache: &CredentialCache,
        subject: Subject,
        mut input: I,
        prepare: impl Fn(&mut I, &Arc<Caller>) -> Result<(), Refusal>,
        work: impl QueryFn<I, T, Refusal> + Clone,
    ) -> Result<T, Refusal> {
        let KnownCaller { caller, confirmed } = self.known();
        prepare(&mut input, &caller)?;
        let mode = subject.mode;
        let (table, scope) = match subject.scope.narrow(&caller) {
            Some((table, scope)) => (Some(table), scope),
            None => (None, subject.scope.of(&caller)),
        };
        if confirmed.suffices_for(table) {
            return store.run(mode, &scope, None, input, work).await.result;
        }
        let check: Check = Arc::new(CallerCheck::new(&self.0.presented, caller, table));
        let ended = store
            .run(mode, &scope, Some(check), input, work.clone())
            .await;
        match ended.check_held {
            // It has asked nothing of the store, or the store did not respond.
            None => return ended.result,
            Some(true) => {
                self.note(Confirmed::by_check_of(table));
                return ended.result;
            }
            Some(false) => {}
        }
        let caller = self.renew(store, cache).await?;
        let Some(mut input) = ended.input else {
            return ended.result;
        };
        prepare(&mut input, &caller)?;
        let scope = subject.scope.of(&caller);
        store.run(mode, &scope, None, input, work).await.result
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
        self.replace(caller.clone());
        Ok(caller)
    }

    /// Puts a caller whom the store has just read in place of the one before.
    fn replace(&self, caller: Arc<Caller>) {
        *self.lock() = KnownCaller {
            caller,
            confirmed: Confirmed::Everything,
        };
    }

    /// Reads the caller once more, whatever was confirmed before: the session and its clones go on for the caller of
    /// today. Until that is read, nothing counts as confirmed.
    ///
    /// # Errors
    /// As [`confirm`](OptimisticSession::confirm).
    pub(crate) async fn confirm_again(&self, store: &Store, now: i64) -> Result<(), Refusal> {
        self.lock().confirmed = Confirmed::Nothing;
        self.confirm(store, now).await
    }

    /// Makes sure of a caller whom no transaction has checked: then at least the credential has to be good. What
    /// still runs for the session runs for the caller of today.
    ///
    /// # Errors
    /// 401 when it is not, and those of the store.
    pub(crate) async fn confirm(&self, store: &Store, now: i64) -> Result<(), Refusal> {
        if self.known().confirmed > Confirmed::Nothing {
            return Ok(());
        }
        let caller = holder(store, self.presented_at(now)).await?;
        self.replace(Arc::new(caller.ok_or_else(Refusal::unauthenticated)?));
        Ok(())
    }
}

/// The check that a credential still belongs to a caller, with the same rights.
struct CallerCheck {
    query: CallerQuery,
    parameters: Vec<Value>,
    /// The hash of the credential, and the time: the last of the parameters.
    credential: [Value; 2],
    caller: Arc<Caller>,
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
        let credential = [presented.hash.into(), presented.now.into()];
        parameters.extend(credential.clone());
        CallerCheck {
            query,
            parameters,
            credential,
            caller,
        }
    }
}

/// The workspace that a table lies in.
fn workspace_of(table: TableKey) -> WorkspaceKey {
    WorkspaceKey {
        organization: table.organization,
        workspace: table.workspace,
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

    fn parts(&self) -> Vec<(&'static str, Vec<Value>)> {
        let credential = self.credential.clone();
        match self.query {
            CallerQuery::Key(_) | CallerQuery::Administrator => {
                vec![(self.statement(), self.parameters.clone())]
            }
            CallerQuery::Member(table) => {
                distributed_queries::member_parts(&self.caller, workspace_of(table), credential)
            }
            CallerQuery::Session => distributed_queries::session_parts(&self.caller, credential),
        }
    }

    fn holds(&self, response: &[Row]) -> Result<bool, StoreError> {
        let caller = &*self.caller;
        match self.query {
            CallerQuery::Key(organization) => {
                let known = read_key(organization, response)?;
                Ok(known.is_some_and(|(known, _)| known == *caller))
            }
            CallerQuery::Administrator => is_administrator(caller, response),
            CallerQuery::Member(table) => is_member(caller, workspace_of(table), response),
            CallerQuery::Session => Ok(read_session(response)?.as_ref() == Some(caller)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use uuid::Uuid;

    use super::{Caller, Confirmed, OptimisticSession, PresentedCredential};
    use crate::auth::Identity;
    use crate::refusal::Code;
    use crate::store::Visible;

    fn session(confirmed: Confirmed) -> OptimisticSession {
        let presented = PresentedCredential::read("token", 0).expect("may be a credential");
        let identity = Identity::User {
            email: "a@example.com".to_owned(),
        };
        let visible = Visible {
            caller: Uuid::from_u128(1),
            ..Visible::default()
        };
        let caller = Caller::new(identity, Vec::new(), visible);
        OptimisticSession::of(presented, Arc::new(caller), confirmed)
    }

    #[test]
    fn only_a_caller_who_was_checked_has_a_scope() {
        for confirmed in [Confirmed::Nothing, Confirmed::Table] {
            let session = session(confirmed);
            let refused = session.confirmed_scope().expect_err("is not confirmed");
            assert_eq!(refused.code, Code::Internal, "{confirmed:?}");
            session.note(Confirmed::Everything);
            let scope = session.confirmed_scope().expect("is confirmed");
            assert_eq!(scope, session.caller().scope(), "{confirmed:?}");
        }
    }
}
