//! `PgBouncer` between the server and PostgreSQL, as its package brings it: settings reach every transaction,
//! and none stays behind on a session that goes to somebody else next.

use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use serde_json::json;
use tplkit_server::store::{Options, Store, StoreError};

use crate::api::model::{Model, id};
use crate::api::world::World;
use crate::cluster::{self, Cluster, variable};
use crate::stores::{Place, run};

/// Looks after a pooler: it ends with the pipe, however the test ends.
const SUPERVISE: &str = r#"
"$1" -q "$2" >"$3/log" 2>&1 &
pooler=$!
read -r _ || :
kill -INT "$pooler" || :
wait "$pooler" || :
rm -rf "$3"
"#;

/// A running `PgBouncer` before the cluster of the tests.
pub(crate) struct Pooler {
    folder: PathBuf,
    supervisor: Child,
    lifeline: Option<ChildStdin>,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let _ = self.supervisor.wait();
    }
}

/// The program, and whether it knows prepared statements of transactions; nothing where it is not
/// installed.
fn program() -> Option<(PathBuf, bool)> {
    let named = variable("TPLKIT_PGBOUNCER").map(PathBuf::from);
    let usual = [
        "/usr/sbin",
        "/usr/bin",
        "/usr/local/bin",
        "/opt/homebrew/bin",
    ];
    let path = variable("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(usual.map(PathBuf::from));
    let found = named
        .into_iter()
        .chain(folders.map(|folder| folder.join("pgbouncer")))
        .find(|program| program.is_file());
    let Some(program) = found else {
        assert!(
            variable("TPLKIT_REQUIRE_PGBOUNCER").is_none_or(|value| value == "0"),
            "PgBouncer is required here and not installed; run scripts/test"
        );
        let _ = writeln!(
            io::stderr(),
            "\nSKIPPED: no PgBouncer found; nothing was tested through a pooler. \
             Run scripts/test to install it.\n"
        );
        return None;
    };
    let version = Command::new(&program).arg("--version").output();
    let version = String::from_utf8_lossy(&version.expect("says its version").stdout).into_owned();
    let minor = version
        .split_once(" 1.")
        .and_then(|(_, rest)| rest.split('.').next()?.parse::<u32>().ok());
    Some((program, minor.is_some_and(|minor| minor >= 21)))
}

impl Pooler {
    /// Starts with the settings that the package brings, and these.
    fn start(program: &Path, cluster: &Cluster, settings: &str) -> io::Result<Pooler> {
        let user = cluster::unprivileged::user()?;
        let folder = tempfile::Builder::new()
            .prefix("tplkit-pooler-")
            .tempdir_in(cluster::unprivileged::temporary_folder(user.as_ref()))?
            .keep();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755))?;
        let configuration = folder.join("pgbouncer.ini");
        // `any` signs in as the one user that the database names, whoever asks.
        std::fs::write(
            &configuration,
            format!(
                "[databases]\n* = user=postgres host={}\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {}\n\
                 listen_port = 5432\nauth_type = any\n{settings}",
                cluster.socket().display(),
                folder.display(),
            ),
        )?;
        let mut supervise = Command::new("sh");
        supervise
            .args(["-c", SUPERVISE, "supervise"])
            .args([program, &configuration, &folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        if let Some(user) = &user {
            std::os::unix::fs::chown(&folder, Some(user.uid), Some(user.gid))?;
            supervise.uid(user.uid).gid(user.gid);
        }
        let mut supervisor = supervise.spawn()?;
        let lifeline = supervisor.stdin.take();
        let pooler = Pooler {
            folder,
            supervisor,
            lifeline,
        };
        for _ in 0..500 {
            if pooler.folder.join(".s.PGSQL.5432").exists() {
                return Ok(pooler);
            }
            thread::sleep(Duration::from_millis(20));
        }
        let log = std::fs::read_to_string(pooler.folder.join("log")).unwrap_or_default();
        Err(io::Error::other(format!("PgBouncer did not start:\n{log}")))
    }

    /// The way to a database of the cluster through it.
    pub(crate) fn url(&self, database: &str) -> String {
        let folder = self.folder.display();
        format!("postgresql:///{database}?host={folder}&user=postgres")
    }
}

/// The pooler of this process, where `TPLKIT_TEST_POOLER=1` has every test reach its database through one: in
/// session mode, as its package brings it. Servers of a test take more connections than it allows by itself.
///
/// # Panics
/// When it is asked for and not installed, or does not start.
pub(crate) fn of_suite() -> Option<&'static Pooler> {
    static POOLER: LazyLock<Option<Pooler>> = LazyLock::new(|| {
        variable("TPLKIT_TEST_POOLER").filter(|value| value != "0")?;
        let cluster = cluster::shared()?;
        let (program, _) =
            program().expect("PgBouncer is installed: TPLKIT_TEST_POOLER asks for it");
        let settings = "pool_mode = session\ndefault_pool_size = 100\nmax_client_conn = 1000\n";
        Some(Pooler::start(&program, cluster, settings).expect("the pooler starts"))
    });
    POOLER.as_ref()
}

/// A database of the cluster, and the way to it through a pooler.
fn pooled(settings: &str, needs_prepared: bool) -> Option<(Place, Pooler, Place)> {
    let place = Place::empty_postgres()?;
    let (program, prepared) = program()?;
    if needs_prepared && !prepared {
        let _ = writeln!(
            io::stderr(),
            "\nSKIPPED: {} is older than 1.21 and keeps no prepared statements in transaction mode. \
             TPLKIT_PGBOUNCER names another one.\n",
            program.display()
        );
        return None;
    }
    let cluster = cluster::shared()?;
    let pooler = Pooler::start(&program, cluster, settings).expect("the pooler starts");
    let through = Place::at(pooler.url(place.database_name()));
    Some((place, pooler, through))
}

#[test]
fn the_api_works_through_a_pooler_in_session_mode_as_it_comes() {
    let Some((_place, _pooler, through)) = pooled("pool_mode = session\n", false) else {
        return;
    };
    run(Some(through), api);
}

#[test]
fn the_api_works_where_the_pooler_drops_what_it_does_not_know() {
    let settings = "pool_mode = session\nignore_startup_parameters = options\n";
    let Some((_place, _pooler, through)) = pooled(settings, false) else {
        return;
    };
    run(Some(through), api);
}

#[test]
fn the_api_works_through_a_pooler_in_transaction_mode() {
    let settings = "pool_mode = transaction\nmax_prepared_statements = 500\n";
    let Some((_place, _pooler, through)) = pooled(settings, true) else {
        return;
    };
    run(Some(through), api);
}

/// The pooler resets nothing between its clients here, so that whatever were left would be seen.
#[test]
fn nothing_stays_behind_on_a_session_of_the_pooler() {
    let settings = "pool_mode = session\nserver_reset_query =\n";
    let Some((place, pooler, through)) = pooled(settings, false) else {
        return;
    };
    let shown = "SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings \
         WHERE name IN ('search_path', 'statement_timeout', 'lock_timeout', 'plan_cache_mode', \
         'enable_seqscan', 'jit', 'role', 'idle_in_transaction_session_timeout', \
         'synchronous_commit') OR name LIKE 'tplkit.%' AND setting <> ''";
    let cluster = cluster::shared().expect("it is there");
    let name = place.database_name();
    let fresh = cluster.psql_in(name, shown).expect("a result");
    run(Some(through), api);
    // Sessions go back to the pooler when the store closes them, and the next clients get them.
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
         AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    let count = cluster.psql_in(name, count).expect("a result");
    assert_ne!(count, "0", "the pooler keeps its sessions");
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let url = pooler.url(name);
            let sql = format!("SELECT pg_sleep(0.2); {shown}");
            thread::spawn(move || {
                let cluster = cluster::shared().expect("it is there");
                cluster.psql_at(&url, &sql).expect("a result")
            })
        })
        .collect();
    for client in clients {
        let found = client.join().expect("ends");
        assert_eq!(found.trim(), fresh);
    }
}

/// What stands for the API: people sign in, tables are made, rows written, sorted, counted, shared reads
/// asked, all of it by two servers; and a statement ends when its time is over.
async fn api(place: Place) {
    let url = place.url.clone();
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let model = Model::new(&admin, world.acme)
        .with_template(&admin, world.acme)
        .with_workflow(&admin, "w");
    let columns = format!("/v1/features/{}/columns", model.feature);
    admin.create(
        &columns,
        &json!({"label": "Name", "type": "text", "name": "name"}),
    );
    let rows = format!("/v1/features/{}/rows", model.feature);
    let mut ids = Vec::new();
    for number in 0..40 {
        let row = admin.create(&rows, &json!({"data": {"name": format!("n{number:02}")}}));
        ids.push(id(&row));
    }
    let plan = format!("/v1/templates/{}/plan", model.template);
    let into = json!({"workspaceId": model.workspace});
    admin.post(&plan, &into).expect(200);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for row in &ids {
                    let found = admin.get(&format!("{rows}/{row}")).expect(200).json();
                    assert_eq!(found["id"], row.as_str());
                }
                let page = admin.get(&format!("{rows}?sort=-name&limit=2")).expect(200);
                assert_eq!(page.json()["items"][0]["data"]["name"], "n39");
            });
        }
    });
    let nobody = world.nobody.get(&rows);
    nobody.expect(401);
    world.as_user("stranger@other.test").get(&rows).expect(404);
    let second = Store::open(&url).await.expect("a second server");
    second.ready().await.expect("is ready");
    let options = Options {
        statement_timeout: Duration::from_millis(200),
    };
    let hurried = Store::open_with(&url, &options).await.expect("opens");
    let slow = hurried.read(&tplkit_server::store::Scope::Operator, (), |tx, ()| {
        Box::pin(async move { tx.query("SELECT pg_sleep(30)", &[]).await.map(drop) })
    });
    assert_eq!(slow.await, Err(StoreError::TooLong));
}
