//! Finds whose records are, for statements that lock or change them.
//!
//! A lock and a write name one organization: a database that is distributed by organizations sends them to one node, and
//! takes no others. So what knows a record by its id alone reads its organization first ([`Tx::organization_of`]), and
//! what looks among the records of all organizations goes on in each of them ([`Tx::by_organization`]).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{Row, Scope, StoreError, Tx, Value};

impl Tx {
    /// The organization of the record `$1`, as far as the scope sees it: what the statement `reads`. A caller of one
    /// organization has no other, so nothing is read for them, and the statement that follows finds out whether the
    /// record is there.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub(crate) async fn organization_of(
        &mut self,
        reads: &str,
        record: Uuid,
    ) -> Result<Option<Uuid>, StoreError> {
        if let Scope::Caller(visible) = self.scope()
            && let [organization] = visible.organizations[..]
        {
            return Ok(Some(organization));
        }
        let rows = self.execute(reads, &[record.into()]).await?;
        rows.first().map(|row| row.get(0)).transpose()
    }

    /// Runs a composed statement once for each organization of rows that were found, each of which begins with its
    /// organization and its id: `$1` is the organization, `$2` the list of ids, and from `$3` on come `more`. Gives the
    /// rows of all responses.
    ///
    /// # Errors
    /// As [`query`](Tx::query).
    pub(crate) async fn by_organization(
        &mut self,
        composed: &str,
        found: &[Row],
        more: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        let mut ids = BTreeMap::<Uuid, Vec<Uuid>>::new();
        for row in found {
            ids.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        let parameters = ids.into_iter().map(|(organization, ids)| {
            let own = [organization.into(), Value::Ids(ids)];
            own.into_iter().chain(more.iter().cloned()).collect()
        });
        let responses = self.each(composed, &parameters.collect::<Vec<_>>()).await?;
        Ok(responses.into_iter().flatten().collect())
    }
}
