//! Keys of requests that may be sent again, and the responses that are kept under them: the rows of `idempotency`.
//!
//! Goes in: a key as its row names it, in a transaction. Comes out: whether a request has it now, or what is kept
//! under it. Knows no HTTP: a status is a number, a body is bytes.

use uuid::Uuid;

use crate::retention::KEPT_RESPONSES;
use crate::store::{StoreError, Tx, Value};

/// How long a key is reserved for a request that never gets a response, in microseconds.
const RESERVATION_MICROS: i64 = 60 * 1_000_000;

/// A key, as its row names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestKey<'k> {
    pub(crate) caller: Uuid,
    pub(crate) method: &'k str,
    pub(crate) path: &'k str,
    pub(crate) name: &'k str,
}

/// What is kept under a key.
#[derive(Debug)]
pub(crate) struct KeptResponse {
    /// Tells the request from others with its key.
    pub(crate) fingerprint: Vec<u8>,
    /// 0 while the request runs.
    pub(crate) status: i64,
    pub(crate) body: Vec<u8>,
}

/// Claims a key. False where another request has it, or has had it so lately that its response is kept.
///
/// # Errors
/// Those of the store: [`StoreError::Locked`] while another request claims it.
pub(crate) async fn claim(
    tx: &mut Tx,
    key: RequestKey<'_>,
    fingerprint: [u8; 32],
    now: i64,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO main.idempotency {own $1} (caller_id, method, path, key, fingerprint, \
         status, body, created_at) VALUES ($1, $2, $3, $4, $5, 0, $8, $6) ON CONFLICT (caller_id, method, path, key) DO UPDATE SET fingerprint = excluded.fingerprint, \
         status = 0, body = excluded.body, created_at = excluded.created_at \
         WHERE idempotency.created_at < $7 \
         OR (idempotency.status = 0 AND idempotency.created_at < $9) RETURNING status";
    let parameters = [
        key.caller.into(),
        key.method.into(),
        key.path.into(),
        key.name.into(),
        fingerprint.into(),
        now.into(),
        (now - KEPT_RESPONSES).into(),
        Value::Bytes(Vec::new()),
        (now - RESERVATION_MICROS).into(),
    ];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// What is kept under a key, if it has not expired.
///
/// # Errors
/// Those of the store.
pub(crate) async fn find(
    tx: &mut Tx,
    key: RequestKey<'_>,
    now: i64,
) -> Result<Option<KeptResponse>, StoreError> {
    let sql = "SELECT fingerprint, status, body FROM idempotency \
         WHERE {caller caller_id} AND method = $1 AND path = $2 AND key = $3 \
         AND created_at >= $4 AND (status <> 0 OR created_at >= $5)";
    let parameters = [
        key.method.into(),
        key.path.into(),
        key.name.into(),
        (now - KEPT_RESPONSES).into(),
        (now - RESERVATION_MICROS).into(),
    ];
    let Some(row) = tx.first(sql, &parameters).await? else {
        return Ok(None);
    };
    Ok(Some(KeptResponse {
        fingerprint: row.get(0)?,
        status: row.get(1)?,
        body: row.get(2)?,
    }))
}

/// Whether the request that has a key has a response.
///
/// # Errors
/// Those of the store.
pub(crate) async fn has_response(tx: &mut Tx, key: RequestKey<'_>) -> Result<bool, StoreError> {
    let sql = "SELECT status FROM idempotency \
         WHERE {caller caller_id} AND method = $1 AND path = $2 AND key = $3";
    let parameters = [key.method.into(), key.path.into(), key.name.into()];
    let row = tx.first(sql, &parameters).await?;
    let status: i64 = row.map_or(Ok(0), |row| row.get(0))?;
    Ok(status != 0)
}

/// Keeps a response under a key that was claimed in this transaction, or in one before.
///
/// # Errors
/// Those of the store.
pub(crate) async fn keep(
    tx: &mut Tx,
    key: RequestKey<'_>,
    response: KeptResponse,
) -> Result<(), StoreError> {
    let sql = "UPDATE main.idempotency SET status = $4, body = $5, fingerprint = $6 \
         WHERE {caller caller_id} AND method = $1 AND path = $2 AND key = $3";
    let parameters = [
        key.method.into(),
        key.path.into(),
        key.name.into(),
        response.status.into(),
        Value::Bytes(response.body),
        Value::Bytes(response.fingerprint),
    ];
    tx.query(sql, &parameters).await.map(drop)
}

/// Keeps a response under a key that was reserved under this fingerprint. False where another request has it by now.
///
/// # Errors
/// Those of the store.
pub(crate) async fn keep_reserved(
    tx: &mut Tx,
    key: RequestKey<'_>,
    reservation: [u8; 32],
    response: KeptResponse,
) -> Result<bool, StoreError> {
    let sql = "UPDATE main.idempotency SET status = $4, body = $5, fingerprint = $6 \
         WHERE {caller caller_id} AND method = $1 AND path = $2 AND key = $3 AND status = 0 AND fingerprint = $7 \
         RETURNING status";
    let parameters = [
        key.method.into(),
        key.path.into(),
        key.name.into(),
        response.status.into(),
        Value::Bytes(response.body),
        Value::Bytes(response.fingerprint),
        reservation.into(),
    ];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// Has a reserved key count as reserved at another time. False where another request has it by now.
///
/// # Errors
/// Those of the store.
pub(crate) async fn renew(
    tx: &mut Tx,
    key: RequestKey<'_>,
    reservation: [u8; 32],
    now: i64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE main.idempotency SET created_at = $4 \
         WHERE {caller caller_id} AND method = $1 AND path = $2 AND key = $3 AND status = 0 AND fingerprint = $5 \
         RETURNING status";
    let parameters = [
        key.method.into(),
        key.path.into(),
        key.name.into(),
        now.into(),
        reservation.into(),
    ];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// Whether a key is, or was, reserved for a request that has no response so far.
///
/// # Errors
/// Those of the store.
pub(crate) async fn was_reserved(
    tx: &mut Tx,
    key: RequestKey<'_>,
    fingerprint: [u8; 32],
    now: i64,
) -> Result<bool, StoreError> {
    let sql = "SELECT status FROM idempotency \
         WHERE {caller caller_id} AND method = $1 AND path = $2 AND key = $3 AND status = 0 AND fingerprint = $4 \
         AND created_at >= $5";
    let parameters = [
        key.method.into(),
        key.path.into(),
        key.name.into(),
        fingerprint.into(),
        (now - KEPT_RESPONSES).into(),
    ];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// Leaves a key that was reserved at that time to whoever claims it next, at once. That one finds that it was reserved.
///
/// # Errors
/// Those of the store.
pub(crate) async fn leave(
    tx: &mut Tx,
    key: RequestKey<'_>,
    reservation: [u8; 32],
    now: i64,
) -> Result<(), StoreError> {
    renew(tx, key, reservation, now - RESERVATION_MICROS - 1)
        .await
        .map(drop)
}

/// Gives back a reserved key whose request came to nothing.
///
/// # Errors
/// Those of the store.
pub(crate) async fn free(
    tx: &mut Tx,
    key: RequestKey<'_>,
    reservation: [u8; 32],
) -> Result<(), StoreError> {
    let sql = "DELETE FROM main.idempotency \
         WHERE {caller caller_id} AND method = $1 AND path = $2 AND key = $3 AND status = 0 AND fingerprint = $4";
    let parameters = [
        key.method.into(),
        key.path.into(),
        key.name.into(),
        reservation.into(),
    ];
    tx.query(sql, &parameters).await.map(drop)
}
