//! The address of a PostgreSQL server, and TLS.
//!
//! `sslmode` and `sslrootcert` of the URL have the meaning of PostgreSQL's own clients: `disable`;
//! `prefer` (also when nothing is said) and `require` encrypt without asking who the other side is,
//! unless certificates are named to trust; `verify-ca` and `verify-full` do ask, always for the
//! name, too. `sslrootcert=system`, and none with the last two, trusts what this machine trusts.

use std::str::FromStr as _;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

/// What a URL says.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
}

impl Address {
    /// Reads a URL. Errors hold nothing of its password.
    pub(super) fn parse(url: &str) -> Result<Address, String> {
        // Parameters begin behind the hosts; before them a sign is part of a password.
        let hosts = url.find('@').unwrap_or_default();
        let query = url[hosts..].find('?').map(|at| hosts + at);
        let (base, query) = query.map_or((url, ""), |at| (&url[..at], &url[at + 1..]));
        let mut roots = None;
        let mut verify = false;
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslrootcert", file)) => {
                    let file = percent_encoding::percent_decode_str(file);
                    roots = Some(file.decode_utf8_lossy().into_owned());
                }
                Some(("sslmode", "verify-ca" | "verify-full")) => {
                    verify = true;
                    rest.push("sslmode=require");
                }
                // A store is written to, whatever is said or not said.
                Some(("target_session_attrs", "read-write" | "primary" | "any")) => {}
                Some(("target_session_attrs", other)) => {
                    return Err(format!(
                        "target_session_attrs={other}: the server writes, so only a host that takes \
                         writes is of use: say read-write, or leave it out"
                    ));
                }
                _ => rest.push(pair),
            }
        }
        let plain = match rest.as_slice() {
            [] => base.to_owned(),
            rest => format!("{base}?{}", rest.join("&")),
        };
        let mut config =
            Config::from_str(&plain).map_err(|error| crate::store::error::chain(&error))?;
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let local = |host: &Host| !matches!(host, Host::Tcp(_));
        if config.get_hosts().iter().all(local) && config.get_hostaddrs().is_empty() {
            // A socket of this machine passes nobody by.
            config.ssl_mode(SslMode::Disable);
        }
        let used = config.get_ssl_mode() != SslMode::Disable;
        let roots = match (used, verify, roots) {
            (true, _, Some(file)) if file != "system" => Some(from_file(&file)?),
            (true, _, Some(_)) | (true, true, None) => Some(from_system()?),
            _ => None,
        };
        let tls = client(roots).map_err(|error| error.to_string())?;
        Ok(Address {
            config,
            tls: MakeRustlsConnect::new(tls),
        })
    }
}

fn from_file(file: &str) -> Result<RootCertStore, String> {
    let fault = |error: &dyn std::fmt::Display| format!("sslrootcert {file}: {error}");
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| fault(&error))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| fault(&error))?;
        roots.add(certificate).map_err(|error| fault(&error))?;
    }
    if roots.is_empty() {
        return Err(fault(&"holds no certificate"));
    }
    Ok(roots)
}

fn from_system() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("this machine trusts no certificate; name some with sslrootcert".to_owned());
    }
    Ok(roots)
}

fn client(roots: Option<RootCertStore>) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?;
    let builder = match roots {
        Some(roots) => builder.with_root_certificates(roots),
        None => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider))),
    };
    Ok(builder.with_no_client_auth())
}

/// Asks nobody who they are, as `sslmode=require` has it; that they hold the key they show is checked.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::TargetSessionAttrs;

    use super::Address;

    #[test]
    fn of_several_hosts_one_that_takes_writes_is_wanted() {
        for rest in [
            "",
            "?target_session_attrs=read-write",
            "?target_session_attrs=primary",
            "?target_session_attrs=any&connect_timeout=3",
        ] {
            let url = format!("postgres://u:p@one:5433,two/db{rest}");
            let config = Address::parse(&url).map(|address| address.config);
            let config = config.unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(config.get_hosts().len(), 2, "{url}");
            assert_eq!(config.get_ports(), [5433, 5432], "{url}");
            let wanted = config.get_target_session_attrs();
            assert_eq!(wanted, TargetSessionAttrs::ReadWrite, "{url}");
        }
    }

    /// Signs that have a meaning elsewhere in a URL have none there.
    #[test]
    fn a_password_is_taken_as_it_is() {
        for rest in ["", "?connect_timeout=3", "?target_session_attrs=any"] {
            let url = format!("postgres://u:pa?ss@host/db{rest}");
            let config = Address::parse(&url).map(|address| address.config);
            let config = config.unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(config.get_password(), Some(&b"pa?ss"[..]), "{url}");
            assert_eq!(config.get_dbname(), Some("db"), "{url}");
        }
    }

    #[test]
    fn what_a_url_says_of_encryption_is_read() {
        let mode = |url: &str| {
            let mode = Address::parse(url).map(|address| address.config.get_ssl_mode());
            mode.map(|mode| format!("{mode:?}"))
        };
        for (url, expected) in [
            ("postgres://u:p@host/db", "Prefer"),
            ("postgres://u:p@host/db?sslmode=disable", "Disable"),
            ("postgres://u:p@host/db?sslmode=require", "Require"),
            ("postgresql:///db?host=/tmp&user=u", "Disable"),
            (
                "postgresql:///db?host=/tmp&user=u&sslmode=require",
                "Disable",
            ),
        ] {
            assert_eq!(mode(url).as_deref(), Ok(expected), "{url}");
        }
        for bad in [
            "postgres://u:p@host/db?sslmode=sometimes",
            "postgres://u:p@host/db?sslrootcert=/nowhere/to/be/found",
            "postgres://u:p@host/db?target_session_attrs=read-only",
            "postgres://u:p@one,two/db?target_session_attrs=prefer-standby",
            "postgres://u:p@one:1,two:none/db",
        ] {
            let refused = mode(bad).expect_err(bad);
            assert!(!refused.contains("u:p"), "{refused}");
        }
    }
}
