//! The client for requests of steps. A name that resolves into a private network is refused unless that is allowed: its
//! owner can point it anywhere. Numbers are not resolved.

use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, redirect};
use rustls::ClientConfig;
use rustls::crypto::ring;

use super::TIMEOUT;
use crate::automation::private_addresses::resolve;

/// A client for requests of steps. It follows no redirects, and speaks to no proxy.
///
/// # Errors
/// When there is no way to speak TLS here.
pub(in crate::automation) fn client(allow_private: bool) -> Result<Client, String> {
    let mut roots = rustls::RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(config)
        .redirect(redirect::Policy::none())
        .no_proxy()
        .timeout(TIMEOUT)
        .dns_resolver(Arc::new(PublicResolver { allow_private }))
        .build()
        .map_err(|error| error.to_string())
}

#[derive(Debug)]
struct PublicResolver {
    allow_private: bool,
}

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (name, allow_private) = (name.as_str().to_owned(), self.allow_private);
        Box::pin(async move {
            let found = resolve(&name, 0, allow_private).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
