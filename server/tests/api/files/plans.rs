//! Files on a PostgreSQL that has never looked at its tables: what is read for one of them stays the same however many an
//! organization has.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{bytes_of, made, of};
use crate::api::model::{Model, id};
use crate::api::rows::query::plans::meter;
use crate::api::world::World;
use crate::stores::run;

const FILES: u64 = 150;
/// How many rows of a table may be looked at for a file: the one, and what leads to it.
const FEW: u64 = 8;

#[test]
fn one_of_many_is_found_without_going_through_them() {
    let Some((cluster, place)) = meter::postgres_with_plans() else {
        return;
    };
    run(Some(place), |place| async {
        let world = World::new(place).await;
        for table in ["file_objects", "files", "file_uses"] {
            let quiet = format!("ALTER TABLE main.{table} SET (autovacuum_enabled = off)");
            cluster.psql(&quiet).expect("sets");
        }
        let owner = world.as_user("owner@acme.test");
        let editor = world.as_user("editor@acme.test");
        let model = Model::new(&owner, world.acme);
        let photo = json!({"label": "photo", "type": "file"});
        owner.create(&format!("/v1/features/{}/columns", model.feature), &photo);
        let rows = format!("/v1/features/{}/rows", model.feature);
        let log = cluster.folder().join("log");
        let length = || fs::read_to_string(&log).expect("a log").len();
        let make = |number: u64| {
            let name = format!("f{number}");
            let file = made(&owner, &model.workspace, &name, name.as_bytes());
            let row = owner.create(&rows, &json!({"data": {"photo": id(&file)}}));
            (file, format!("{rows}/{}", id(&row)))
        };
        // Each connection has planned for files while there were none.
        let (first, _) = make(0);
        editor.get(&of(&first)).expect(200);
        let before = length();
        let (files, of_rows): (Vec<_>, Vec<_>) = (1..FILES).map(make).unzip();
        read_few(&log, before, &["file_objects", "files"]);
        // The one uploaded them, the other sees the rows that use them.
        for client in [&owner, &editor] {
            let before = length();
            for file in &files {
                client.get(&bytes_of(file)).expect(200);
            }
            read_few(&log, before, &["files", "file_uses"]);
        }
        // With a row end its uses. They are found among those of its table until PostgreSQL has looked at them.
        let before = length();
        for row in &of_rows {
            owner.delete(row).expect(204);
        }
        read_few(&log, before, &["files"]);
    });
}

/// Looks at what was read of each table since then.
fn read_few(log: &Path, before: usize, tables: &[&str]) {
    let log = fs::read_to_string(log).expect("a log");
    for table in tables {
        let read = meter::rows_read(&log[before..], table);
        assert!(
            read <= FILES * FEW,
            "{table}: {read} rows for {FILES} files: {:#?}",
            meter::statements_that_read(&log[before..], table, FEW)
        );
    }
    assert!(
        meter::rows_read(&log[before..], "files") >= FILES - 1,
        "plans are logged"
    );
}
