//! Finds whose records are, for statements that lock or change them.
//!
//! A lock and a write name one organization: a database that is distributed by organizations sends them to one node, and
//! takes no others. So what knows a record by its id alone reads its organization first ([`Tx::organization_of`]).

use uuid::Uuid;

use super::{Scope, StoreError, Tx};

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
}
