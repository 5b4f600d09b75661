//! Pages of large records, whatever they are: they end early, and the next one begins where they ended.

use serde_json::json;

use super::client::{Client, id};
use super::model::uuid;
use super::runs::Stage;
use super::workflows::{self, PATH, path};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_page_of_versions_ends_early,
    a_page_of_notifications_ends_early,
    a_page_of_runs_ends_early,
    a_page_of_records_ends_early,
);

/// What a page may have altogether.
const MOST: usize = 8 << 20;
/// How large a record is here: two are within the bound, three are not.
const LARGE: usize = 3_000_000;

/// The ids of all pages of a list, each of which is bounded.
fn walk(client: &Client, path: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("{path}{cursor}")).expect(200);
        assert!(page.body.len() <= MOST, "{} bytes", page.body.len());
        let page = page.json();
        let items = page["items"].as_array().expect("a list");
        pages.push(items.iter().map(id).collect());
        let Some(next) = page["next_cursor"].as_str() else {
            return pages;
        };
        cursor = format!("&cursor={next}");
    }
}

async fn a_page_of_versions_ends_early(place: Place) {
    let stage = Stage::new(place).await;
    let value = "x".repeat(LARGE);
    let step = json!({"key": "var.set", "config": {"name": "x", "value": value}});
    let mut body = workflows::body(&stage.model.workspace, true);
    body["graph_config"] = workflows::graph(&json!([step]));
    let made = (0..5).map(|_| id(&stage.editor.create(PATH, &body)));
    let made: Vec<String> = made.collect();
    for filter in [
        String::new(),
        format!("workspace_id={}&", stage.model.workspace),
    ] {
        let pages = walk(&stage.editor, &format!("{PATH}?{filter}limit=200"));
        assert_eq!(pages, [&made[..2], &made[2..4], &made[4..]]);
        // As many as were asked for, where they are fewer.
        let pages = walk(&stage.editor, &format!("{PATH}?{filter}limit=1"));
        assert_eq!((pages.len(), pages.concat()), (5, made.clone()));
    }
}

async fn a_page_of_notifications_ends_early(place: Place) {
    let stage = Stage::new(place).await;
    let mut made = Vec::new();
    for _ in 0..4 {
        let (id, run) = (stage.world.context.id(), stage.world.context.id());
        let sql = "INSERT INTO main.notifications (organization_id, id, scope_type, scope_id, title, body, \
             run_id, step_id, created_at) VALUES ($1, $2, 'organization', NULL, 't', $3, $4, 's', $5)";
        let parameters = vec![
            stage.world.acme.into(),
            id.into(),
            "x".repeat(LARGE).into(),
            run.into(),
            stage.world.context.now().into(),
        ];
        stage.world.sql(sql, parameters).await;
        made.push(id.to_string());
    }
    // The newest first.
    made.reverse();
    let pages = walk(&stage.editor, "/v1/notifications?limit=200");
    assert_eq!(pages, [&made[..2], &made[2..]]);
}

async fn a_page_of_runs_ends_early(place: Place) {
    let stage = Stage::new(place).await;
    let it = stage.published(&json!({"type": "manual"}), &workflows::steps());
    let begin = |_| {
        let begun = stage
            .editor
            .post_to(&it, "/runs", &json!({"dry_run": true}));
        id(&begun.expect(202).json())
    };
    let made: Vec<String> = (0..4).map(begin).collect();
    let list = path(&it, "/runs?limit=200");
    assert_eq!(walk(&stage.editor, &list), [&made[..]]);
    let text = "x".repeat(LARGE);
    let sql = "UPDATE main.workflow_runs SET status = 'failed', error = $1, error_code = 'step_failed', \
         finished_at = $2";
    let now = stage.world.context.now();
    let parameters = vec![text.clone().into(), now.into()];
    stage.world.sql(sql, parameters).await;
    assert_eq!(walk(&stage.editor, &list), [&made[..2], &made[2..]]);
    // Their steps count as well.
    let sql = "UPDATE main.workflow_runs SET error = 'short'";
    stage.world.sql(sql, vec![]).await;
    for run in &made {
        let sql = "INSERT INTO main.workflow_steps (organization_id, workspace_id, run_id, number, path, \
             step_id, key, status, input, error, error_code) \
             VALUES ($1, $2, $3, 0, '0', 'stp_a', 'notify', 'failed', 'null', $4, 'step_failed')";
        let parameters = vec![
            stage.world.acme.into(),
            uuid(&stage.model.workspace).into(),
            uuid(run).into(),
            text.clone().into(),
        ];
        stage.world.sql(sql, parameters).await;
    }
    assert_eq!(walk(&stage.editor, &list), [&made[..2], &made[2..]]);
}

async fn a_page_of_records_ends_early(place: Place) {
    let stage = Stage::new(place).await;
    let mut made = vec![stage.model.workspace.clone()];
    for number in 0..4 {
        let body = json!({"organization_id": stage.world.acme, "label": format!("W {number}"),
            "config": {"theme": "x".repeat(LARGE)}});
        made.push(id(&stage.editor.create("/v1/workspaces", &body)));
    }
    let pages = walk(&stage.editor, "/v1/workspaces?limit=200");
    assert_eq!(pages, [&made[..3], &made[3..]]);
}
