//! What the environment says about a bucket, before anybody is asked: the client of the protocol ends on an address that is
//! none.
//!
//! In: what the client has read of the environment. Out: whether it may speak without TLS, or what is wrong, in words that
//! name the variable.

use axum::http::Uri;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use reqwest::Url;

/// Variables that name the address of a bucket, and the one that counts first.
const ADDRESSES: [(&str, AmazonS3ConfigKey); 2] = [
    ("AWS_ENDPOINT_URL_S3", AmazonS3ConfigKey::S3Endpoint),
    ("AWS_ENDPOINT_URL", AmazonS3ConfigKey::Endpoint),
];

/// Whether the address of a bucket is one without TLS.
///
/// # Errors
/// A variable that the client cannot use.
pub(super) fn is_plain_http(builder: &AmazonS3Builder) -> Result<bool, String> {
    let region = builder.get_config_value(&AmazonS3ConfigKey::Region);
    if let Some(region) = region.filter(|region| !is_word(region)) {
        return Err(format!(
            "AWS_REGION is {region:?}, which is no region: use one such as us-east-1"
        ));
    }
    let mut named = ADDRESSES.iter().filter_map(|(variable, key)| {
        let address = builder.get_config_value(key)?;
        Some((*variable, address))
    });
    let Some((variable, address)) = named.next() else {
        return Ok(false);
    };
    match scheme(&address) {
        Some(scheme) => Ok(scheme == "http"),
        None => Err(format!(
            "{variable} is {address:?}, which is no address: write http://HOST:PORT or https://HOST"
        )),
    }
}

/// What is wrong with the name of a bucket, if anything: it stands in addresses as it is.
pub(super) fn bucket_fault(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("s3:// names no bucket: use s3://BUCKET/PREFIX".to_owned());
    }
    (!name.split('.').all(is_word)).then(|| {
        format!(
            "{name:?} is no name of a bucket: use letters, digits, hyphens and dots, as in s3://BUCKET/PREFIX"
        )
    })
}

/// Letters, digits, hyphens and underscores of ASCII.
fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    text.bytes().all(plain)
}

/// The scheme of an address, if it is one of HTTP.
fn scheme(address: &str) -> Option<String> {
    // The client reads it as both, and ends where one of them is none.
    let uri: Uri = address.parse().ok()?;
    let url = Url::parse(address).ok()?;
    let is_whole = uri.host().is_some_and(|host| !host.is_empty()) && uri.scheme().is_some();
    let is_bare = url.query().is_none() && url.fragment().is_none();
    let is_http = matches!(url.scheme(), "http" | "https");
    (is_whole && is_bare && is_http).then(|| url.scheme().to_owned())
}

#[cfg(test)]
mod tests {
    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

    use super::{bucket_fault, is_plain_http};

    fn plain(key: AmazonS3ConfigKey, value: &str) -> Result<bool, String> {
        is_plain_http(&AmazonS3Builder::new().with_config(key, value))
    }

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        let endpoint = |address: &str| plain(AmazonS3ConfigKey::Endpoint, address);
        for (address, is_plain) in [
            ("http://minio:9000", true),
            ("HTTP://127.0.0.1:9000/", true),
            ("http://[::1]:9000/below", true),
            ("https://s3.example.com", false),
        ] {
            assert_eq!(endpoint(address), Ok(is_plain), "{address}");
        }
        for address in [
            "",
            "minio:9000",
            "localhost:9000",
            "127.0.0.1:9000",
            "minio",
            "http://",
            "http:/h:1",
            "http:h",
            "//h:1",
            "not a url",
            "http://h:99999",
            "http://h/a b",
            "http://h?x",
            "http://h#x",
            "ftp://h",
        ] {
            let why = endpoint(address).expect_err(address);
            assert!(why.starts_with("AWS_ENDPOINT_URL is"), "{why}");
            assert!(why.contains("http://HOST:PORT"), "{why}");
        }
        let why = plain(AmazonS3ConfigKey::S3Endpoint, "minio:9000").expect_err("none");
        assert!(why.starts_with("AWS_ENDPOINT_URL_S3 is"), "{why}");
        assert_eq!(is_plain_http(&AmazonS3Builder::new()), Ok(false));
    }

    #[test]
    fn what_counts_first_is_looked_at() {
        let both = AmazonS3Builder::new()
            .with_config(AmazonS3ConfigKey::Endpoint, "http://general")
            .with_config(AmazonS3ConfigKey::S3Endpoint, "https://special");
        assert_eq!(is_plain_http(&both), Ok(false));
    }

    #[test]
    fn regions_and_buckets_are_words() {
        let region = |name: &str| plain(AmazonS3ConfigKey::Region, name);
        assert_eq!(region("eu-central-1"), Ok(false));
        for bad in ["\"us-east-1\"", "us east", "ü"] {
            assert!(region(bad).is_err_and(|why| why.contains("AWS_REGION")));
        }
        for name in ["files", "my.files-2", "Old_Name"] {
            assert_eq!(bucket_fault(name), None, "{name}");
        }
        for name in ["", "a b", "ü", "a?b", "a:b"] {
            assert!(bucket_fault(name).is_some(), "{name}");
        }
    }
}
