//! Automations that a template brings: they fire once all rows are in, and not before.

use serde_json::json;
use tplkit_server::automation::{RunExecutor, Settings};

use super::shop;
use crate::api::workflows::{PATH, path, workflow};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(what_fired_at_the_source_fires_here_and_rows_of_the_job_fire_nothing);

async fn what_fired_at_the_source_fires_here_and_rows_of_the_job_fire_nothing(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let source = shop::workspace(&owner, world.acme);
    let (from, to) = (
        shop::feature(&owner, &source, "From"),
        shop::feature(&owner, &source, "To"),
    );
    for table in [&from, &to] {
        shop::column(&owner, table, &json!({"label": "note", "type": "text"}));
    }
    for note in ["a", "b"] {
        shop::row(&owner, &from, &json!({"note": note}));
    }
    let body = json!({
        "workspace_id": source, "name": "copies", "is_draft": false,
        "trigger_config": {"type": "record.event", "config": {"modes": ["created"], "featureId": from}},
        "graph_config": {"steps": [{"key": "feature.write", "config": {"mode": "insert", "targetFeatureId": to,
            "bindings": [{"targetColumn": "note", "value": "{{record.note}}"}]}}]},
    });
    let it = workflow(&owner.create(PATH, &body));
    assert!(world.switch(&it, true).await);
    let shop = shop::Shop {
        workspace: source,
        clients: from.clone(),
        orders: to.clone(),
    };
    let template = shop.template(&owner, &owner, &json!({"rows": "all"}));
    let _working = shop::working(&world);
    let fresh = shop::workspace(&owner, world.acme);
    let job = shop::applied(&owner, &template, &json!({"workspaceId": fresh})).await;
    assert_eq!(job["report"]["published"], 1, "{job}");
    let active = owner.items(&format!("{PATH}?workspace_id={fresh}&active=true"));
    assert_eq!(active.len(), 1);
    let brought = workflow(&active[0]);
    let executor = RunExecutor::new(
        &world.store,
        &world.context,
        &world.app.tables,
        &world.app.runs,
        Settings::default(),
    );
    assert_eq!(executor.run_due().await.expect("runs"), 0);
    let (from, to) = (
        shop::named(&owner, &fresh, "from").expect("a table"),
        shop::named(&owner, &fresh, "to").expect("a table"),
    );
    assert_eq!(shop::rows(&owner, &from).len(), 2);
    shop::row(&owner, &from, &json!({"note": "c"}));
    assert_eq!(executor.run_due().await.expect("runs"), 1);
    assert_eq!(shop::rows(&owner, &to), [json!({"note": "c"})]);
    assert_eq!(owner.items(&path(&brought, "/runs")).len(), 1);
    assert_eq!(owner.items(&path(&it, "/runs")).len(), 0);
}
