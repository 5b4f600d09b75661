//! An empty store of either kind for one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;
#[cfg(unix)]
use tplkit_server::store::Options;
use tplkit_server::store::{Isolation, Store};

use super::once_per_build;
#[cfg(unix)]
use super::{
    citus::{self, Citus},
    cluster, partitions, pooler,
};

/// A place for a store, removed with it.
#[derive(Debug)]
pub struct Place {
    /// As a server takes it.
    pub url: String,
    _folder: Option<TempDir>,
    /// A database that goes with this place.
    database: Option<String>,
    /// The cluster over which that database is distributed.
    #[cfg(unix)]
    citus: Option<&'static Citus>,
    /// Whether its tables are in parts.
    #[cfg(unix)]
    in_parts: bool,
}

#[cfg(unix)]
impl Drop for Place {
    fn drop(&mut self) {
        let Some(name) = &self.database else { return };
        if let Some(citus) = self.citus {
            let _ = citus.remove(name);
            return;
        }
        if let Some(cluster) = cluster::shared() {
            if self.in_parts && !std::thread::panicking() {
                partitions::check_plans(cluster, name);
            }
            // The cluster goes in the end, with everything in it.
            let _ = cluster.remove(name);
        }
    }
}

impl Place {
    /// A file in a folder of its own that is migrated already: a copy of one that was migrated once.
    pub fn sqlite() -> Place {
        let place = Place::empty_sqlite();
        let file = place.url.trim_start_matches("sqlite:");
        fs::copy(migrated_file(), file).expect("copies");
        place
    }

    /// A folder of its own for a file that does not exist yet.
    fn empty_sqlite() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        Place {
            url: format!("sqlite:{}", folder.path().join("test.db").display()),
            _folder: Some(folder),
            database: None,
            #[cfg(unix)]
            citus: None,
            #[cfg(unix)]
            in_parts: false,
        }
    }

    /// A database of the throw-away cluster that is migrated already: a copy of one that was migrated once.
    /// Where a Citus cluster is at hand, a distributed one of that.
    #[cfg(unix)]
    pub fn postgres() -> Option<Place> {
        if let Some(citus) = citus::at_hand() {
            return Some(Place::distributed(citus));
        }
        Place::plain_postgres()
    }

    /// One of the throw-away cluster in any case.
    #[cfg(unix)]
    pub fn plain_postgres() -> Option<Place> {
        let cluster = cluster::shared()?;
        let in_parts = partitions::are_asked_for();
        let name = if in_parts { "in_parts" } else { "migrated" };
        let prepared = cluster.prepared(name, |name| {
            migrate(&cluster.url(name));
            if in_parts {
                partitions::split(cluster, name).expect("splits");
            }
        });
        let prepared = prepared.expect("migrates");
        let mut place = Place::database(|name| cluster.copy(prepared, name));
        place.in_parts = in_parts;
        Some(place)
    }

    /// A database of the throw-away cluster that has nothing in it.
    #[cfg(unix)]
    pub fn empty_postgres() -> Option<Place> {
        let cluster = cluster::shared()?;
        let create = |name: &str| cluster.psql(&format!("CREATE DATABASE {name}")).map(drop);
        Some(Place::database(create))
    }

    #[cfg(unix)]
    fn database(create: impl FnOnce(&str) -> std::io::Result<()>) -> Place {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        create(&name).expect("creates");
        let direct = || cluster::shared().expect("it is there").url(&name);
        Place {
            url: pooler::of_suite().map_or_else(direct, |pooler| pooler.url(&name)),
            _folder: None,
            database: Some(name),
            citus: None,
            in_parts: false,
        }
    }

    /// There is none here.
    #[cfg(not(unix))]
    pub fn postgres() -> Option<Place> {
        None
    }

    /// There is none here.
    #[cfg(not(unix))]
    pub fn empty_postgres() -> Option<Place> {
        None
    }

    /// Somewhere else.
    #[cfg(unix)]
    pub fn at(url: String) -> Place {
        Place {
            url,
            _folder: None,
            database: None,
            citus: None,
            in_parts: false,
        }
    }

    /// A distributed database of the cluster that is at hand.
    #[cfg(unix)]
    pub fn distributed(citus: &'static Citus) -> Place {
        let name = citus.distributed(distribute).expect("copies");
        Place {
            url: citus.url(&name),
            _folder: None,
            database: Some(name),
            in_parts: false,
            citus: Some(citus),
        }
    }

    /// A database of the cluster that is at hand with nothing in it, to be distributed.
    #[cfg(unix)]
    pub fn undistributed(citus: &'static Citus) -> Place {
        let name = citus.empty().expect("makes");
        Place {
            url: citus.url(&name),
            _folder: None,
            database: Some(name),
            in_parts: false,
            citus: Some(citus),
        }
    }

    /// The name of its database.
    #[cfg(unix)]
    pub fn database_name(&self) -> &str {
        self.database.as_deref().expect("a database of the cluster")
    }

    /// Another one of the same kind.
    pub fn another(&self) -> Place {
        let another = match self.database {
            Some(_) => Place::postgres(),
            None => Some(Place::sqlite()),
        };
        another.expect("there is one already")
    }

    /// Another one of the same kind that nobody has migrated.
    pub fn unmigrated(&self) -> Place {
        let another = match self.database {
            Some(_) => Place::empty_postgres(),
            None => Some(Place::empty_sqlite()),
        };
        another.expect("there is one already")
    }

    /// Runs statements past the server, as somebody with the file or the database at hand can.
    pub fn execute(&self, sql: &str) {
        self.past_the_server(sql, |file| file.execute_batch(sql).map(|()| String::new()));
    }

    /// Asks for one text past the server.
    pub fn ask(&self, sql: &str) -> String {
        self.past_the_server(sql, |file| file.query_row(sql, [], |row| row.get(0)))
    }

    /// Has a table refuse an operation until it is [admitted](Place::admit): the server sees a store that cannot do it at
    /// the moment. Not for a database of several nodes, which takes no triggers.
    pub fn refuse(&self, operation: &str, table: &str) {
        let when = format!("CREATE TRIGGER refused BEFORE {operation} ON main.{table}");
        if self.database.is_none() {
            let when = when.replace("ON main.", "ON ");
            self.execute(&format!("{when} BEGIN SELECT RAISE(ABORT, 'refused'); END"));
            return;
        }
        self.execute(&format!(
            "CREATE FUNCTION main.refused() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '53000'; END $$; \
             {when} FOR EACH ROW EXECUTE FUNCTION main.refused()"
        ));
    }

    /// Takes that back.
    pub fn admit(&self, table: &str) {
        if self.database.is_none() {
            self.execute("DROP TRIGGER refused");
        } else {
            self.execute(&format!(
                "DROP TRIGGER refused ON main.{table}; DROP FUNCTION main.refused()"
            ));
        }
    }

    fn past_the_server(
        &self,
        sql: &str,
        in_file: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<String>,
    ) -> String {
        if let Some(file) = self.url.strip_prefix("sqlite:") {
            let file = rusqlite::Connection::open(file).expect("opens");
            return in_file(&file).expect(sql);
        }
        #[cfg(unix)]
        if let (Some(name), Some(citus)) = (&self.database, self.citus) {
            return citus.psql_in(name, sql).expect(sql);
        }
        #[cfg(unix)]
        if let Some(name) = &self.database
            && let Some(cluster) = cluster::shared()
        {
            return cluster.psql_in(name, sql).expect(sql);
        }
        panic!("{}: {sql}", self.url)
    }

    /// The store there.
    pub async fn open(&self) -> Store {
        Store::open(&self.url).await.expect("opens")
    }

    /// The store there, with a line of its defence left out.
    pub async fn open_without(&self, isolation: Isolation) -> Store {
        Store::open_without(&self.url, isolation)
            .await
            .expect("opens")
    }
}

/// A file of SQLite that is migrated.
fn migrated_file() -> &'static Path {
    static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
        once_per_build::file("migrated.db", |file| {
            let place = Place::empty_sqlite();
            migrate(&place.url);
            let migrated = rusqlite::Connection::open(place.url.trim_start_matches("sqlite:"));
            let copy = format!("VACUUM INTO '{}'", file.display());
            migrated
                .expect("opens")
                .execute_batch(&copy)
                .expect("copies");
        })
    });
    &FILE
}

/// A statement of a test, which need not name an organization as those of the program do.
#[must_use]
pub fn of_a_test(sql: &str) -> String {
    format!("{sql} {{across test}}")
}

/// Makes the database there what a server makes of it when it starts.
fn migrate(url: &str) {
    drop(alone(Store::open(url)).expect("migrates"));
}

/// Makes the database there what `migrate --distributed` makes of it.
#[cfg(unix)]
fn distribute(url: &str) {
    let store = Store::prepare(url, &Options::default()).expect("an address");
    alone(store.distribute()).expect("distributes");
}

/// Runs something to its end on a thread of its own: a test may have a runtime on this one.
fn alone<T: Send>(work: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| {
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(work)
        };
        scope.spawn(run).join().expect("no panic")
    })
}

/// Runs an `async fn(Place)` once per store, as tests of their own.
#[macro_export]
macro_rules! on_both_stores {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                $crate::stores::run(Some($crate::stores::Place::sqlite()), super::$name);
            })+
        }

        mod postgres {
            $(#[test]
            fn $name() {
                $crate::stores::run($crate::stores::Place::postgres(), super::$name);
            })+
        }
    };
}
pub use crate::on_both_stores;

/// Runs a test body, if there is a store for it.
pub fn run<F: Future<Output = ()>>(place: Option<Place>, body: impl FnOnce(Place) -> F) {
    if let Some(place) = place {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        // As the server has it.
        runtime.thread_stack_size(8 << 20);
        let runtime = runtime.worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(body(place));
    }
}
