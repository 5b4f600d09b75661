//! `Idempotency-Key`: a repeated request gets the same response and has its effect once (`rest`
//! 2.8).
//!
//! The key and the response are stored in the transaction of the effect. A repeat that arrives
//! meanwhile is refused by the process that runs the first request (`in_flight`); in other
//! processes it waits for the first claim. Refusals have no effect, so they are stored afterwards (`kept_refusal`).
//! Work that does not fit into one transaction reserves its key before the effect; after a crash
//! the reservation expires soon, and whoever claims the key then knows of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::in_flight::{InFlight, InFlightGuard};
use super::response::ApiResponse;
use crate::kept_responses::{self, KeptResponse, RequestKey};
use crate::refusal::{Code, Refusal};
use crate::store::{StoreError, Tx};

const HEADER: &str = "idempotency-key";
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A request that may be sent again.
#[derive(Debug, Clone)]
pub struct IdempotencyKey {
    caller: Uuid,
    method: &'static str,
    path: String,
    name: String,
    fingerprint: [u8; 32],
    now: i64,
    /// Set once the key is claimed in a transaction of its own.
    reserved: Arc<AtomicBool>,
    /// What stands in place of the fingerprint while the body comes: it tells this reservation from others.
    reservation: Option<[u8; 32]>,
    turn: Arc<InFlightGuard>,
}

/// A request of a caller, as its key tells it from others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyedRequest<'r> {
    pub(crate) method: &'static str,
    pub(crate) path: &'r str,
    /// The name of the key.
    pub(crate) name: &'r str,
}

/// Whether a request brings a key, fit or not.
pub(crate) fn is_given(headers: &HeaderMap) -> bool {
    headers.contains_key(HEADER)
}

/// The name of the key of a request that brings one.
///
/// # Errors
/// 422 for a key that is none.
pub(crate) fn check(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut given = headers.get_all(HEADER).iter();
    let Some(value) = given.next() else {
        return Ok("");
    };
    let key = name(value.as_bytes()).filter(|_| given.next().is_none());
    key.ok_or_else(|| {
        Refusal::fault(
            "header.Idempotency-Key",
            "is not one name of 1 to 255 visible ASCII characters",
        )
    })
}

/// Distinguishes a request from others with its key: a digest of its query and body.
pub(crate) fn fingerprint(parts: [&[u8]; 2]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

impl IdempotencyKey {
    /// The key of a request, with its turn among those of that key.
    pub(crate) fn new(
        caller: Uuid,
        request: KeyedRequest<'_>,
        fingerprint: [u8; 32],
        running: &Arc<InFlight>,
        now: i64,
    ) -> IdempotencyKey {
        let KeyedRequest { method, path, name } = request;
        let turn = running.enter(&(caller, method, path, name), fingerprint);
        IdempotencyKey {
            caller,
            method,
            path: path.to_owned(),
            name: name.to_owned(),
            fingerprint,
            now,
            reserved: Arc::default(),
            reservation: None,
            turn: Arc::new(turn),
        }
    }
}

impl IdempotencyKey {
    /// The same key, for a request whose fingerprint is known at its end. The id is given once.
    pub(crate) fn reserved_as(self, id: Uuid) -> IdempotencyKey {
        let mut reservation = [0; 32];
        reservation[..16].copy_from_slice(id.as_bytes());
        IdempotencyKey {
            reservation: Some(reservation),
            ..self
        }
    }

    /// As its row names it.
    fn stored(&self) -> RequestKey<'_> {
        RequestKey {
            caller: self.caller,
            method: self.method,
            path: &self.path,
            name: &self.name,
        }
    }

    /// What tells its record from one that another request has made.
    fn claimed_as(&self) -> [u8; 32] {
        self.reservation.unwrap_or(self.fingerprint)
    }

    /// The same key, of a request of which everything is known now.
    pub(crate) fn of_request(&self, fingerprint: [u8; 32]) -> IdempotencyKey {
        IdempotencyKey {
            fingerprint,
            ..self.clone()
        }
    }

    /// Notes that it was claimed in a transaction of its own, for an effect that has another.
    pub(crate) fn reserve(&self) {
        self.reserved.store(true, Ordering::Release);
    }

    /// Refuses a request that comes while the first one of its key runs in this process.
    fn refuse_concurrent(&self) -> Result<(), Refusal> {
        match self.turn.wait_for_first() {
            None => Ok(()),
            Some(first) if first == self.fingerprint => Err(in_progress()),
            Some(_) => Err(reused()),
        }
    }

    /// Repeats of the request get its response from now on.
    pub(crate) fn mark_responded(&self) {
        self.turn.end();
    }
}

/// The name in a header: quoted and bare it is one key.
fn name(value: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(value).ok()?;
    let quoted = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let name = quoted.unwrap_or(text);
    let visible = name.bytes().all(|byte| (0x21..=0x7E).contains(&byte));
    ((1..=255).contains(&name.len()) && visible).then_some(name)
}

/// Claims a key before the effect. Gives the response of the first request, if there was one.
///
/// # Errors
/// 422 when the key stands for another request, 409 while the first one runs.
pub async fn claim(
    tx: &mut Tx,
    key: Option<&IdempotencyKey>,
) -> Result<Option<ApiResponse>, Refusal> {
    let Some(key) = key else { return Ok(None) };
    match insert_claim(tx, key).await? {
        Claimed::Ours => Ok(None),
        Claimed::Theirs(response) => Ok(Some(response)),
    }
}

/// Keeps the response, in the transaction of the effect.
///
/// # Errors
/// 409 when the key was reserved while a body came, and another request has it by now; those of the store.
pub async fn keep(
    tx: &mut Tx,
    key: Option<&IdempotencyKey>,
    response: &ApiResponse,
) -> Result<(), Refusal> {
    let Some(key) = key else { return Ok(()) };
    let response = KeptResponse {
        // Of a body that goes through as it came, it is known by now.
        fingerprint: key.fingerprint.to_vec(),
        status: i64::from(response.status.as_u16()),
        body: response.body.clone(),
    };
    let Some(reservation) = key.reservation else {
        return Ok(kept_responses::keep(tx, key.stored(), response).await?);
    };
    let kept = kept_responses::keep_reserved(tx, key.stored(), reservation, response);
    kept.await?.then_some(()).ok_or_else(in_progress)
}

/// What stands under the key of a request whose body is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// Nothing did; the key is taken until its request ends.
    Ours,
    /// The response to an earlier request. Whether this one is the same is known at its end.
    Kept,
}

/// Takes the key of a request whose body is still to come, and of which nothing is known so far.
///
/// # Errors
/// 409 while the first request runs.
pub(crate) async fn reserve(tx: &mut Tx, key: &IdempotencyKey) -> Result<Reserved, Refusal> {
    match insert_claim(tx, key).await {
        Ok(Claimed::Ours) => Ok(Reserved::Ours),
        Ok(Claimed::Theirs(_)) => Ok(Reserved::Kept),
        // There is nothing yet to compare.
        Err(refusal) if refusal.code == Code::IdempotencyKeyReused => {
            if !kept_responses::has_response(tx, key.stored()).await? {
                return Err(in_progress());
            }
            Ok(Reserved::Kept)
        }
        Err(refusal) => Err(refusal),
    }
}

/// Keeps a reserved key for longer. Says whether the request still has it.
///
/// # Errors
/// Those of the store.
pub(crate) async fn renew(tx: &mut Tx, key: &IdempotencyKey, now: i64) -> Result<bool, StoreError> {
    kept_responses::renew(tx, key.stored(), key.claimed_as(), now).await
}

/// Whether an attempt at this very request has reserved its key and has no response so far.
///
/// # Errors
/// Those of the store.
pub(crate) async fn was_reserved(tx: &mut Tx, key: &IdempotencyKey) -> Result<bool, StoreError> {
    kept_responses::was_reserved(tx, key.stored(), key.claimed_as(), key.now).await
}

/// Leaves a reserved key to the next attempt at its request, which learns that there was this one.
///
/// # Errors
/// Those of the store.
pub(crate) async fn leave(tx: &mut Tx, key: &IdempotencyKey) -> Result<(), StoreError> {
    kept_responses::leave(tx, key.stored(), key.claimed_as(), key.now).await
}

/// Gives back a reserved key whose request came to nothing.
///
/// # Errors
/// Those of the store.
pub(crate) async fn free(tx: &mut Tx, key: &IdempotencyKey) -> Result<(), StoreError> {
    kept_responses::free(tx, key.stored(), key.claimed_as()).await
}

/// Whose a key is once it was to be claimed.
pub(super) enum Claimed {
    Ours,
    Theirs(ApiResponse),
}

/// The response of the first request, if it has one; nothing is claimed.
///
/// # Errors
/// As [`claim`].
pub async fn kept_response(
    tx: &mut Tx,
    key: &IdempotencyKey,
) -> Result<Option<ApiResponse>, Refusal> {
    key.refuse_concurrent()?;
    read(tx, key).await
}

pub(super) async fn insert_claim(tx: &mut Tx, key: &IdempotencyKey) -> Result<Claimed, Refusal> {
    if key.reserved.load(Ordering::Acquire) {
        return Ok(Claimed::Ours);
    }
    key.refuse_concurrent()?;
    let claimed = kept_responses::claim(tx, key.stored(), key.claimed_as(), key.now);
    match claimed.await {
        Ok(true) => return Ok(Claimed::Ours),
        Ok(false) => {}
        Err(StoreError::Locked) => return Err(in_progress()),
        Err(error) => return Err(error.into()),
    }
    let first = read(tx, key).await?;
    first.map(Claimed::Theirs).ok_or_else(in_progress)
}

/// The response that is kept under a key.
async fn read(tx: &mut Tx, key: &IdempotencyKey) -> Result<Option<ApiResponse>, Refusal> {
    let Some(kept) = kept_responses::find(tx, key.stored(), key.now).await? else {
        return Ok(None);
    };
    if kept.fingerprint != key.fingerprint {
        return Err(reused());
    }
    let status = u16::try_from(kept.status).ok();
    let Some(status) = status.and_then(|status| StatusCode::from_u16(status).ok()) else {
        return Err(in_progress());
    };
    let response = ApiResponse::written(status, kept.body);
    Ok(Some(
        response.with(REPLAYED, HeaderValue::from_static("true")),
    ))
}

fn reused() -> Refusal {
    Refusal::new(
        Code::IdempotencyKeyReused,
        "This Idempotency-Key was used for another request; use a new one.",
    )
}

fn in_progress() -> Refusal {
    let detail = "The first request with this Idempotency-Key still runs; try again in a moment.";
    let mut refusal = Refusal::new(Code::IdempotencyInProgress, detail);
    refusal.retry_after = Some(1);
    refusal
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn quoted_and_bare_names_are_one_key() {
        for (value, read) in [
            ("abc", Some("abc")),
            ("\"abc\"", Some("abc")),
            ("\"", Some("\"")),
            ("", None),
            ("\"\"", None),
            ("a b", None),
            ("é", None),
        ] {
            assert_eq!(name(value.as_bytes()), read, "{value}");
        }
        assert!(name("k".repeat(255).as_bytes()).is_some());
        assert!(name("k".repeat(256).as_bytes()).is_none());
    }
}
