//! Events that wait, on a PostgreSQL that has never looked at its tables, and on one that has looked when all
//! runs waited: what is read for each stays the same however many wait.

use std::fs;

use serde_json::json;

use super::Stage;
use crate::api::rows::query::plans::meter;
use crate::cluster::Cluster;
use crate::stores::run;

const EVENTS: u64 = 600;
/// How many rows may be looked at for an event: claimed, held, ended, each found by its key.
const FEW: u64 = 20;

#[test]
fn a_backlog_is_worked_off_without_going_through_it() {
    let Some((cluster, place)) = meter::postgres_with_plans() else {
        return;
    };
    run(Some(place), |place| async {
        let stage = Stage::new(place).await;
        // Whoever has worked already has planned while the tables were empty.
        let to = stage.table();
        let feature = stage.model.feature.clone();
        let steps = json!([{"key": "feature.write", "config": {"mode": "insert", "targetFeatureId": to,
            "bindings": [{"targetColumn": "note", "value": "{{record.note}}"}]}}]);
        stage
            .fires(&Stage::on(&feature, &["created"], &[]), &steps)
            .await;
        stage.row(&feature, &json!({"note": "first"}));
        assert_eq!(stage.run_due().await, 1);
        // Nobody looks at the tables meanwhile.
        for table in ["workflow_events", "workflow_runs", "workflow_steps"] {
            let quiet = format!("ALTER TABLE main.{table} SET (autovacuum_enabled = off)");
            cluster.psql(&quiet).expect("sets");
        }
        fire(&stage, &feature);
        worked_off(&stage, &cluster, "nobody has looked").await;
        fire(&stage, &feature);
        stage.executor().take_events().await.expect("makes runs");
        cluster
            .psql("ANALYZE main.workflow_runs")
            .expect("looks at it");
        worked_off(&stage, &cluster, "when all runs waited").await;
    });
}

/// Writes the rows that make the events.
fn fire(stage: &Stage, feature: &str) {
    let rows = (0..EVENTS / 2).map(|n| json!({"data": {"note": n.to_string()}}));
    let body = json!({"rows": rows.collect::<Vec<_>>()});
    for _ in 0..2 {
        let path = format!("{}:batch", Stage::rows(feature));
        stage.editor.create(&path, &body);
    }
}

/// Executes the runs of all events, and looks at what was read for them.
async fn worked_off(stage: &Stage, cluster: &Cluster, looked: &str) {
    let log = cluster.folder().join("log");
    let before = fs::read_to_string(&log).expect("a log").len();
    assert_eq!(stage.run_due().await as u64, EVENTS);
    let log = fs::read_to_string(&log).expect("a log");
    for table in ["workflow_events", "workflow_runs", "workflow_steps"] {
        let read = meter::rows_read(&log[before..], table);
        assert!(
            read >= EVENTS || table != "workflow_runs",
            "{looked}, {table}: {read} rows"
        );
        assert!(
            read <= EVENTS * FEW,
            "{looked}, {table}: {read} rows for {EVENTS} events"
        );
    }
}
