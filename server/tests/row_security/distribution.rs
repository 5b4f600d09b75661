//! The tables lie as the program says where a database has several nodes: keys and foreign keys of a table that is
//! spread begin with the column that assigns its rows, and few policies have subqueries, which no such database takes.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::{Client, NoTls};
use tplkit_server::store::{Placement, placements};

use crate::stores::Place;

/// Unique keys: the table, the name, the first column.
const KEYS: &str = "SELECT c.relname::text, i.relname::text, a.attname::text \
     FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid \
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0] \
     WHERE c.relnamespace = 'main'::regnamespace AND NOT c.relispartition AND x.indisunique \
     AND c.relname <> 'schema_migrations'";

/// Foreign keys: the table, the other one, the name, the first column of either.
const FOREIGN_KEYS: &str = "SELECT c.relname::text, o.relname::text, f.conname::text, a.attname::text, b.attname::text \
     FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class o ON o.oid = f.confrelid \
     JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1] \
     JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = f.confkey[1] \
     WHERE f.contype = 'f' AND c.relnamespace = 'main'::regnamespace AND NOT c.relispartition \
     AND NOT o.relispartition";

/// Tables of which a policy has a subquery.
const SUBQUERIES: &str = "SELECT DISTINCT c.relname::text FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid \
     WHERE c.relnamespace = to_regnamespace($1) AND NOT c.relispartition \
     AND concat(p.polqual::text, p.polwithcheck::text) LIKE '%{SUBLINK %' ORDER BY 1";

/// The tables of a schema of which a policy has a subquery: what a database of several nodes refuses.
pub(crate) async fn with_subqueries(client: &Client, schema: &str) -> Vec<String> {
    let tables = client.query(SUBQUERIES, &[&schema]).await.expect("reads");
    tables.iter().map(|table| table.get(0)).collect()
}

/// Tables on the coordinator and with an organization of which one refers to the other.
const APART: [(&str, &str); 3] = [
    ("api_keys", "organizations"),
    ("memberships", "organizations"),
    ("workspace_members", "memberships"),
];

async fn connect(place: &Place) -> Client {
    let connected = tokio_postgres::connect(&place.url, NoTls).await;
    let (client, connection) = connected.expect("connects");
    tokio::spawn(connection);
    client
}

#[test]
fn keys_begin_with_the_column_that_assigns_rows() {
    crate::stores::run(Place::postgres(), |place| async move {
        let client = connect(&place).await;
        let placed: BTreeMap<&str, Placement> = placements().collect();
        let mut keyed = BTreeSet::new();
        for key in client.query(KEYS, &[]).await.expect("reads") {
            let [table, name, first]: [String; 3] = [0, 1, 2].map(|at| key.get(at));
            if let Some(column) = placed[&*table].column() {
                assert_eq!(first, column, "{name} of {table}");
            }
            keyed.insert(table);
        }
        let tables: BTreeSet<String> = placed.keys().map(|&table| table.to_owned()).collect();
        assert_eq!(keyed, tables, "each table has a key");
    });
}

#[test]
fn foreign_keys_stay_with_the_organization() {
    crate::stores::run(Place::postgres(), |place| async move {
        let client = connect(&place).await;
        let placed: BTreeMap<&str, Placement> = placements().collect();
        let keys = client.query(FOREIGN_KEYS, &[]).await.expect("reads");
        assert!(keys.len() > 20, "{}", keys.len());
        for key in keys {
            let [table, other, name, from, to]: [String; 5] = [0, 1, 2, 3, 4].map(|at| key.get(at));
            let why = format!("{name} of {table}");
            match (placed[&*table], placed[&*other]) {
                (Placement::Organization(here), Placement::Organization(there)) => {
                    assert_eq!((&*from, &*to), (here, there), "{why}");
                }
                (here, there) if here.is_coordinator() && there.is_coordinator() => {}
                // These are left out where a database is distributed: nothing of the program rests on them.
                _ => assert!(APART.contains(&(&*table, &*other)), "{why}"),
            }
        }
    });
}

/// Of these the plain form asks a setting once for a statement, or another table (of files). The form for databases of
/// several nodes has none.
#[test]
fn policies_with_subqueries_are_known() {
    crate::stores::run(Place::postgres(), |place| async move {
        let client = connect(&place).await;
        assert_eq!(
            with_subqueries(&client, "main").await,
            [
                "features",
                "files",
                "row_search",
                "row_values",
                "rows",
                "workflow_events",
                "workflow_runs",
                "workflow_steps"
            ]
        );
    });
}
