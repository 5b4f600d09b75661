//! Tests of row security on a real SQLite connection.

use rusqlite::Connection;
use uuid::Uuid;

use super::super::connection::open;
use super::RowSecurity;
use crate::store::dialect::WHOLE_ROWS;
use crate::store::policy::TABLES;
use crate::store::{Scope, Visible, migrate};

const OURS: Uuid = Uuid::from_u128(1);
const THEIRS: Uuid = Uuid::from_u128(2);

fn secured() -> (Connection, RowSecurity) {
    let mut connection = Connection::open_in_memory().expect("opens");
    migrate::sqlite(&mut connection).expect("migrates");
    let organization =
        "INSERT INTO organizations VALUES (?1, 'o', '{}', NULL, NULL, 0, 0, NULL, 0)";
    for id in [OURS, THEIRS] {
        connection
            .execute(organization, [id.as_bytes()])
            .expect("writes");
    }
    let security = RowSecurity::build(&mut connection).expect("builds");
    (connection, security)
}

fn ours() -> Visible {
    Visible {
        organizations: vec![OURS],
        ..Visible::default()
    }
}

fn caller() -> Scope {
    Scope::from(ours())
}

#[test]
fn every_table_stands_behind_row_security() {
    let mut connection = Connection::open_in_memory().expect("opens");
    migrate::sqlite(&mut connection).expect("migrates");
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' \
         AND name <> 'schema_migrations' AND name NOT LIKE 'sqlite_%' \
         AND name NOT LIKE 'search_terms%' ORDER BY rowid";
    let mut names = connection.prepare(names).expect("prepares");
    let names = names
        .query_map([], |row| row.get::<_, String>(0))
        .expect("runs");
    let names: Vec<String> = names.map(|name| name.expect("a name")).collect();
    let mut secured: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    for name in &names {
        assert!(
            secured.contains(&name.as_str()),
            "{name} has no row security"
        );
    }
    secured.retain(|name| !names.iter().any(|known| known == name));
    assert_eq!(secured, [""; 0], "row security of no table");
}

/// What counts rows by a slot and sees them all reads nothing but the index of the slot.
#[test]
fn a_view_of_whole_rows_needs_no_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.db");
    migrate::sqlite(&mut open(&file).expect("opens")).expect("migrates");
    // Anew: that is when SQLite reads what the migration says of the indexes.
    let mut connection = open(&file).expect("opens");
    let security = RowSecurity::build(&mut connection).expect("builds");
    security.enter(Some(caller()));
    let plan = |view: &str| {
        let sql = format!(
            "EXPLAIN QUERY PLAN SELECT count(*) FROM {view} \
             WHERE organization_id = ?1 AND feature_id = ?2 AND s1 = ?3"
        );
        let mut statement = connection.prepare(&sql).expect("prepares");
        let lines = statement.query_map(("o", "f", "x"), |row| row.get::<_, String>("detail"));
        let lines: Result<Vec<String>, _> = lines.expect("runs").collect();
        lines.expect("a plan").join("; ")
    };
    let (whole, narrowed) = (plan(WHOLE_ROWS), plan("rows"));
    assert!(whole.contains("USING COVERING INDEX rows_s1"), "{whole}");
    assert!(narrowed.contains("USING INDEX rows_s1"), "{narrowed}");
}

#[test]
fn what_goes_round_the_views_is_refused() {
    let (connection, security) = secured();
    security.enter(Some(Scope::Operator));
    for sql in [
        "SELECT label FROM main.organizations",
        "SELECT count(*) FROM main.organizations",
        "SELECT (SELECT label FROM main.organizations)",
        "WITH all_of AS (SELECT label FROM main.organizations) SELECT label FROM all_of",
        "SELECT sql FROM sqlite_schema",
        "SELECT number FROM schema_migrations",
        "UPDATE main.organizations SET label = 'x'",
        "DELETE FROM main.organizations",
        "INSERT INTO main.schema_migrations VALUES (99, 'x', '')",
        "DROP VIEW temp.organizations",
        "DROP TRIGGER temp.security_update_organizations",
        "CREATE TEMP VIEW other AS SELECT label FROM main.organizations",
        "CREATE TABLE other (a)",
        "ALTER TABLE main.organizations RENAME TO other",
        "ATTACH ':memory:' AS other",
        "PRAGMA foreign_keys = OFF",
        "VACUUM",
    ] {
        let refused = connection
            .prepare(sql)
            .and_then(|mut s| s.raw_query().next().map(drop));
        assert!(refused.is_err(), "{sql}");
    }
    let seen = connection.query_row("SELECT count(*) FROM organizations", [], |row| {
        row.get::<_, i64>(0)
    });
    assert_eq!(seen, Ok(2));
}

/// The parts of the full-text index are read and written by the index alone.
#[test]
fn the_full_text_index_shows_what_row_search_shows() {
    let (connection, security) = secured();
    let run = |writes, sql: &str| {
        security.set_scope(writes);
        let prepared = connection.prepare(sql);
        security.begin();
        prepared.and_then(|mut prepared| {
            let mut rows = prepared.raw_query();
            let mut count = 0;
            while rows.next()?.is_some() {
                count += 1;
            }
            Ok(count)
        })
    };
    security.enter(Some(Scope::Operator));
    let known =
        "INSERT INTO main.row_search (organization_id, workspace_id, feature_id, row_id, digest)";
    for id in [OURS, THEIRS] {
        let id = id.simple();
        let line = format!("{known} VALUES (x'{id}', x'{id}', x'{id}', x'{id}', 0)");
        assert_eq!(run(Some("row_search"), &line), Ok(0));
    }
    let write = "INSERT OR REPLACE INTO main.search_terms (rowid, terms) SELECT number, 'a b' FROM row_search";
    let read = "SELECT rowid FROM search_terms WHERE search_terms MATCH 'a AND b'";
    security.enter(Some(caller()));
    connection.execute_batch("BEGIN").expect("begins");
    assert_eq!(run(Some("search_terms"), write), Ok(0));
    connection.execute_batch("COMMIT").expect("commits");
    // Of the one row that is seen, and again.
    for (scope, seen) in [(caller(), 1), (Scope::Operator, 1)] {
        security.enter(Some(scope));
        assert_eq!(run(None, read), Ok(seen));
    }
    assert_eq!(run(Some("search_terms"), write), Ok(0));
    for (scope, seen) in [(Some(Scope::Operator), 2), (Some(caller()), 1), (None, 0)] {
        security.enter(scope);
        assert_eq!(run(None, read), Ok(seen));
    }
    security.enter(Some(caller()));
    for (writes, sql) in [
        (
            None,
            "SELECT rowid FROM main.search_terms WHERE search_terms MATCH 'a'",
        ),
        (None, "SELECT block FROM search_terms_data"),
        (None, "SELECT id FROM main.search_terms_docsize"),
        (None, "DELETE FROM main.search_terms"),
        (Some("row_search"), "DELETE FROM main.search_terms"),
        (Some("search_terms"), "DELETE FROM main.search_terms_data"),
        (
            Some("search_terms"),
            "INSERT INTO main.search_terms_docsize VALUES (9, x'00', 1)",
        ),
    ] {
        assert!(run(writes, sql).is_err(), "{sql}");
    }
    let gone = "DELETE FROM main.search_terms WHERE rowid IN (SELECT number FROM row_search)";
    assert_eq!(run(Some("search_terms"), gone), Ok(0));
    security.enter(Some(Scope::Operator));
    assert_eq!(run(None, read), Ok(1));
}

/// A migration by another process makes SQLite read the schema anew, and the index what it knows of itself.
#[test]
fn the_full_text_index_is_read_when_the_schema_has_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.db");
    migrate::sqlite(&mut open(&file).expect("opens")).expect("migrates");
    let mut connection = open(&file).expect("opens");
    let security = RowSecurity::build(&mut connection).expect("builds");
    security.enter(Some(Scope::Operator));
    let count = || {
        security.set_scope(None);
        let sql = "SELECT count(*) FROM search_terms WHERE search_terms MATCH 'a'";
        let prepared = connection.prepare(sql);
        security.begin();
        prepared.and_then(|mut prepared| prepared.query_row([], |row| row.get::<_, i64>(0)))
    };
    assert_eq!(count(), Ok(0));
    let other = open(&file).expect("opens");
    other.execute_batch("CREATE TABLE later (a)").expect("runs");
    assert_eq!(count(), Ok(0));
}

#[test]
fn nobody_sees_nothing() {
    let (connection, security) = secured();
    let count = |scope| {
        security.enter(scope);
        let count = "SELECT count(*) FROM organizations";
        connection.query_row(count, [], |row| row.get::<_, i64>(0))
    };
    assert_eq!(count(None), Ok(0));
    assert_eq!(count(Some(Scope::Authentication)), Ok(0));
    assert_eq!(count(Some(caller())), Ok(1));
    assert_eq!(count(Some(Scope::Operator)), Ok(2));
}

#[test]
fn upsert_returning_and_changes_work_and_pass_by_what_is_hidden() {
    let (connection, security) = secured();
    security.enter(Some(caller()));
    security.set_scope(Some("organizations"));
    let upsert = "INSERT INTO main.organizations VALUES (?1, 'new', '{}', NULL, NULL, 0, 0, NULL, 0) \
         ON CONFLICT (id) DO UPDATE SET label = excluded.label RETURNING label";
    let upsert =
        |id: Uuid| connection.query_row(upsert, [id.as_bytes()], |row| row.get::<_, String>(0));
    assert_eq!(upsert(OURS), Ok("new".to_owned()));
    assert!(upsert(THEIRS).is_err(), "what is hidden was written");
    let all = "UPDATE main.organizations SET label = 'all'";
    assert_eq!(connection.execute(all, []), Ok(1));
    assert_eq!(
        connection.execute("DELETE FROM main.organizations", []),
        Ok(1)
    );
    security.enter(Some(Scope::Operator));
    let left = connection.query_row("SELECT label FROM organizations", [], |row| {
        row.get::<_, String>(0)
    });
    assert_eq!(left, Ok("o".to_owned()));
}

/// Where a statement names the organization, its rows are not asked one by one.
#[test]
fn who_sees_every_row_is_asked_once() {
    let (connection, _) = secured();
    let sql = "EXPLAIN SELECT count(*) FROM rows WHERE organization_id = ?1 AND feature_id = ?2";
    let mut plan = connection.prepare(sql).expect("prepares");
    let steps: Vec<(String, Option<String>)> = plan
        .query_map([rusqlite::types::Null, rusqlite::types::Null], |row| {
            Ok((row.get(1)?, row.get(5).ok()))
        })
        .and_then(Iterator::collect)
        .expect("runs");
    let whole = |(_, what): &(String, Option<String>)| {
        what.as_deref() == Some("security_sole_organization(0)")
    };
    let at = steps.iter().position(whole).expect("is asked");
    assert_eq!(steps[at - 1].0, "Once", "{steps:?}");
}

const ROWS: &str = "INSERT INTO main.rows (organization_id, workspace_id, feature_id, id, created_by, \
     created_at, updated_at, data) VALUES";

/// Both organizations get a table, and the operator is who runs what follows.
fn tables_of_rows(connection: &Connection, security: &RowSecurity) {
    let workspace =
        "INSERT INTO main.workspaces VALUES (?1, ?1, 'w', 'w', 'organization', '{}', NULL, 0, 0)";
    let feature = "INSERT INTO main.features VALUES (?1, ?1, ?1, 'f', 'f', '{}', 0, 0, 1, 0, 0)";
    security.enter(Some(Scope::Operator));
    for (table, sql) in [("workspaces", workspace), ("features", feature)] {
        security.set_scope(Some(table));
        for id in [OURS, THEIRS] {
            connection.execute(sql, [id.as_bytes()]).expect("writes");
        }
    }
}

#[test]
fn one_row_outside_the_scope_undoes_all_of_its_insert() {
    let (connection, security) = secured();
    tables_of_rows(&connection, &security);
    security.set_scope(Some("rows"));
    let guarded = Scope::from(Visible {
        guarded: vec![OURS],
        caller: OURS,
        ..ours()
    });
    let ids = [OURS.as_bytes(), THEIRS.as_bytes()];
    let good = "(?1, ?1, ?1, randomblob(16), ?1, 0, 0, '{}')";
    // Of another organization, and of another creator.
    for (scope, bad) in [
        (caller(), "(?2, ?2, ?2, randomblob(16), ?1, 0, 0, '{}')"),
        (guarded, "(?1, ?1, ?1, randomblob(16), ?2, 0, 0, '{}')"),
    ] {
        security.enter(Some(scope.clone()));
        connection.execute_batch("BEGIN").expect("begins");
        let fine = format!("{ROWS} {good}, {good} RETURNING ?2");
        let fine = connection.query_row(&fine, ids, |_| Ok(()));
        assert_eq!(fine, Ok(()), "{scope:?}");
        for lines in [
            bad.to_owned(),
            format!("{good}, {good}, {bad}"),
            format!("{good}, {bad}, {good}"),
        ] {
            let refused = connection.execute(&format!("{ROWS} {lines}"), ids);
            let refused = refused.expect_err(&lines);
            assert!(
                refused.to_string().contains("outside the scope"),
                "{refused}"
            );
        }
        connection.execute_batch("COMMIT").expect("commits");
        security.enter(Some(Scope::Operator));
        let kept = connection.query_row("SELECT count(*) FROM rows", [], |row| row.get(0));
        assert_eq!(kept, Ok(2), "{scope:?}");
        connection
            .execute("DELETE FROM main.rows", [])
            .expect("deletes");
    }
}

#[test]
fn what_is_remembered_of_a_statement_ends_with_it() {
    let (connection, security) = secured();
    tables_of_rows(&connection, &security);
    security.set_scope(Some("rows"));
    let row = format!("{ROWS} (?1, ?1, ?1, ?1, ?1, 0, 0, '{{}}')");
    for id in [OURS, THEIRS] {
        connection.execute(&row, [id.as_bytes()]).expect("writes");
    }
    security.set_scope(None);
    let sql = "SELECT count(*) FROM rows WHERE organization_id = ?1";
    let mut count = connection.prepare(sql).expect("prepares");
    let mut seen = |scope, id: Uuid| {
        security.enter(scope);
        count.query_row([id.as_bytes()], |row| row.get::<_, i64>(0))
    };
    let change = "UPDATE main.rows SET updated_at = 1 WHERE organization_id = ?1";
    let changed = |id: Uuid| {
        security.set_scope(Some("rows"));
        let changed = connection.execute(change, [id.as_bytes()]);
        security.set_scope(None);
        changed
    };
    let theirs = Scope::from(Visible {
        organizations: vec![THEIRS],
        ..Visible::default()
    });
    let (one, other) = (
        Scope::from(Visible {
            hidden: vec![OURS],
            ..ours()
        }),
        Scope::from(Visible {
            guarded: vec![OURS],
            ..ours()
        }),
    );
    for (scope, both) in [
        (Some(caller()), [1, 0]),
        (Some(theirs), [0, 1]),
        (None, [0, 0]),
        (Some(Scope::Authentication), [0, 0]),
        (Some(one), [0, 0]),
        (Some(other), [0, 0]),
        (Some(Scope::Operator), [1, 1]),
        (Some(caller()), [1, 0]),
    ] {
        for (id, rows) in [OURS, THEIRS].into_iter().zip(both) {
            assert_eq!(seen(scope.clone(), id), Ok(rows), "{scope:?} {id}");
            assert_eq!(
                changed(id),
                Ok(usize::try_from(rows).expect("a count")),
                "{scope:?} {id}"
            );
        }
    }
}

/// Row security must cost a call per row that the predicate lets through, not a scan.
#[test]
fn indexes_are_used_through_the_views() {
    let (mut connection, _) = secured();
    rusqlite::vtab::array::load_module(&connection).expect("loads");
    connection
        .authorizer(None::<fn(super::AuthContext<'_>) -> super::Authorization>)
        .expect("opens up");
    let plan = "EXPLAIN QUERY PLAN SELECT label FROM workspaces \
         WHERE organization_id IN rarray(?1) AND id = ?2";
    let mut plan = connection.prepare(plan).expect("prepares");
    let lines = plan.query_map([rusqlite::types::Null, rusqlite::types::Null], |row| {
        row.get::<_, String>(3)
    });
    let lines: Vec<String> = lines
        .expect("runs")
        .map(|line| line.expect("text"))
        .collect();
    let search = "USING PRIMARY KEY (organization_id=? AND id=?)";
    assert!(
        lines[0].starts_with("SEARCH") && lines[0].ends_with(search),
        "{lines:?}"
    );
}
