//! A bucket of S3, or of a server that speaks its protocol.
//!
//! The environment has the credentials and the address, under the names that other programs of this protocol read
//! (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`).

use std::sync::Arc;
use std::time::Duration;

use object_store::RetryConfig;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::prefix::PrefixStore;

use super::{Kind, Place};

/// What is written at a time: the least that the protocol takes.
const PART: usize = 5 << 20;

/// Opens `BUCKET/PREFIX`.
pub(super) fn open(place: &str) -> Result<Place, String> {
    let (name, prefix) = place.split_once('/').unwrap_or((place, ""));
    if name.is_empty() {
        return Err("s3:// names no bucket: use s3://BUCKET/PREFIX".to_owned());
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
        .with_retry(retry);
    let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
    if endpoint.is_some_and(|endpoint| endpoint.starts_with("http:")) {
        builder = builder.with_allow_http(true);
    }
    let built: Result<AmazonS3, _> = builder.build();
    let bucket = built.map_err(|error| format!("s3://{place} cannot be used: {error}"))?;
    Ok(Place {
        objects: Arc::new(PrefixStore::new(bucket, Path::from(prefix))),
        kind: Kind::Bucket,
        part: PART,
    })
}
