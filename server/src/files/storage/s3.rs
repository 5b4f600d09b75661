//! A bucket of S3, or of a server that speaks its protocol.
//!
//! The environment has the credentials and the address, under the names that other programs of this protocol read
//! (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`).

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::multipart::MultipartStore as _;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::signer::{SignedUrlOptions, Signer as _};
use object_store::{ClientConfigKey, RetryConfig};
use reqwest::{Client, Method, StatusCode};

use super::endpoint::{bucket_fault, is_plain_http};
use super::open_uploads::{OpenUpload, PartPage, UploadPage};
use super::{FileStorage, FileStorageError, STAGING, StorageKind};

/// What is written at a time: the least that the protocol takes.
const BYTES_PER_WRITE: usize = 5 << 20;

/// How long a signed request may take.
const SIGNED_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a request may take as a whole: as long as whoever reads a large file slowly needs.
const REQUEST_TIMEOUT: &str = "1 day";
/// How long a bucket may bring nothing, unless the environment says it (`AWS_READ_TIMEOUT`).
const STANDSTILL: &str = "30 seconds";

/// A bucket, past what all places have in common.
#[derive(Debug)]
pub(super) struct Bucket {
    store: AmazonS3,
    /// What all names of this store begin with.
    prefix: Path,
}

impl Bucket {
    /// The uploads in parts of this store that have begun and not ended, under their names in the store.
    pub(super) async fn open_uploads(&self) -> Result<Vec<OpenUpload>, FileStorageError> {
        let client = client()?;
        let staging = Path::from(STAGING);
        let below: Path = self.prefix.parts().chain(staging.parts()).collect();
        let below = format!("{below}/");
        let bucket = Path::default();
        let mut open = Vec::new();
        let mut next: Option<[String; 2]> = None;
        loop {
            let mut query = vec![("uploads", String::new()), ("prefix", below.clone())];
            let from = next.take();
            if let Some([key, id]) = from.clone() {
                query.extend([("key-marker", key), ("upload-id-marker", id)]);
            }
            let response = self.send(&client, &bucket, query).await?;
            let page = UploadPage::read(&document(response).await?);
            open.extend(page.uploads.into_iter().filter_map(|upload| {
                let key = Path::parse(&*upload.key).ok()?;
                let own: Path = key.prefix_match(&self.prefix)?.collect();
                Some(OpenUpload {
                    key: own.to_string(),
                    ..upload
                })
            }));
            // A bucket that goes on where it has begun does not end.
            next = page.next.filter(|next| Some(next) != from.as_ref());
            if next.is_none() {
                return Ok(open);
            }
        }
    }

    /// When the newest part of an upload came, in microseconds since 1970; nothing where none has.
    pub(super) async fn newest_part(
        &self,
        upload: &OpenUpload,
    ) -> Result<Option<i64>, FileStorageError> {
        let (client, name) = (client()?, self.name(&upload.key)?);
        let mut newest: Option<i64> = None;
        let mut after = String::new();
        loop {
            let mut query = vec![("uploadId", upload.id.clone())];
            if !after.is_empty() {
                query.push(("part-number-marker", after.clone()));
            }
            let response = self.send(&client, &name, query).await?;
            if response.status() == StatusCode::NOT_FOUND {
                return Err(FileStorageError::Missing);
            }
            let page = PartPage::read(&document(response).await?);
            newest = newest.max(page.newest);
            // A bucket that goes on where it has begun does not end.
            match page.next.filter(|next| *next != after) {
                Some(next) => after = next,
                None => return Ok(newest),
            }
        }
    }

    /// Gives up an upload in parts.
    pub(super) async fn abort(&self, key: &str, id: &str) -> Result<(), FileStorageError> {
        let name = self.name(key)?;
        Ok(self.store.abort_multipart(&name, &id.to_owned()).await?)
    }

    /// A name of the store, as the bucket has it.
    fn name(&self, key: &str) -> Result<Path, FileStorageError> {
        let name = Path::parse(key);
        let name = name.map_err(|error| FileStorageError::Unavailable(error.to_string()))?;
        Ok(self.prefix.parts().chain(name.parts()).collect())
    }

    /// Sends a request that reads, with a query that is signed along.
    async fn send(
        &self,
        client: &Client,
        name: &Path,
        query: Vec<(&'static str, String)>,
    ) -> Result<reqwest::Response, FileStorageError> {
        let options = SignedUrlOptions::new().with_query(query);
        let signed = self
            .store
            .signed_url_opts(Method::GET, name, SIGNED_TIMEOUT, &options);
        client.get(signed.await?).send().await.map_err(away)
    }
}

fn client() -> Result<Client, FileStorageError> {
    Client::builder()
        .timeout(SIGNED_TIMEOUT)
        .build()
        .map_err(away)
}

/// The document of a response that is no error.
async fn document(response: reqwest::Response) -> Result<String, FileStorageError> {
    let response = response.error_for_status().map_err(away)?;
    response.text().await.map_err(away)
}

/// Why a bucket did not respond. The address is left out: it is signed.
fn away(error: reqwest::Error) -> FileStorageError {
    FileStorageError::Unavailable(error.without_url().to_string())
}

/// Opens `BUCKET/PREFIX`.
pub(super) fn open(place: &str) -> Result<FileStorage, String> {
    let (name, prefix) = place.split_once('/').unwrap_or((place, ""));
    if let Some(fault) = bucket_fault(name) {
        return Err(fault);
    }
    // The clients of this protocol take the ring that the rest of the program has.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A place that is away is an error soon; the client tries again.
    let retry = RetryConfig {
        max_retries: 3,
        retry_timeout: Duration::from_secs(10),
        ..RetryConfig::default()
    };
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(name)
        .with_retry(retry)
        .with_config(
            AmazonS3ConfigKey::Client(ClientConfigKey::Timeout),
            REQUEST_TIMEOUT,
        );
    let standstill = AmazonS3ConfigKey::Client(ClientConfigKey::ReadTimeout);
    if builder.get_config_value(&standstill).is_none() {
        builder = builder.with_config(standstill, STANDSTILL);
    }
    if is_plain_http(&builder)? {
        builder = builder.with_allow_http(true);
    }
    let built: Result<AmazonS3, _> = builder.build();
    let bucket = built.map_err(|error| format!("s3://{place} cannot be used: {error}"))?;
    let prefix = Path::from(prefix);
    let own = Bucket {
        store: bucket.clone(),
        prefix: prefix.clone(),
    };
    Ok(FileStorage {
        objects: Arc::new(PrefixStore::new(bucket, prefix)),
        kind: StorageKind::Bucket(Arc::new(own)),
        part: BYTES_PER_WRITE,
    })
}
