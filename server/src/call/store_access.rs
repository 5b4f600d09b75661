//! What a call asks of the store: operations that run as its caller, once for each key.

use std::sync::Arc;

use axum::response::Response;
use uuid::Uuid;

use super::{Call, OperationContext};
use crate::auth::{Caller, Subject, TransactionScope};
use crate::http::idempotency;
use crate::http::response::ApiResponse;
use crate::ids::{self, TableKey};
use crate::refusal::Refusal;
use crate::store::{Input, Output, QueryFn, TransactionMode, Tx};

impl Call {
    /// Responds with what an operation of the store finds.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn read<I: Input>(
        self,
        input: I,
        work: impl QueryFn<OperationContext<I>, ApiResponse, Refusal> + Clone,
    ) -> Result<Response, Refusal> {
        let kind = if self.operation.remembers_caller() {
            TransactionMode::ShortRead
        } else {
            TransactionMode::Read
        };
        let scope = self.transaction_scope().await?;
        self.run(kind, scope, input, work).await
    }

    /// The same, of an operation that reads much. It runs where it keeps no short read waiting.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn read_much<I: Input>(
        self,
        input: I,
        work: impl QueryFn<OperationContext<I>, ApiResponse, Refusal> + Clone,
    ) -> Result<Response, Refusal> {
        let scope = self.transaction_scope().await?;
        self.run(TransactionMode::Heavy, scope, input, work).await
    }

    /// Responds with what an operation of the store did. It claims the key of the request itself,
    /// when it has looked at visibility and role, and keeps its response.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn write<I: Input>(
        self,
        input: I,
        work: impl QueryFn<OperationContext<I>, ApiResponse, Refusal> + Clone,
    ) -> Result<Response, Refusal> {
        let scope = self.transaction_scope().await?;
        self.run(TransactionMode::Write, scope, input, work).await
    }

    /// Looks something up before the handler continues, in a read that is expected to be short. The caller may be a
    /// remembered one, who is checked along with the first statement, and is confirmed from then on.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn look_up<I: Input, T: Output>(
        &self,
        input: I,
        work: impl QueryFn<OperationContext<I>, T, Refusal> + Clone,
    ) -> Result<T, Refusal> {
        let scope = TransactionScope::Visible;
        self.operate(TransactionMode::ShortRead, scope, input, work)?
            .await
    }

    /// Writes what a later [`write`](Call::write) of the request looks for, and makes safe from a power cut when it ends.
    /// The caller is checked as in [`look_up`](Call::look_up).
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn write_preliminary<I: Input, T: Output>(
        &self,
        input: I,
        work: impl QueryFn<OperationContext<I>, T, Refusal> + Clone,
    ) -> Result<T, Refusal> {
        let scope = TransactionScope::Visible;
        self.operate(TransactionMode::Preliminary, scope, input, work)?
            .await
    }

    /// Queries the store before the handler continues.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn query<I: Input, T: Output>(
        &mut self,
        input: I,
        work: impl QueryFn<OperationContext<I>, T, Refusal>,
    ) -> Result<T, Refusal> {
        let context = self.context(input)?;
        let scope = self.confirmed_scope()?;
        self.app.store.read(&scope, context, work).await
    }

    /// The same, of what is one state of the store however many statements it takes.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn snapshot<I: Input, T: Output>(
        &mut self,
        input: I,
        work: impl QueryFn<OperationContext<I>, T, Refusal>,
    ) -> Result<T, Refusal> {
        let context = self.context(input)?;
        let scope = self.confirmed_scope()?;
        self.app.store.snapshot(&scope, context, work).await
    }

    /// The response of an earlier request with the same key, for an effect that cannot be checked again
    /// once it was done.
    ///
    /// # Errors
    /// As [`reserve`](Call::reserve).
    pub async fn kept_response(&mut self) -> Result<Option<Response>, Refusal> {
        let Some(key) = self.key.get().cloned() else {
            return Ok(None);
        };
        let scope = self.confirmed_scope()?;
        let found = self.app.store.read(&scope, key, |tx, key| {
            Box::pin(idempotency::kept_response(tx, key))
        });
        let kept: Option<ApiResponse> = found.await?;
        Ok(kept.map(ApiResponse::response))
    }

    /// Reserves the key of the request for an effect that has a transaction of its own. The response of an
    /// earlier request is the response to this one.
    ///
    /// # Errors
    /// 422 when the key stands for another request, 409 while the first one runs.
    pub async fn reserve(&mut self) -> Result<Option<ApiResponse>, Refusal> {
        let Some(key) = self.key.get().cloned() else {
            return Ok(None);
        };
        let scope = self.confirmed_scope()?;
        let store = &self.app.store;
        let claimed = store.write(&scope, key.clone(), |tx, key| {
            Box::pin(idempotency::claim(tx, Some(key)))
        });
        let kept: Option<ApiResponse> = claimed.await?;
        if kept.is_none() {
            key.reserve();
        }
        Ok(kept)
    }

    /// Responds with what became of an effect that had a transaction of its own; under a key it is kept.
    ///
    /// # Errors
    /// Those of the key, or the store's.
    pub async fn respond(self, response: ApiResponse) -> Result<Response, Refusal> {
        if self.key.get().is_none() {
            return Ok(response.response());
        }
        self.write(response, |tx, context| Box::pin(keep(tx, context)))
            .await
    }

    fn context<I>(&self, input: I) -> Result<OperationContext<I>, Refusal> {
        Ok(OperationContext {
            input,
            caller: self.caller()?,
            role: self.operation.role,
            key: self.key.get().cloned(),
            context: self.app.context.clone(),
            tables: self.app.tables.clone(),
            signal: self.app.runs.clone(),
            now: self.app.context.now(),
        })
    }

    /// What the request is about: the one table that it names, if that makes a difference to what is asked
    /// for its caller.
    async fn transaction_scope(&self) -> Result<TransactionScope, Refusal> {
        let table = self.table().await?;
        Ok(table.map_or(TransactionScope::Visible, TransactionScope::Table))
    }

    async fn table(&self) -> Result<Option<TableKey>, Refusal> {
        let feature = self.parameters.first().map(String::as_str);
        let feature = feature.filter(|_| self.operation.remembers_caller());
        let Some(feature) = feature.and_then(ids::uuid) else {
            return Ok(None);
        };
        if !self.caller()?.is_narrowed() {
            return Ok(None);
        }
        let app = &self.app;
        if let Some(key) = app.tables.peek_key(feature) {
            return Ok(Some(key));
        }
        let subject = Subject {
            mode: TransactionMode::ShortRead,
            scope: TransactionScope::Visible,
        };
        let find = self.session()?.run(
            &app.store,
            &app.remembered,
            subject,
            (app.tables.clone(), feature),
            |_, _| Ok(()),
            |tx, (tables, feature)| Box::pin(async move { Ok(tables.key(tx, *feature).await?) }),
        );
        find.await
    }

    async fn run<I: Input>(
        self,
        mode: TransactionMode,
        scope: TransactionScope,
        input: I,
        work: impl QueryFn<OperationContext<I>, ApiResponse, Refusal> + Clone,
    ) -> Result<Response, Refusal> {
        let response = self.operate(mode, scope, input, work)?.await;
        self.app.runs.notify_if_marked();
        response.map(ApiResponse::response)
    }

    /// Runs an operation in the session. No future around that of the session: such a one would have room for all of it
    /// twice.
    fn operate<I: Input, T: Output>(
        &self,
        mode: TransactionMode,
        scope: TransactionScope,
        input: I,
        work: impl QueryFn<OperationContext<I>, T, Refusal> + Clone,
    ) -> Result<impl Future<Output = Result<T, Refusal>>, Refusal> {
        let context = self.context(input)?;
        let operation = self.operation;
        let prepare = move |context: &mut OperationContext<I>, caller: &Arc<Caller>| {
            operation.admit(caller)?;
            context.caller = caller.clone();
            Ok(())
        };
        let subject = Subject { mode, scope };
        let (store, cache) = (&self.app.store, &self.app.remembered);
        let session = self.session()?;
        Ok(session.run(store, cache, subject, context, prepare, work))
    }

    /// Responds with what an operation did to the model, which holds for everybody: it sees the rows of
    /// others, too. `workspace` is one that the caller opens, closes or creates.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn write_schema<I: Input>(
        self,
        input: I,
        workspace: Option<Uuid>,
        work: impl QueryFn<OperationContext<I>, ApiResponse, Refusal> + Clone,
    ) -> Result<Response, Refusal> {
        let scope = TransactionScope::Model(workspace);
        self.run(TransactionMode::Write, scope, input, work).await
    }

    /// Does a part of what a later [`write_schema`](Call::write_schema) of the request ends, in a transaction of its own.
    ///
    /// # Errors
    /// The operation's own, or the store's.
    pub async fn write_schema_part<I: Input, T: Output>(
        &self,
        input: I,
        work: impl QueryFn<OperationContext<I>, T, Refusal> + Clone,
    ) -> Result<T, Refusal> {
        let scope = TransactionScope::Model(None);
        self.operate(TransactionMode::Write, scope, input, work)?
            .await
    }
}

async fn keep(
    tx: &mut Tx,
    context: &OperationContext<ApiResponse>,
) -> Result<ApiResponse, Refusal> {
    match context.claim(tx).await? {
        Some(kept) => Ok(kept),
        None => context.keep(tx, context.input.clone()).await,
    }
}
