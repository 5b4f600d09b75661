//! Passwords: Argon2id, off the runtime's threads and only a few at a time.

use std::sync::Arc;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::password_hash::{Error, Result as Hashed};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use prometheus_client::metrics::counter::Counter;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use crate::context::random;
use crate::store::StoreError;

/// Characters that a new password has at least.
pub const SHORTEST_PASSWORD: usize = 10;
/// Bytes that a password may have.
const LONGEST_PASSWORD: usize = 1024;
/// How many may wait to be verified; more are sent away, so that nobody waits for minutes.
const MAX_WAITING: usize = 256;

/// What is wrong with a password that somebody chooses. Passwords of before this was asked for go on
/// working.
pub fn fault_of_password(password: &str) -> Option<String> {
    if password.chars().count() < SHORTEST_PASSWORD {
        return Some(format!("has less than {SHORTEST_PASSWORD} characters"));
    }
    let long = password.len() > LONGEST_PASSWORD;
    long.then(|| format!("is longer than {LONGEST_PASSWORD} bytes"))
}

/// Verifies passwords. Each verification takes 19 MiB and a moment, hence the bound.
#[derive(Debug, Clone)]
pub struct Passwords {
    permits: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    verified: Counter,
    /// Verified against when there is no such user, so that the response takes as long.
    nobody: Arc<str>,
}

impl Passwords {
    /// Makes ready to verify.
    ///
    /// # Errors
    /// When a hash cannot be written.
    pub fn new() -> Result<Passwords, StoreError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Passwords {
            permits: Arc::new(Semaphore::new(threads)),
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
            verified: Counter::default(),
            nobody: of_nobody()?.into(),
        })
    }

    /// How many passwords were verified, the ones of nobody among them.
    pub fn verified(&self) -> Counter {
        self.verified.clone()
    }

    /// Whether a password belongs to a stored hash. Without one it is false, after the same work. A password
    /// that is too long belongs to no hash.
    ///
    /// # Errors
    /// When the work could not be done, or too many wait for it.
    pub async fn verify(
        &self,
        password: String,
        stored: Option<String>,
    ) -> Result<bool, StoreError> {
        let nobody = self.nobody.clone();
        let verified = self.verified.clone();
        self.work(move || {
            let known = stored.is_some();
            let hash = stored.as_deref().unwrap_or(&nobody);
            let bytes = password.as_bytes();
            let fits = bytes.len() <= LONGEST_PASSWORD;
            let bytes = &bytes[..bytes.len().min(LONGEST_PASSWORD)];
            let matches = is_of(bytes, hash).unwrap_or(false);
            verified.inc();
            matches && known && fits
        })
        .await
    }

    /// The hash that is stored of a password that somebody chose.
    ///
    /// # Errors
    /// As [`verify`](Passwords::verify).
    pub async fn hash(&self, password: String) -> Result<String, StoreError> {
        self.work(move || hash_password(password.as_bytes()))
            .await?
    }

    /// What tells requests with passwords in them apart, and is as hard to guess back as a password is
    /// from its hash. The salt is not a secret: it keeps the work for one from serving for another.
    ///
    /// # Errors
    /// As [`verify`](Passwords::verify).
    pub(crate) async fn fingerprint<const N: usize>(
        &self,
        parts: [&[u8]; 2],
        salt: [&[u8]; N],
    ) -> Result<[u8; 32], StoreError> {
        let digest = |parts: &[&[u8]]| -> [u8; 32] {
            let mut hash = Sha256::new();
            for part in parts {
                hash.update(part.len().to_be_bytes());
                hash.update(part);
            }
            hash.finalize().into()
        };
        let (bytes, salt) = (digest(&parts), digest(&salt));
        let hashed = self.work(move || slow_hash(&bytes, &salt)).await?;
        hashed.map_err(|error| StoreError::Internal(error.to_string()))
    }

    /// Does what takes memory and a moment, when it is its turn.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let crowded = |_| StoreError::Unavailable("too many sign in at once".to_owned());
        let _place = self.waiting.try_acquire().map_err(crowded)?;
        let lost = |error: &dyn std::fmt::Display| StoreError::Internal(error.to_string());
        let permit = self
            .permits
            .clone()
            .acquire_owned()
            .await
            .map_err(|error| lost(&error))?;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.map_err(|error| lost(&error))
    }
}

fn slow_hash(bytes: &[u8], salt: &[u8]) -> Hashed<[u8; 32]> {
    let argon = Argon2::default();
    let output = compute(&argon, bytes, &Salt::new(&salt[..16])?, 32)?;
    output.as_ref().try_into().map_err(|_| Error::OutputSize)
}

/// The hash that is stored of a password.
///
/// # Errors
/// When this machine cannot hash.
pub fn hash_password(password: &[u8]) -> Result<String, StoreError> {
    let argon = Argon2::default();
    let hash = || {
        let salt = Salt::new(&random::<16>())?;
        let hash = compute(&argon, password, &salt, Params::DEFAULT_OUTPUT_LEN)?;
        stored_form(argon.params(), salt, hash)
    };
    hash().map_err(|error| StoreError::Internal(error.to_string()))
}

/// A hash that is that of no password: as long and as costly to verify against as one that is. Nothing is computed for
/// it, so that starting a server costs none of that.
fn of_nobody() -> Result<String, StoreError> {
    let hash = || {
        let hash = Output::new(&random::<{ Params::DEFAULT_OUTPUT_LEN }>())?;
        stored_form(&Params::default(), Salt::new(&random::<16>())?, hash)
    };
    hash().map_err(|error: Error| StoreError::Internal(error.to_string()))
}

/// A hash as it is stored, with what it was made with by default.
fn stored_form(params: &Params, salt: Salt, hash: Output) -> Hashed<String> {
    let text = PasswordHash {
        algorithm: Algorithm::default().ident(),
        version: Some(Version::default().into()),
        params: ParamsString::try_from(params)?,
        salt: Some(salt),
        hash: Some(hash),
    };
    Ok(text.to_string())
}

/// Whether a hash is that of a password; an error when it is not a hash.
fn is_of(password: &[u8], hash: &str) -> Hashed<bool> {
    let hash = PasswordHash::new(hash)?;
    let (Some(salt), Some(output)) = (hash.salt, hash.hash) else {
        return Ok(false);
    };
    let algorithm = Algorithm::try_from(hash.algorithm.as_str())?;
    let version = hash.version.map(Version::try_from).transpose()?;
    let argon = Argon2::new(
        algorithm,
        version.unwrap_or_default(),
        Params::try_from(&hash)?,
    );
    // Compared in constant time.
    Ok(compute(&argon, password, &salt, output.len())? == output)
}

/// Hashes, in memory that goes back to the system at once.
fn compute(argon: &Argon2<'_>, password: &[u8], salt: &[u8], length: usize) -> Hashed<Output> {
    /// In blocks of a KiB, beyond what allocators keep for later: the 19 MiB that are needed would stay.
    /// What is only reserved takes no memory.
    const RESERVED: usize = 33 << 10;
    let count = argon.params().block_count();
    let mut memory = Vec::with_capacity(count.max(RESERVED));
    memory.resize(count, Block::new());
    let mut out = [0; Output::MAX_LENGTH];
    let out = out.get_mut(..length).ok_or(Error::OutputSize)?;
    argon.hash_password_into_with_memory(password, salt, out, &mut memory)?;
    Ok(Output::new(out)?)
}

#[cfg(test)]
mod tests {
    use super::{
        LONGEST_PASSWORD, PasswordHash, Passwords, fault_of_password, hash_password, of_nobody,
    };

    #[test]
    fn a_new_password_has_ten_characters_and_at_most_1024_bytes() {
        for (password, fine) in [
            ("a", false),
            ("123456789", false),
            ("1234567890", true),
            // Characters, not bytes.
            ("ééééééééé", false),
            ("éééééééééé", true),
            (&"x".repeat(1024), true),
            (&"x".repeat(1025), false),
            (&"é".repeat(513), false),
        ] {
            assert_eq!(fault_of_password(password).is_none(), fine, "{password}");
        }
    }

    #[tokio::test]
    async fn a_fingerprint_tells_requests_apart() {
        let passwords = Passwords::new().expect("hashes");
        let of = async |parts: [&[u8]; 2], salt: &[u8]| {
            let made = passwords.fingerprint(parts, [salt]).await;
            made.expect("hashes")
        };
        let first = of([b"", b"{}"], b"a").await;
        assert_eq!(of([b"", b"{}"], b"a").await, first);
        assert_ne!(of([b"{", b"}"], b"a").await, first);
        assert_ne!(of([b"", b"{}"], b"b").await, first);
    }

    #[test]
    fn nobody_is_verified_against_at_the_price_of_anybody() {
        let parts = |hash: String| {
            let hash = PasswordHash::new(&hash).expect("a hash");
            let salt = hash.salt.expect("a salt").len();
            (
                hash.algorithm,
                hash.version,
                hash.params,
                salt,
                hash.hash.expect("an output").len(),
            )
        };
        let somebody = hash_password(b"somebody").expect("hashes");
        let nobody = of_nobody().expect("makes");
        assert_eq!(parts(nobody), parts(somebody));
    }

    #[tokio::test]
    async fn whoever_it_is_the_work_is_done_once() {
        let passwords = Passwords::new().expect("hashes");
        // The reference implementation's, of its own tests.
        let known = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ\
            $CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        let stored = hash_password(b"right").expect("hashes");
        let long = "x".repeat(LONGEST_PASSWORD);
        let stored_long = hash_password(long.as_bytes()).expect("hashes");
        for (password, stored, fine) in [
            ("right", Some(&stored), true),
            ("wrong", Some(&stored), false),
            ("right", None, false),
            (&long, Some(&stored_long), true),
            // Not made here, and with other parameters.
            ("password", Some(&known.to_owned()), true),
            ("passw0rd", Some(&known.to_owned()), false),
            ("password", Some(&"$argon2id$".to_owned()), false),
            // The same to the hash, had it not been too long.
            (&format!("{long}y"), Some(&stored_long), false),
        ] {
            let before = passwords.verified().get();
            let matches = passwords.verify(password.to_owned(), stored.cloned()).await;
            assert_eq!(matches, Ok(fine));
            assert_eq!(passwords.verified().get(), before + 1);
        }
    }
}
