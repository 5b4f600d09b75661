//! The way to PostgreSQL, encrypted and not.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use tplkit_server::store::{Scope, Store, StoreError};

use crate::cluster::{self, Cluster};
use crate::stores::{Place, run};

/// A server on a port of its own that speaks TLS with a certificate for `localhost`.
struct Encrypted {
    _cluster: Cluster,
    port: u16,
    /// The certificate, to be trusted.
    certificate: tempfile::NamedTempFile,
}

impl Encrypted {
    fn start() -> Option<Encrypted> {
        let programs = cluster::programs()?;
        // Free a moment ago; nobody else is likely to take it right now.
        let port = std::net::TcpListener::bind("127.0.0.1:0");
        let port = port
            .and_then(|port| port.local_addr())
            .expect("a port")
            .port();
        let names = ["localhost".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let mut cluster = Cluster::start(programs).expect("starts");
        let data = cluster.folder().join("data");
        let owner = fs::metadata(&data).expect("is there");
        for (name, text) in [
            ("server.crt", made.cert.pem()),
            ("server.key", made.signing_key.serialize_pem()),
        ] {
            let file = data.join(name);
            fs::write(&file, text).expect("writes");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("closes");
            std::os::unix::fs::chown(&file, Some(owner.uid()), Some(owner.gid())).expect("gives");
        }
        for setting in ["ssl = on", "listen_addresses = '127.0.0.1'"] {
            cluster
                .psql(&format!("ALTER SYSTEM SET {setting}"))
                .expect("sets");
        }
        cluster
            .psql(&format!("ALTER SYSTEM SET port = {port}"))
            .expect("sets");
        let rules = "hostssl all all 127.0.0.1/32 trust\nlocal all all trust\n";
        fs::write(data.join("pg_hba.conf"), rules).expect("writes");
        cluster.pause().expect("stops");
        cluster.resume().expect("starts");
        let certificate = tempfile::NamedTempFile::new().expect("a file");
        fs::write(certificate.path(), made.cert.pem()).expect("writes");
        Some(Encrypted {
            _cluster: cluster,
            port,
            certificate,
        })
    }

    async fn open(&self, host: &str, parameters: &str) -> Result<(), StoreError> {
        let port = self.port;
        let url = format!("postgres://postgres@{host}:{port}/postgres?{parameters}");
        let store = Store::open(&url).await?;
        store.ready().await?;
        // Connections for short reads start another way.
        store
            .short_read(&Scope::Authentication, (), |tx, ()| {
                Box::pin(async move { tx.last("SELECT 1", &[]).await.map(drop) })
            })
            .await
    }
}

#[test]
fn the_way_is_encrypted_as_the_url_says() {
    let Some(server) = Encrypted::start() else {
        return;
    };
    run(Some(Place::sqlite()), |_| async move {
        // This server lets nobody in who is not encrypted.
        let refused = server.open("127.0.0.1", "sslmode=disable").await;
        assert!(
            matches!(refused, Err(StoreError::TurnedAway(_))),
            "{refused:?}"
        );
        server.open("localhost", "").await.expect("prefers it");
        server
            .open("localhost", "sslmode=require")
            .await
            .expect("opens");
        // Nobody here trusts that certificate, unless set up to.
        let refused = server.open("localhost", "sslmode=verify-full").await;
        assert!(refused.is_err(), "{refused:?}");
        let file = server.certificate.path().display();
        let trusted = format!("sslmode=verify-full&sslrootcert={file}");
        server.open("localhost", &trusted).await.expect("opens");
        // It is for another name.
        let refused = server.open("127.0.0.1", &trusted).await;
        let Err(StoreError::Unavailable(why)) = refused else {
            panic!("{refused:?}");
        };
        assert!(why.contains("certificate"), "{why}");
    });
}

#[test]
fn a_server_without_encryption_is_refused_when_it_is_required() {
    let Some(place) = Place::empty_postgres() else {
        return;
    };
    run(Some(place), |place| async move {
        // A socket of this machine needs none, whatever is asked for.
        let url = format!("{}&sslmode=require", place.url);
        Store::open(&url).await.expect("opens");
    });
}
