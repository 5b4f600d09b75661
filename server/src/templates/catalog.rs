//! The catalog: templates of the caller's organizations, and public ones.

use uuid::Uuid;

use super::record::{Record, Template, columns};
use crate::paging::{BoundedRecords, PageRequest};
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx, bounded_records};

/// Which templates are listed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Filter {
    pub(crate) scope: Option<&'static str>,
    pub(crate) visibility: Option<&'static str>,
}

/// What a page of templates shows, without manifests, by ascending id. It ends early where that is large.
///
/// # Errors
/// Those of the store.
pub(crate) async fn page(
    tx: &mut Tx,
    filter: Filter,
    page: &PageRequest,
) -> Result<BoundedRecords<Record>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM templates WHERE {catalog organization_id visibility} AND id > $1 \
          AND (CAST($3 AS text) IS NULL OR scope = $3) \
          AND (CAST($4 AS text) IS NULL OR visibility = $4) ORDER BY id LIMIT $2 {bounded} {across catalog}"
    );
    let parameters = [
        page.from().into(),
        page.lookahead().into(),
        filter.scope.into(),
        filter.visibility.into(),
    ];
    let rows = tx.last(sql, &parameters).await?;
    bounded_records(rows, Record::read)
}

/// A template with its manifest.
///
/// # Errors
/// 404 for what is missing or hidden.
pub(crate) async fn get(tx: &mut Tx, id: Uuid) -> Result<Template, Refusal> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        ", manifest FROM templates WHERE {catalog organization_id visibility} AND id = $1 {across catalog}"
    );
    let rows = tx.last(sql, &[id.into()]).await?;
    let row = rows.first().ok_or_else(Refusal::not_found)?;
    Ok(Template::read(row)?)
}
