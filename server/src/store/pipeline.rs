//! Pipelines several statements: on PostgreSQL all are sent before the first result arrives.
//!
//! In: statements whose parameters do not depend on each other's results. Out: the results, in
//! order. An early result cannot stop a later statement, so this is for work that is rolled back as
//! a whole.

use std::borrow::Cow;

use super::tx::Inner;
use super::{Row, StoreError, Tx, Value};

/// A statement and its parameters.
#[derive(Debug, Clone)]
pub struct PipelinedStatement {
    /// The statement.
    pub text: Cow<'static, str>,
    /// What `$1`, `$2`… stand for.
    pub parameters: Vec<Value>,
}

impl PipelinedStatement {
    /// A statement with its parameters.
    pub fn new(text: impl Into<Cow<'static, str>>, parameters: Vec<Value>) -> PipelinedStatement {
        PipelinedStatement {
            text: text.into(),
            parameters,
        }
    }
}

impl Tx {
    /// Runs statements in order and gives their rows in order.
    ///
    /// # Errors
    /// As [`query`](Tx::query), of the first that fails.
    pub async fn pipeline(
        &mut self,
        statements: Vec<PipelinedStatement>,
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let mut responses = Vec::with_capacity(statements.len());
        let mut statements = statements.into_iter();
        // The first of a transaction brings its beginning along.
        while !self.has_begun() {
            let Some(PipelinedStatement { text, parameters }) = statements.next() else {
                return Ok(responses);
            };
            responses.push(self.execute_whole(&text, parameters).await?);
        }
        let mut ready = Vec::with_capacity(statements.len());
        for PipelinedStatement { text, parameters } in statements {
            let dialect = self.dialect()?;
            let statement = self
                .texts
                .composed(&text, parameters.len(), dialect, &self.scope)?;
            let parameters = self.complete(&statement, parameters)?;
            ready.push((statement, parameters));
        }
        if let Inner::Postgres(connection) = &mut self.inner {
            responses.extend(connection.several(&ready).await?);
        }
        Ok(responses)
    }

    /// Whether statements can be sent behind each other; never where nothing is gained by it.
    pub(super) fn has_begun(&self) -> bool {
        match &self.inner {
            Inner::Postgres(connection) => {
                let is_stale = self.check_held == Some(false);
                self.check.is_none() && !is_stale && connection.is_open()
            }
            Inner::Sqlite(_) | Inner::Gone => false,
        }
    }
}
