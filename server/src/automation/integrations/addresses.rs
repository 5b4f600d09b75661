//! Decides which addresses requests may reach. A name that resolves into a private network is
//! refused unless that is allowed, because the owner of a name can point it anywhere. Numeric
//! addresses and `localhost`, written by the administrator, are allowed.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, redirect};
use rustls::ClientConfig;
use rustls::crypto::ring;

use super::PATIENCE;

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
        .timeout(PATIENCE)
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
        let name = name.as_str().to_owned();
        let local = name == "localhost" || name.ends_with(".localhost");
        let anywhere = self.allow_private || local;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let found: Vec<SocketAddr> = found.collect();
            let fine = |address: &SocketAddr| anywhere || !is_private(address.ip());
            if let Some(private) = found.iter().find(|address| !fine(address)) {
                let reason = format!(
                    "{name} leads to {}, an address that is not public: allow it with --allow-private-addresses",
                    private.ip()
                );
                return Err(reason.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is not one of the public network.
pub(super) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || v4.is_documentation()
                || a == 0
                || (a == 100 && (64..128).contains(&b))
                || (a == 198 && (18..20).contains(&b))
                || (a == 192 && b == 0 && v4.octets()[2] == 0)
                || a >= 240
        }
        IpAddr::V6(v6) => {
            let embedded = v6.to_ipv4_mapped().or_else(|| match v6.segments() {
                // NAT64 leads to the address at its end.
                [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                    let [a, b] = high.to_be_bytes();
                    let [c, d] = low.to_be_bytes();
                    Some([a, b, c, d].into())
                }
                _ => None,
            });
            if let Some(v4) = embedded {
                return is_private(v4.into());
            }
            v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
                || v6.segments()[0] == 0x2001 && v6.segments()[1] == 0xdb8
                || v6.segments()[0] == 0x2002
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_private;

    #[test]
    fn what_is_not_public_is_known() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "198.18.0.1",
            "192.0.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
        ] {
            assert!(
                is_private(private.parse().expect("an address")),
                "{private}"
            );
        }
        for public in [
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
        ] {
            assert!(!is_private(public.parse().expect("an address")), "{public}");
        }
    }
}
