//! A transaction, on whichever store: it asks statements for its scope and nothing else.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::dialect::{Added, Dialect, Statement, translate};
use super::postgres::Pipelined;
use super::sqlite::Walled;
use super::{Row, Scope, StoreError, Value, Walls};

/// A running transaction.
pub struct Tx {
    pub(super) scope: Scope,
    pub(super) texts: Arc<Texts>,
    pub(super) inner: Inner,
}

pub(super) enum Inner {
    Sqlite(Walled),
    Postgres(Pipelined),
    /// The connection is elsewhere.
    Gone,
}

impl Tx {
    /// Who asks.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Runs a statement (see [`dialect`](super::dialect) for its words) and reads its answer.
    ///
    /// # Errors
    /// As [`StoreError`] lists them. After one the transaction can only be left.
    pub async fn query(
        &mut self,
        source: &'static str,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        self.run(source, parameters, false).await
    }

    /// Runs the last statement of a transaction that only reads: PostgreSQL gets the `COMMIT` along
    /// with it.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub async fn last(
        &mut self,
        source: &'static str,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        self.run(source, parameters, true).await
    }

    /// The first row of the answer.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub async fn first(
        &mut self,
        source: &'static str,
        parameters: &[Value],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.query(source, parameters).await?.into_iter().next())
    }

    async fn run(
        &mut self,
        source: &'static str,
        parameters: &[Value],
        last: bool,
    ) -> Result<Vec<Row>, StoreError> {
        let dialect = match &self.inner {
            Inner::Sqlite(_) => Dialect::Sqlite,
            Inner::Postgres(_) => Dialect::Postgres,
            Inner::Gone => return Err(StoreError::Internal("the transaction is over".to_owned())),
        };
        let statement = self
            .texts
            .get(source, parameters.len(), dialect, &self.scope)?;
        let mut all = parameters.to_vec();
        if let Some(index) = statement.into {
            let organization = match &parameters[index] {
                Value::Id(id) => Some(*id),
                _ => None,
            };
            if !organization.is_some_and(|id| self.scope.may_write(id)) {
                return Err(StoreError::OutOfScope);
            }
        }
        for added in &statement.added {
            let Scope::Caller(visible) = &self.scope else {
                continue;
            };
            all.push(match added {
                Added::Organizations => Value::Ids(visible.organizations.clone()),
                Added::Caller => Value::Id(visible.caller),
            });
        }
        match &mut self.inner {
            Inner::Sqlite(connection) => connection.query(&statement, &all),
            Inner::Postgres(connection) => {
                connection
                    .query(&self.scope, &statement.text, &all, last)
                    .await
            }
            Inner::Gone => Err(StoreError::Internal("the transaction is over".to_owned())),
        }
    }
}

/// Statements in the words of the store, each translated once.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) walls: Walls,
    known: RwLock<HashMap<(&'static str, &'static str), Arc<Statement>>>,
}

impl Texts {
    pub(super) fn new(walls: Walls) -> Texts {
        Texts {
            walls,
            known: RwLock::default(),
        }
    }

    fn get(
        &self,
        source: &'static str,
        given: usize,
        dialect: Dialect,
        scope: &Scope,
    ) -> Result<Arc<Statement>, StoreError> {
        let key = (source, scope.role());
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(statement) = known.get(&key) {
            return Ok(statement.clone());
        }
        drop(known);
        let statement = translate(source, given, dialect, scope, self.walls)?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, statement.clone());
        Ok(statement)
    }
}
