//! The step `http.request`: only below the base address of a connection.

use std::error::Error;
use std::io;

use reqwest::{Client, Method};
use tplkit::automation::run::bounds::DEPTH;
use tplkit::automation::run::{Failure, Request};
use tplkit::json::{Object, Value as Json};
use url::Url;

use super::echo::without_token;
use super::{BAD_CERTIFICATE, MOST_BYTES, Stamp};
use crate::automation::connections::OpenConnection;

/// Sends a request, and gives status and body. Whatever the status is, there was a response.
///
/// # Errors
/// A path that leads elsewhere, and whatever keeps a response from coming.
pub(in crate::automation) async fn request(
    client: &Client,
    connection: &OpenConnection,
    wanted: &Request,
    stamp: &Stamp,
) -> Result<Object, Failure> {
    let url = below(&connection.url, &wanted.path)?;
    let method = Method::from_bytes(wanted.method.as_bytes())
        .map_err(|_| Failure::at("method", "is not a method"))?;
    let mut request = client
        .request(method, url)
        // The receiver recognizes a request that is sent again after a crash.
        .header("idempotency-key", format!("{}.{}", stamp.run, stamp.step));
    let token = wanted.bearer.as_deref().or(connection.secret.as_deref());
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    if let Some(body) = &wanted.body {
        request = request
            .header("content-type", "application/json")
            .body(body.write());
    }
    let (status, text) = receive(request).await?;
    let text = without_token(text, token);
    // What nests deeper than a value of a run may stays a text, and so does what no store can hold:
    // the text has the escape, and not the character.
    let body = Json::parse(&text)
        .ok()
        .filter(|body| body.nests_within(DEPTH) && !body.holds_nul());
    let body = body.unwrap_or_else(|| text.into());
    Ok(Object::from_iter([
        ("status".to_owned(), i64::from(status).into()),
        ("body".to_owned(), body),
    ]))
}

/// Sends, and reads no more than is kept.
pub(super) async fn receive(request: reqwest::RequestBuilder) -> Result<(u16, String), Failure> {
    let failed = |error: reqwest::Error| {
        // Addresses may hold more than everybody should read.
        let error = error.without_url();
        let mut reason = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            reason = format!("{reason}: {error}");
            cause = error.source();
        }
        if is_bad_certificate(&error) {
            BAD_CERTIFICATE.clone_into(&mut reason);
        }
        Failure::at("connectionName", format!("no response came: {reason}"))
    };
    let mut response = request.send().await.map_err(failed)?;
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MOST_BYTES {
            let reason = format!("the response has more than {MOST_BYTES} bytes");
            return Err(Failure::at("connectionName", reason));
        }
    }
    // What no store can hold is not kept.
    let text = String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}");
    Ok((status, text))
}

/// Whether a certificate is the reason: the words for that name the host, and those that the certificate is for.
fn is_bad_certificate(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return matches!(error, rustls::Error::InvalidCertificate(_));
    }
    // What such an error holds is not its source.
    let held = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    if let Some(held) = held {
        return is_bad_certificate(held);
    }
    error.source().is_some_and(is_bad_certificate)
}

/// The address of a path below a base.
pub(in crate::automation) fn below(base: &str, path: &str) -> Result<Url, Failure> {
    let elsewhere = |reason: &str| {
        let value = Json::from(path);
        Failure::at("path", reason).yields(None, &value)
    };
    let base = Url::parse(base)
        .map_err(|_| Failure::at("connectionName", "the connection has no good address"))?;
    if path.contains(|character: char| character.is_control() || character == '\\') {
        return Err(elsewhere(
            "a path holds no control characters and no backslashes",
        ));
    }
    let mut root = base.clone();
    root.set_query(None);
    root.set_fragment(None);
    let start = root.as_str().trim_end_matches('/').to_owned();
    let joined = match path {
        "" => base.to_string(),
        path if path.starts_with('?') => format!("{start}{path}"),
        path => format!("{start}/{}", path.trim_start_matches('/')),
    };
    let url = Url::parse(&joined).map_err(|_| elsewhere("leads nowhere"))?;
    let same = (
        url.scheme(),
        url.host(),
        url.port_or_known_default(),
        url.username(),
    ) == (
        base.scheme(),
        base.host(),
        base.port_or_known_default(),
        base.username(),
    );
    let prefix = root.path().trim_end_matches('/');
    let inside = url.path() == prefix
        || url
            .path()
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with('/'));
    if same && inside {
        Ok(url)
    } else {
        Err(elsewhere("leads out of the connection's address"))
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::thread;

    use reqwest::Client;
    use rustls::crypto::ring;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection};

    use super::{below, receive};

    /// A server whose certificate is for another host; gives its port, and a client that trusts its authority.
    fn serves_another_name() -> (u16, Client) {
        let names = ["canary.example".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let certificate = made.cert.der().clone();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).expect("is trusted");
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key.into())
            .expect("a server");
        let server = Arc::new(server);
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = Client::builder().tls_backend_preconfigured(config);
        let client = client.no_proxy().build().expect("a client");
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(server.clone());
                let mut connection = connection.expect("a connection");
                // The client leaves in the middle.
                let _ = connection.complete_io(&mut stream);
            }
        });
        (port, client)
    }

    #[tokio::test]
    async fn a_certificate_of_another_host_tells_no_names() {
        let (port, client) = serves_another_name();
        let request = client.get(format!("https://localhost:{port}/"));
        let refused = receive(request).await.expect_err("is not trusted");
        let reason = refused.reason;
        assert!(reason.contains("is for another host"), "{reason}");
        for name in ["canary", "localhost"] {
            assert!(!reason.contains(name), "{reason}");
        }
    }

    #[test]
    fn a_path_stays_below_its_base() {
        let base = "https://api.example.org/v1";
        for (path, url) in [
            ("", "https://api.example.org/v1"),
            ("/orders/1", "https://api.example.org/v1/orders/1"),
            ("orders?x=1", "https://api.example.org/v1/orders?x=1"),
            ("?x=1", "https://api.example.org/v1?x=1"),
            ("a/../b", "https://api.example.org/v1/b"),
            (
                "https://evil.example",
                "https://api.example.org/v1/https://evil.example",
            ),
            (
                "//evil.example/x",
                "https://api.example.org/v1/evil.example/x",
            ),
            ("@evil.example", "https://api.example.org/v1/@evil.example"),
        ] {
            assert_eq!(below(base, path).expect(path).as_str(), url);
        }
        for path in [
            "..",
            "../v2",
            "a/../../v2",
            "%2e%2e/v2",
            "../v1x",
            "a\r\nb",
            "\\evil",
        ] {
            assert!(below(base, path).is_err(), "{path}");
        }
        let open = below("http://127.0.0.1:8080", "/../x").expect("inside");
        assert_eq!(open.as_str(), "http://127.0.0.1:8080/x");
    }
}
