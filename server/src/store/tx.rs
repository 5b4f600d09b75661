//! A transaction on either store: it runs statements for its scope only.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use uuid::Uuid;

use super::dialect::{Dialect, Shape};
use super::postgres::Pipelined;
use super::scope_ids::Ids;
use super::sqlite::SecuredConnection;
use super::statement::Statement;
use super::translate::translate;
use super::{Isolation, Row, Scope, StoreError, Value, Visible};

/// A running transaction.
pub struct Tx {
    pub(super) scope: Scope,
    pub(super) texts: Arc<TranslatedStatements>,
    pub(super) check: Option<Check>,
    /// Whether the check held; nothing before the store responded to it.
    pub(super) check_held: Option<bool>,
    pub(super) inner: Inner,
}

/// What has to hold before the first statement of a transaction: a question to authentication whose response
/// was foreseen. It is asked along with that statement, so that what was remembered costs no round trip to be
/// sure of.
pub(crate) trait Precondition: Send + Sync {
    /// What is asked.
    fn statement(&self) -> &'static str;

    /// The last of them is the time at which the response has to hold.
    fn parameters(&self) -> &[Value];

    /// The same in several questions, of a distributed database: each is about the coordinator or about one
    /// organization, and one alone about the coordinator. The rows of all of them are one response.
    fn parts(&self) -> Vec<(&'static str, Vec<Value>)> {
        vec![(self.statement(), self.parameters().to_vec())]
    }

    /// Whether the response is the foreseen one.
    fn holds(&self, response: &[Row]) -> Result<bool, StoreError>;
}

/// A statement with its parameters.
type BoundStatement<'c> = (Arc<Statement>, Cow<'c, [Value]>);

/// A precondition for every attempt at a transaction.
pub(crate) type Check = Arc<dyn Precondition>;

pub(super) enum Inner {
    Sqlite(SecuredConnection),
    Postgres(Pipelined),
    /// The connection is elsewhere.
    Gone,
}

impl Tx {
    /// Who asks.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// From now on only the own rows of these features are seen; gives those of before. With none the caller's
    /// job compares rows that are kept from the caller, and never shows them.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn set_guarded(
        &mut self,
        guarded: Vec<Uuid>,
    ) -> Result<Vec<Uuid>, StoreError> {
        self.set_ids(Ids::Guarded, guarded).await
    }

    /// From now on the caller sees every file of the workspaces of these organizations that are not kept from them;
    /// gives those of before. For what counts files, and never shows them.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn set_administered(
        &mut self,
        administered: Vec<Uuid>,
    ) -> Result<Vec<Uuid>, StoreError> {
        self.set_ids(Ids::Administered, administered).await
    }

    async fn set_ids(&mut self, which: Ids, ids: Vec<Uuid>) -> Result<Vec<Uuid>, StoreError> {
        let Scope::Caller(visible) = &self.scope else {
            return Ok(Vec::new());
        };
        let mut visible = Visible::clone(visible);
        let list: Vec<String> = ids.iter().map(Uuid::to_string).collect();
        let before = std::mem::replace(which.of_mut(&mut visible), ids);
        self.scope = visible.into();
        match &mut self.inner {
            Inner::Sqlite(connection) => connection.enter(Some(self.scope.clone())),
            Inner::Postgres(connection) => {
                let list = format!("{{{}}}", list.join(","));
                let (sql, parameters): (_, [Value; 2]) = if connection.is_distributed() {
                    let names = Value::Texts(vec![which.setting().to_owned()]);
                    let lists = Value::Texts(vec![list]);
                    ("SELECT set_on_all_nodes($1, $2)", [names, lists])
                } else {
                    let parameters = [which.setting().into(), list.into()];
                    ("SELECT set_config($1, $2, true)", parameters)
                };
                // It reads nothing that would be anybody's.
                let statement = self
                    .texts
                    .get(sql, 2, Dialect::Postgres, &Scope::Operator)?;
                connection
                    .query(&self.scope, &statement, &parameters, false)
                    .await?;
            }
            Inner::Gone => return Err(over()),
        }
        Ok(before)
    }

    /// Runs a statement (see [`translate`](super::translate) for its words) and reads its response.
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

    /// As [`query`](Tx::query), with parameters that are given away: they may be large.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub(crate) async fn query_whole(
        &mut self,
        source: &'static str,
        parameters: Vec<Value>,
    ) -> Result<Vec<Row>, StoreError> {
        let statement = self.text(source, parameters.len())?;
        self.send_whole(&statement, parameters, false).await
    }

    /// Runs the last statement of a transaction that only reads: PostgreSQL gets the `COMMIT` along
    /// with it. In one that may write it is a statement like any other.
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

    /// The first row of the response.
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

    /// Runs a statement that was composed for this request. Its text depends on the shape of the
    /// question alone: what a client wrote travels as parameters, always.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub async fn execute(
        &mut self,
        composed: &str,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        let statement =
            self.texts
                .composed(composed, parameters.len(), self.dialect()?, &self.scope)?;
        self.send(&statement, parameters, false).await
    }

    /// As [`execute`](Tx::execute), with parameters that are given away: they may be large.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub(super) async fn execute_whole(
        &mut self,
        composed: &str,
        parameters: Vec<Value>,
    ) -> Result<Vec<Row>, StoreError> {
        let statement =
            self.texts
                .composed(composed, parameters.len(), self.dialect()?, &self.scope)?;
        self.send_whole(&statement, parameters, false).await
    }

    /// As [`execute_whole`](Tx::execute_whole), of a text so long that it is put together only where it is not
    /// known. The name says all that the text depends on, and is not a statement itself.
    pub(super) async fn execute_named(
        &mut self,
        name: &str,
        composed: impl FnOnce() -> String,
        parameters: Vec<Value>,
    ) -> Result<Vec<Row>, StoreError> {
        let statement = self.texts.named(
            name,
            composed,
            parameters.len(),
            self.dialect()?,
            &self.scope,
        )?;
        self.send_whole(&statement, parameters, false).await
    }

    /// Runs a composed statement that may be all that is asked: PostgreSQL gets the `COMMIT` along
    /// with it. Where more has to be asked after all, that is a transaction of its own; so this is for
    /// operations that only read.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub async fn execute_last(
        &mut self,
        composed: &str,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        let statement =
            self.texts
                .composed(composed, parameters.len(), self.dialect()?, &self.scope)?;
        self.send(&statement, parameters, true).await
    }

    /// Runs a composed statement once for each list of parameters, in one go, and gives the rows
    /// in order.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub async fn each(
        &mut self,
        composed: &str,
        all: &[Vec<Value>],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let Some(first) = all.first() else {
            return Ok(Vec::new());
        };
        let statement = self
            .texts
            .composed(composed, first.len(), self.dialect()?, &self.scope)?;
        let mut responses = vec![self.send(&statement, first, false).await?];
        let others = all[1..]
            .iter()
            .map(|parameters| self.complete(&statement, parameters.clone()));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        match &mut self.inner {
            Inner::Sqlite(connection) => {
                for parameters in &others {
                    responses.push(connection.query(&statement, parameters)?);
                }
            }
            Inner::Postgres(connection) => {
                responses.extend(connection.each(&statement, &others).await?);
            }
            Inner::Gone => return Err(over()),
        }
        Ok(responses)
    }

    /// Whether the store is distributed over machines: then a statement is about one organization, or about what lies
    /// on the coordinator.
    pub fn is_distributed(&self) -> bool {
        match &self.inner {
            Inner::Postgres(connection) => connection.is_distributed(),
            Inner::Sqlite(_) | Inner::Gone => false,
        }
    }

    /// The words in which composed statements have to be put where marks do not reach.
    ///
    /// # Errors
    /// When the transaction is over.
    pub fn dialect(&self) -> Result<Dialect, StoreError> {
        match &self.inner {
            Inner::Sqlite(_) => Ok(Dialect::Sqlite),
            Inner::Postgres(_) => Ok(Dialect::Postgres),
            Inner::Gone => Err(over()),
        }
    }

    async fn run(
        &mut self,
        source: &'static str,
        parameters: &[Value],
        last: bool,
    ) -> Result<Vec<Row>, StoreError> {
        let statement = self.text(source, parameters.len())?;
        self.send(&statement, parameters, last).await
    }

    /// A statement in the words of the store, for the scope.
    pub(super) fn text(
        &self,
        source: &'static str,
        given: usize,
    ) -> Result<Arc<Statement>, StoreError> {
        self.texts.get(source, given, self.dialect()?, &self.scope)
    }

    async fn send(
        &mut self,
        statement: &Arc<Statement>,
        parameters: &[Value],
        last: bool,
    ) -> Result<Vec<Row>, StoreError> {
        self.send_whole(statement, parameters.to_vec(), last).await
    }

    async fn send_whole(
        &mut self,
        statement: &Arc<Statement>,
        parameters: Vec<Value>,
        last: bool,
    ) -> Result<Vec<Row>, StoreError> {
        // Whatever the operation made of the error: nothing more runs for a caller who has changed.
        if self.check_held == Some(false) {
            return Err(StoreError::Stale);
        }
        let all = self.complete(statement, parameters)?;
        let Some(check) = self.check.take() else {
            return match &mut self.inner {
                Inner::Sqlite(connection) => connection.query(statement, &all),
                Inner::Postgres(connection) => {
                    connection.query(&self.scope, statement, &all, last).await
                }
                Inner::Gone => Err(over()),
            };
        };
        let questions = self.questions(&*check)?;
        let (known, response) = match &mut self.inner {
            Inner::Sqlite(connection) => {
                let [(question, parameters)] = &questions[..] else {
                    return Err(StoreError::Internal("several questions".to_owned()));
                };
                connection.enter(Some(Scope::Authentication));
                let known = connection.query(question, parameters);
                connection.enter(Some(self.scope.clone()));
                let held = check.holds(&known?)?;
                self.check_held = Some(held);
                if held {
                    return connection.query(statement, &all);
                }
                return Err(StoreError::Stale);
            }
            Inner::Postgres(connection) => {
                connection
                    .query_after(&questions, &self.scope, statement, &all, last)
                    .await?
            }
            Inner::Gone => return Err(over()),
        };
        let held = check.holds(&known)?;
        self.check_held = Some(held);
        if held {
            return response;
        }
        Err(StoreError::Stale)
    }

    /// What has to be asked for a check, in the words of the store.
    fn questions<'c>(
        &self,
        check: &'c dyn Precondition,
    ) -> Result<Vec<BoundStatement<'c>>, StoreError> {
        let dialect = self.dialect()?;
        let question = |statement, given| {
            let authentication = &Scope::Authentication;
            self.texts.get(statement, given, dialect, authentication)
        };
        if !self.is_distributed() {
            let parameters = check.parameters();
            let statement = question(check.statement(), parameters.len())?;
            return Ok(vec![(statement, parameters.into())]);
        }
        let parts = check.parts().into_iter();
        let parts = parts.map(|(statement, parameters)| {
            Ok((question(statement, parameters.len())?, parameters.into()))
        });
        parts.collect()
    }

    /// The parameters with those that the scope adds.
    pub(super) fn complete(
        &self,
        statement: &Arc<Statement>,
        parameters: Vec<Value>,
    ) -> Result<Vec<Value>, StoreError> {
        if let Some(index) = statement.into {
            let organization = match &parameters[index] {
                Value::Id(id) => Some(*id),
                _ => None,
            };
            if !organization.is_some_and(|id| self.scope.may_write(id)) {
                return Err(StoreError::OutOfScope);
            }
        }
        if let (Some(index), Scope::Caller(visible)) = (statement.own, &self.scope)
            && parameters[index] != Value::Id(visible.caller)
        {
            return Err(StoreError::OutOfScope);
        }
        let mut all = parameters;
        match &self.scope {
            Scope::Caller(visible) => {
                all.extend(statement.added.iter().map(|added| added.value(visible)));
            }
            Scope::OperatorOf(organization) => {
                all.extend(statement.added.iter().map(|_| Value::from(*organization)));
            }
            Scope::Operator | Scope::Authentication => {}
        }
        Ok(all)
    }
}

fn over() -> StoreError {
    StoreError::Internal("the transaction is over".to_owned())
}

/// How many shapes of composed statements are kept; what comes later is put together anew each time,
/// so that no client can fill the memory of the store with statements.
const MAX_COMPOSED_SHAPES: usize = 1024;

/// Statements in the words of the store, each translated once.
#[derive(Debug)]
pub(super) struct TranslatedStatements {
    pub(super) row_security: Isolation,
    /// By where the text is in the program and how long it is, which saves hashing all of it.
    known: RwLock<HashMap<(usize, usize, Shape), Arc<Statement>>>,
    composed: RwLock<HashMap<Shape, HashMap<String, Arc<Statement>>>>,
}

impl TranslatedStatements {
    pub(super) fn new(isolation: Isolation) -> TranslatedStatements {
        TranslatedStatements {
            row_security: isolation,
            known: RwLock::default(),
            composed: RwLock::default(),
        }
    }

    fn get(
        &self,
        source: &'static str,
        given: usize,
        dialect: Dialect,
        scope: &Scope,
    ) -> Result<Arc<Statement>, StoreError> {
        let key = (source.as_ptr().addr(), source.len(), Shape::of(scope));
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(statement) = known.get(&key) {
            return Ok(statement.clone());
        }
        drop(known);
        let statement = Arc::new(translate(source, given, dialect, scope, self.row_security)?);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, statement.clone());
        Ok(statement)
    }

    pub(super) fn composed(
        &self,
        source: &str,
        given: usize,
        dialect: Dialect,
        scope: &Scope,
    ) -> Result<Arc<Statement>, StoreError> {
        self.named(source, || source, given, dialect, scope)
    }

    fn named<S: AsRef<str>>(
        &self,
        name: &str,
        source: impl FnOnce() -> S,
        given: usize,
        dialect: Dialect,
        scope: &Scope,
    ) -> Result<Arc<Statement>, StoreError> {
        let shape = Shape::of(scope);
        let known = self.composed.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(statement) = known.get(&shape).and_then(|known| known.get(name)) {
            return Ok(statement.clone());
        }
        let full = known.values().map(HashMap::len).sum::<usize>() >= MAX_COMPOSED_SHAPES;
        drop(known);
        let mut statement = translate(source().as_ref(), given, dialect, scope, self.row_security)?;
        statement.keeps_plan = !full;
        let statement = Arc::new(statement);
        if !full {
            let mut known = self
                .composed
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            let alike = known.entry(shape).or_default();
            alike.insert(name.to_owned(), statement.clone());
        }
        Ok(statement)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Isolation, Scope, TranslatedStatements};

    #[test]
    fn a_named_text_is_put_together_once_for_a_scope() {
        let texts = TranslatedStatements::new(Isolation::BOTH);
        let mut made = 0;
        for scope in [
            Scope::Authentication,
            Scope::Authentication,
            Scope::Operator,
            Scope::Operator,
        ] {
            let source = || {
                made += 1;
                "SELECT 1"
            };
            let statement = texts.named("1 of these", source, 0, Dialect::Sqlite, &scope);
            assert_eq!(statement.expect("a statement").text, "SELECT 1");
        }
        assert_eq!(made, 2);
    }
}
