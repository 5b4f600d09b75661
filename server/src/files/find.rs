//! Finds files that the caller sees.

use uuid::Uuid;

use super::record::{File, columns};
use crate::store::{Scope, Store, StoreError, Tx, Value, sees_file};

/// How many files may be looked at for a page without waiting for anybody.
pub const MAX_SCANNED_INLINE: i64 = 1000;
/// How many are looked at in one step, where more is asked than whether they are seen.
const FILES_PER_QUERY: i64 = 500;

/// The file of that id. Where the transaction only reads, nothing else is expected to be asked in it.
///
/// # Errors
/// Those of the store.
pub async fn by_id(tx: &mut Tx, id: Uuid) -> Result<Option<File>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM files WHERE files.id = $1 AND ",
        sees_file!()
    );
    let rows = tx.last(sql, &[id.into()]).await?;
    rows.first().map(File::read).transpose()
}

/// Whether a file is still on record, whoever sees it. What deletes one takes its bytes away afterwards, so that somebody
/// who has read the record may miss them.
///
/// # Errors
/// Those of the store.
pub async fn is_on_record(store: &Store, file: &File) -> Result<bool, StoreError> {
    store
        .read(
            &Scope::Operator,
            (file.organization_id, file.id),
            |tx, of| {
                let of = [of.0.into(), of.1.into()];
                Box::pin(async move {
                    let sql = "SELECT id FROM files WHERE organization_id = $1 AND id = $2";
                    Ok::<_, StoreError>(tx.first(sql, &of).await?.is_some())
                })
            },
        )
        .await
}

/// The files that a row uses, as far as the caller sees the row, in the order of its columns: a file as often as a cell
/// uses it.
///
/// # Errors
/// Those of the store.
pub async fn of_row(tx: &mut Tx, [feature, row]: [Uuid; 2]) -> Result<Vec<File>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM file_uses AS uses \
         JOIN columns AS named ON named.organization_id = uses.organization_id AND named.id = uses.column_id \
         JOIN files ON files.organization_id = uses.organization_id AND files.id = uses.file_id \
         WHERE {tenant uses.organization_id} AND {workspace uses.workspace_id} \
         AND {row uses.feature_id uses.row_created_by} AND uses.feature_id = $1 AND uses.row_id = $2 \
         ORDER BY named.position, named.id"
    );
    let rows = tx.query(sql, &[feature.into(), row.into()]).await?;
    rows.iter().map(File::read).collect()
}

/// Which files a page holds.
#[derive(Debug, Clone, Copy)]
pub struct Filter {
    /// Of that workspace alone.
    pub workspace: Option<Uuid>,
    /// Those that something uses, or those that nothing does.
    pub attached: Option<bool>,
    /// Behind that one.
    pub after: Uuid,
    /// So many.
    pub most: i64,
}

/// Whether few files are looked at for a page, whatever the caller sees of them.
///
/// # Errors
/// Those of the store.
pub async fn is_short(tx: &mut Tx, filter: &Filter) -> Result<bool, StoreError> {
    let Scope::Caller(visible) = tx.scope().clone() else {
        return Ok(true);
    };
    if filter.attached.is_none() && visible.administered == visible.organizations {
        return Ok(true);
    }
    // What is kept from the caller is looked at, too, and only counted.
    let before = tx.set_administered(visible.organizations.clone()).await?;
    let of_workspace = "SELECT count(*) FROM (SELECT id FROM files WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND workspace_id = $3 AND id > $1 LIMIT $2) AS looked";
    let all = "SELECT count(*) FROM (SELECT id FROM files WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id > $1 LIMIT $2) AS looked";
    let mut parameters: Vec<Value> = vec![filter.after.into(), (MAX_SCANNED_INLINE + 1).into()];
    parameters.extend(filter.workspace.map(Value::from));
    let sql = if filter.workspace.is_some() {
        of_workspace
    } else {
        all
    };
    let row = tx.first(sql, &parameters).await?;
    tx.set_administered(before).await?;
    Ok(row.map_or(Ok(0), |row| row.get::<i64>(0))? <= MAX_SCANNED_INLINE)
}

/// The files of a page, in the order of their ids.
///
/// # Errors
/// Those of the store.
pub async fn page(tx: &mut Tx, filter: &Filter) -> Result<Vec<File>, StoreError> {
    let Some(attached) = filter.attached else {
        return some(tx, filter).await;
    };
    let most = usize::try_from(filter.most).unwrap_or(0);
    let mut step = Filter {
        most: FILES_PER_QUERY,
        ..*filter
    };
    let mut page = Vec::new();
    loop {
        let found = some(tx, &step).await?;
        let more = found.len() == usize::try_from(FILES_PER_QUERY).unwrap_or(0);
        step.after = found.last().map_or(step.after, |last| last.id);
        let used = used(tx, &found).await?;
        page.extend(
            found
                .into_iter()
                .filter(|file| used.contains(&file.id) == attached),
        );
        if !more || page.len() >= most {
            page.truncate(most);
            return Ok(page);
        }
    }
}

async fn some(tx: &mut Tx, filter: &Filter) -> Result<Vec<File>, StoreError> {
    let of_workspace = concat!(
        "SELECT ",
        columns!(),
        " FROM files WHERE files.workspace_id = $3 AND files.id > $1 AND ",
        sees_file!(),
        " ORDER BY files.id LIMIT $2"
    );
    let all = concat!(
        "SELECT ",
        columns!(),
        " FROM files WHERE files.id > $1 AND ",
        sees_file!(),
        " ORDER BY files.id LIMIT $2"
    );
    let mut parameters: Vec<Value> = vec![filter.after.into(), filter.most.into()];
    parameters.extend(filter.workspace.map(Value::from));
    let sql = if filter.workspace.is_some() {
        of_workspace
    } else {
        all
    };
    let rows = tx.query(sql, &parameters).await?;
    rows.iter().map(File::read).collect()
}

/// Those of some files that something uses, seen by the caller or not.
async fn used(tx: &mut Tx, files: &[File]) -> Result<Vec<Uuid>, StoreError> {
    let ids: Vec<Uuid> = files.iter().map(|file| file.id).collect();
    let before = tx.set_guarded(Vec::new()).await?;
    let mut used = Vec::new();
    for sql in [
        "SELECT DISTINCT file_id FROM file_uses WHERE {tenant organization_id} AND {any file_id $1}",
        "SELECT DISTINCT file_id FROM file_holds WHERE {tenant organization_id} AND {any file_id $1}",
    ] {
        for row in tx.query(sql, &[Value::Ids(ids.clone())]).await? {
            used.push(row.get(0)?);
        }
    }
    tx.set_guarded(before).await?;
    Ok(used)
}

/// How many uses a file has: those that the caller sees, and all. What an automation uses is seen by who sees the
/// workspace, also where a job holds it, which notes the file in place of the column. What else a job holds is seen with
/// its row: one that is away is seen by nobody.
///
/// # Errors
/// Those of the store.
pub(super) async fn uses(tx: &mut Tx, file: &File) -> Result<(i64, i64), StoreError> {
    // Without the offset PostgreSQL may read all rows once.
    let seen = "SELECT (SELECT count(*) FROM file_uses WHERE organization_id = $1 AND file_id = $2 \
         AND {tenant organization_id} AND {workspace workspace_id} AND {row feature_id row_created_by}) \
         + (SELECT count(*) FROM file_holds AS holds WHERE holds.organization_id = $1 AND holds.file_id = $2 \
         AND {tenant holds.organization_id} AND {workspace holds.workspace_id} \
         AND (holds.job_id IS NULL OR holds.column_id = holds.file_id OR EXISTS (SELECT 1 FROM rows AS stands \
         WHERE stands.organization_id = $1 AND stands.feature_id = holds.feature_id AND stands.id = holds.row_id \
         AND {tenant stands.organization_id} AND {workspace stands.workspace_id} \
         AND {row stands.feature_id stands.created_by} LIMIT 1 OFFSET 0)))";
    let all = "SELECT (SELECT count(*) FROM file_uses WHERE organization_id = $1 AND file_id = $2 \
         AND {tenant organization_id}) + (SELECT count(*) FROM file_holds \
         WHERE organization_id = $1 AND file_id = $2 AND {tenant organization_id})";
    let seen = count(tx, seen, file).await?;
    let before = tx.set_guarded(Vec::new()).await?;
    let all = count(tx, all, file).await?;
    tx.set_guarded(before).await?;
    Ok((seen, all))
}

async fn count(tx: &mut Tx, sql: &'static str, file: &File) -> Result<i64, StoreError> {
    let row = tx
        .first(sql, &[file.organization_id.into(), file.id.into()])
        .await?;
    row.map_or(Ok(0), |row| row.get(0))
}
