//! Passwords: Argon2id, off the runtime's threads and only a few at a time.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use tokio::sync::Semaphore;

use crate::context::random;
use crate::store::StoreError;

/// Verifies passwords. Each verification takes 19 MiB and a moment, hence the bound.
#[derive(Debug, Clone)]
pub struct Passwords {
    permits: Arc<Semaphore>,
    /// Verified against when there is no such user, so that the answer takes as long.
    nobody: Arc<str>,
}

impl Passwords {
    /// Makes ready to verify.
    ///
    /// # Errors
    /// When this machine cannot hash.
    pub fn new() -> Result<Passwords, StoreError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Passwords {
            permits: Arc::new(Semaphore::new(threads)),
            nobody: hash_password(&random::<16>())?.into(),
        })
    }

    /// Whether a password belongs to a stored hash; without one the answer is no, as late.
    ///
    /// # Errors
    /// When the work could not be done.
    pub async fn verify(
        &self,
        password: String,
        stored: Option<String>,
    ) -> Result<bool, StoreError> {
        let lost = |error: &dyn std::fmt::Display| StoreError::Internal(error.to_string());
        let permit = self
            .permits
            .clone()
            .acquire_owned()
            .await
            .map_err(|error| lost(&error))?;
        let nobody = self.nobody.clone();
        let verified = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let known = stored.is_some();
            let hash = stored.as_deref().unwrap_or(&nobody);
            let matches = PasswordHash::new(hash).is_ok_and(|hash| {
                Argon2::default()
                    .verify_password(password.as_bytes(), &hash)
                    .is_ok()
            });
            matches && known
        });
        verified.await.map_err(|error| lost(&error))
    }
}

/// The hash that is stored of a password.
///
/// # Errors
/// When this machine cannot hash.
pub fn hash_password(password: &[u8]) -> Result<String, StoreError> {
    let salt = random::<16>();
    Argon2::default()
        .hash_password_with_salt(password, &salt)
        .map(|hash| hash.to_string())
        .map_err(|error| StoreError::Internal(error.to_string()))
}
