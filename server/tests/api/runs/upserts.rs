//! Upserts of many runs at once, and of runs and people: a value has one row, and no run fails.

use serde_json::{Value, json};

use super::neighbours::{Worker, until};
use super::{Stage, ended, path, write};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_value_that_many_runs_look_for_has_one_row,
    a_row_that_a_person_adds_meanwhile_is_found,
    an_amount_is_found_as_it_is_stored,
);

/// An automation that writes what is created in the table of the stage into another one, where one column finds the row.
async fn upserts(stage: &Stage, out: &str, column: &str) -> String {
    let bindings = [
        (column, json!("{{record.status}}")),
        ("n", json!("{{record.n}}")),
    ];
    let mut step = write("upsert", out, &bindings);
    step["config"]["matchColumn"] = json!(column);
    let created = Stage::on(&stage.model.feature, &["created"], &[]);
    stage.fires(&created, &json!([step])).await
}

/// A table with the unique column `mail`.
fn table_of_mails(stage: &Stage) -> String {
    let out = stage.table();
    let mail = json!({"label": "mail", "type": "text", "config": {"unique": true}});
    let columns = format!("/v1/features/{out}/columns");
    stage.editor.create(&columns, &mail);
    out
}

/// Adds so many rows with so many different texts, of which each starts runs.
fn add(stage: &Stage, rows: usize, texts: usize) {
    let row = |n: usize| json!({"data": {"status": format!("v{}", n % texts), "n": n}});
    let rows: Vec<Value> = (0..rows).map(row).collect();
    let batch = format!("{}:batch", Stage::rows(&stage.model.feature));
    stage
        .editor
        .post(&batch, &json!({"rows": rows}))
        .expect(201);
}

/// Waits for so many runs of an automation, all of which have to succeed.
async fn succeeded(stage: &Stage, it: &str, runs: usize) {
    let listed = || stage.editor.items(&path(it, "/runs?limit=200"));
    until("their end", || {
        let over = |run: &&Value| run["finished_at"].is_string();
        listed().iter().filter(over).count() == runs
    })
    .await;
    for run in listed() {
        assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    }
}

/// What rows of a table have in a column, sorted.
fn cells(stage: &Stage, table: &str, column: &str) -> Vec<String> {
    let rows = stage.all(table);
    let cells = rows.iter().filter_map(|row| row[column].as_str());
    let mut cells: Vec<String> = cells.map(str::to_owned).collect();
    cells.sort_unstable();
    cells
}

async fn a_value_that_many_runs_look_for_has_one_row(place: Place) {
    let stage = Stage::new(place).await;
    let out = table_of_mails(&stage);
    let plain = upserts(&stage, &out, "status").await;
    let unique = upserts(&stage, &out, "mail").await;
    add(&stage, 100, 5);
    let worker = Worker::start(stage.executor());
    for it in [&plain, &unique] {
        succeeded(&stage, it, 100).await;
    }
    worker.stop().await;
    for column in ["status", "mail"] {
        let found = cells(&stage, &out, column);
        assert_eq!(found, ["v0", "v1", "v2", "v3", "v4"], "{column}");
    }
}

async fn a_row_that_a_person_adds_meanwhile_is_found(place: Place) {
    let stage = Stage::new(place).await;
    let out = table_of_mails(&stage);
    let it = upserts(&stage, &out, "mail").await;
    add(&stage, 60, 60);
    let worker = Worker::start(stage.executor());
    for n in 0..60 {
        // Whoever comes first adds it.
        let row = json!({"data": {"mail": format!("v{n}")}});
        let status = stage.editor.post(&Stage::rows(&out), &row).status;
        assert!([201, 409].contains(&status), "{status}");
    }
    succeeded(&stage, &it, 60).await;
    worker.stop().await;
    let mut found = cells(&stage, &out, "mail");
    found.dedup();
    assert_eq!((found.len(), stage.all(&out).len()), (60, 60));
    let is_changed = |row: &Value| row["n"].is_number();
    assert!(stage.all(&out).iter().all(is_changed));
}

async fn an_amount_is_found_as_it_is_stored(place: Place) {
    let stage = Stage::new(place).await;
    for config in [json!({}), json!({"unique": true, "decimals": 0})] {
        let out = stage.table();
        let columns = format!("/v1/features/{out}/columns");
        let amount = json!({"label": "amount", "type": "currency", "config": config});
        stage.editor.create(&columns, &amount);
        let mut stored = json!(null);
        for mode in ["upsert", "upsert", "update"] {
            let cells = [("amount", json!(10.505)), ("note", json!("{{sys.now}}"))];
            let mut step = write(mode, &out, &cells);
            step["config"]["matchColumn"] = json!("amount");
            let it = stage
                .fires(&json!({"type": "manual"}), &json!([step]))
                .await;
            stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
            stage.world.wait(1);
            stage.run_due().await;
            let run = stage.run(&it);
            assert_eq!(ended(&run), ("succeeded", ""), "{mode} {config}: {run}");
            let rows = stage.all(&out);
            assert_eq!(rows.len(), 1, "{mode} {config}");
            assert_ne!(rows[0], stored, "{mode} {config}");
            stored = rows[0].clone();
        }
    }
}
