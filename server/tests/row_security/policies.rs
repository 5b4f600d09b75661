//! What the migrations make of a database is what the policies of the program say, table by table.
//!
//! The text of the policies is applied to empty copies of the tables in a schema of its own, so that
//! PostgreSQL itself prints both sides and only what they mean is compared.

use std::collections::BTreeMap;

use tokio_postgres::{Client, NoTls};
use tplkit_server::store::postgres_policies;

use crate::stores::Place;

const TABLES: &str = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations' ORDER BY 1";

/// For each table of a schema: what is switched on, who may do what with it and with its columns, and its
/// policies.
const SECURITY: &str = "SELECT c.relname::text, format('enabled: %s, forced: %s', c.relrowsecurity, c.relforcerowsecurity) \
     FROM pg_class c WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'p') \
     UNION ALL SELECT c.relname::text, format('%s may %s', a.grantee::regrole, a.privilege_type) \
     FROM pg_class c, aclexplode(c.relacl) AS a WHERE c.relnamespace = to_regnamespace($1) \
     AND c.relkind IN ('r', 'p') AND a.grantee <> c.relowner \
     UNION ALL SELECT c.relname::text, format('%s may %s %s', a.grantee::regrole, a.privilege_type, t.attname) \
     FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid AND NOT t.attisdropped, aclexplode(t.attacl) AS a \
     WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'p') AND a.grantee <> c.relowner \
     UNION ALL SELECT tablename::text, format('%s %s for %s to %s using (%s) check (%s)', permissive, policyname, \
     cmd, roles, qual, with_check) FROM pg_policies WHERE schemaname = $1 ORDER BY 1, 2";

/// Line by line what is said of each table.
async fn security(client: &Client, schema: &str) -> BTreeMap<String, Vec<String>> {
    let mut tables = BTreeMap::<String, Vec<String>>::new();
    for row in client.query(SECURITY, &[&schema]).await.expect("reads") {
        // A policy that asks another table names it with its schema, where that is not the current one.
        let said = row.get::<_, String>(1).replace(&format!("{schema}."), "");
        tables.entry(row.get(0)).or_default().push(said);
    }
    tables.remove("schema_migrations");
    tables
}

/// What the view of whole rows shows, whose it is, how it is kept, and who may read it.
async fn view(client: &Client, schema: &str) -> String {
    let sql = "SELECT concat_ws(' ', pg_get_viewdef(oid), relowner::regrole, reloptions, relacl) \
         FROM pg_class WHERE oid = to_regclass('security_whole_rows')";
    let path = format!("SET search_path = {schema}");
    client.batch_execute(&path).await.expect("sets");
    client.query_one(sql, &[]).await.expect("reads").get(0)
}

#[test]
fn the_policies_of_postgresql_are_those_of_the_program() {
    crate::stores::run(Place::postgres(), |place| async move {
        drop(place.open().await);
        let (client, connection) = tokio_postgres::connect(&place.url, NoTls)
            .await
            .expect("connects");
        tokio::spawn(connection);
        let tables = client.query(TABLES, &[&"main"]).await.expect("reads");
        let tables: Vec<String> = tables.iter().map(|table| table.get(0)).collect();
        let mut known: Vec<&str> = postgres_policies().iter().map(|(name, _)| *name).collect();
        known.sort_unstable();
        assert_eq!(tables, known, "each table has a policy");
        let copies = tables.iter().map(|table| {
            format!("CREATE TABLE copy.{table} (LIKE main.{table} INCLUDING DEFAULTS);")
        });
        let copies: String = copies.collect();
        let policies = postgres_policies()
            .into_iter()
            .map(|(_, policies)| policies);
        let policies: String = policies.collect();
        let copy = format!("CREATE SCHEMA copy; {copies} SET search_path = copy; {policies}");
        client.batch_execute(&copy).await.expect("is secured alike");
        let made = security(&client, "main").await;
        let meant = security(&client, "copy").await;
        assert_eq!(made.len(), tables.len());
        for (table, made) in &made {
            assert_eq!(Some(made), meant.get(table), "{table}");
        }
        let secured = made;
        let (made, meant) = (view(&client, "main").await, view(&client, "copy").await);
        assert_eq!(made, meant);
        // A policy that a migration changes alone is noticed.
        let other = "ALTER POLICY request ON main.rails USING (true)";
        client.batch_execute(other).await.expect(other);
        assert_ne!(security(&client, "main").await, secured);
    });
}

/// A table that a migration forgets to close is found here; SQLite has its own such test.
#[test]
fn every_table_of_postgresql_forces_row_level_security() {
    crate::stores::run(Place::postgres(), |place| async move {
        drop(place.open().await);
        let connected = tokio_postgres::connect(&place.url, tokio_postgres::NoTls).await;
        let (client, connection) = connected.expect("connects");
        tokio::spawn(connection);
        let tables = "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, \
             pg_get_userbyid(c.relowner) LIKE 'tplkit%' \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = 'main' AND c.relkind = 'r' AND c.relname <> 'schema_migrations'";
        let tables = client.query(tables, &[]).await.expect("reads");
        assert!(tables.len() >= 7, "{}", tables.len());
        for table in tables {
            let name: String = table.get(0);
            assert!(table.get::<_, bool>(1), "{name} is open");
            assert!(
                !table.get::<_, bool>(2),
                "{name} belongs to a role that requests run as"
            );
        }
    });
}
