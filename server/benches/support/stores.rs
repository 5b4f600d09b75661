//! Both stores, empty, as far as they are wanted and installed.

use super::arguments::Arguments;
#[cfg(unix)]
use super::cluster;

/// Does something on each store. It is given the name of the store, and what makes a new database of a name
/// and gives its URL. They are gone when the bench ends.
pub(crate) fn on_each(
    arguments: &Arguments,
    mut work: impl FnMut(&'static str, &dyn Fn(&str) -> String),
) {
    if arguments.wants("sqlite") {
        let folder = tempfile::tempdir().expect("a folder");
        work("SQLite", &|name| {
            let file = folder.path().join(format!("{name}.db"));
            format!("sqlite:{}", file.display())
        });
    }
    #[cfg(unix)]
    if arguments.wants("postgres")
        && let Some(cluster) = cluster::shared()
    {
        work("PostgreSQL", &|name| {
            let create = format!("CREATE DATABASE \"{name}\"");
            cluster.psql(&create).expect("creates");
            cluster.url(name)
        });
    }
}
