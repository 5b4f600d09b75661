//! What stands against an operation at the moment: 409.

use serde_json::{Value, json};
use tplkit_server::call::operation::Operation;

use super::stage::{Stage, send};
use crate::api::client::Response;
use crate::api::document::{Ids, JSON, Request};
use crate::api::model::{id, uuid};

/// The conflict of an operation that has any.
pub(super) async fn of(stage: &Stage, operation: &Operation) -> Option<Response> {
    if !operation.all_statuses().contains(&409) {
        return None;
    }
    let ids = stage.ids().await;
    Some(if operation.repeatable() {
        still_running(stage, operation, &ids).await
    } else {
        let (request, code) = in_the_way(stage, operation, &ids).await;
        send(&stage.owner, operation.method, &request, &[]).refused(409, code)
    })
}

/// The first request with the same `Idempotency-Key` was begun and has no response.
async fn still_running(stage: &Stage, operation: &Operation, ids: &Ids) -> Response {
    if operation.path.ends_with("/versions") {
        stage.fires(ids).await;
    }
    let request = stage.request(operation, ids).await;
    let key = format!("key of {operation:?}").replace(' ', "-");
    let headers = [("idempotency-key", &*key)];
    let first = send(&stage.owner, operation.method, &request, &headers);
    assert!(first.status < 300, "{operation:?} {first:?}");
    let again = || send(&stage.owner, operation.method, &request, &headers);
    let replayed = again();
    assert_eq!(replayed.header("idempotency-replayed"), Some("true"));
    assert_eq!(
        (replayed.status, &replayed.body),
        (first.status, &first.body)
    );
    stage.forget_response(&key).await;
    again().refused(409, "idempotency_in_progress")
}

/// A request that something is in the way of, and the code that says so.
async fn in_the_way(stage: &Stage, operation: &Operation, ids: &Ids) -> (Request, &'static str) {
    let mut ids = ids.clone();
    let name = json!({"name": "taken"});
    let taken = |path: &str, parent: &str, more: Value| {
        let mut body = json!({parent: ids[parent], "label": "x", "name": "taken"});
        if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
            body.extend(more);
        }
        stage.owner.create(path, &body);
    };
    let mut change = None;
    let code = match (operation.method, operation.path) {
        (_, "/v1/organizations/{organization_id}/members/{user_id}") => {
            let me = id(&stage.owner.get("/v1/me").expect(200).json());
            ids.insert("user_id", me);
            change = Some(json!({"role": "viewer"}));
            "conflict"
        }
        ("PATCH", "/v1/features/{feature_id}/rows/{row_id}") => {
            let column = json!({"label": "u", "type": "text", "config": {"unique": true}});
            let feature = format!("/v1/features/{}", ids["feature_id"]);
            stage.owner.create(&format!("{feature}/columns"), &column);
            let row = json!({"data": {"u": "x"}});
            stage.owner.create(&format!("{feature}/rows"), &row);
            change = Some(row);
            "unique_violation"
        }
        ("PATCH", "/v1/connections/{connection_id}") => {
            let taken = json!({"organization_id": ids["organization_id"], "name": "taken",
                "kind": "http", "url": "https://partner.example"});
            stage.owner.create("/v1/connections", &taken);
            change = Some(name);
            "conflict"
        }
        ("PATCH", "/v1/workspaces/{workspace_id}") => {
            taken("/v1/workspaces", "organization_id", json!({}));
            change = Some(name);
            "conflict"
        }
        ("PATCH", "/v1/modules/{module_id}") => {
            taken("/v1/modules", "workspace_id", json!({}));
            change = Some(name);
            "conflict"
        }
        ("PATCH", "/v1/rails/{rail_id}") => {
            taken("/v1/rails", "module_id", json!({}));
            change = Some(name);
            "conflict"
        }
        ("PATCH", "/v1/features/{feature_id}") => {
            taken("/v1/features", "workspace_id", json!({}));
            change = Some(name);
            "conflict"
        }
        ("PATCH", "/v1/views/{view_id}") => {
            taken("/v1/views", "feature_id", json!({"type": "table"}));
            change = Some(name);
            "conflict"
        }
        ("PATCH", "/v1/features/{feature_id}/columns/{column_id}") => {
            with_cells(stage, &ids);
            change = Some(json!({"config": {"unique": true}}));
            "unique_violation"
        }
        ("DELETE", "/v1/features/{feature_id}/columns/{column_id}") => {
            with_cells(stage, &ids);
            "not_empty"
        }
        ("DELETE", "/v1/workflows-v2/{workflow_id}") => {
            stage.fires(&ids).await;
            "conflict"
        }
        ("GET", "/v1/workspaces/{workspace_id}/templates/{template_id}/drift") => {
            let sql = "UPDATE main.template_jobs SET status = 'failed' WHERE id = $1";
            let job = uuid(&ids["job_id"]).into();
            stage.world.sql(sql, vec![job]).await;
            let mut request = stage.request(operation, &ids).await;
            request.path.extend(["?job=", &ids["job_id"]]);
            return (request, "conflict");
        }
        ("DELETE", "/v1/templates/{template_id}") => {
            let mut request = stage.request(operation, &ids).await;
            request.path.push_str("?unused=true");
            return (request, "not_empty");
        }
        // The row uses the file. Everything that holds something holds something here.
        ("DELETE", _) => "not_empty",
        _ => panic!("{operation:?}: teach this test what is in its way"),
    };
    let mut request = stage.request(operation, &ids).await;
    if let Some(change) = change.filter(|_| operation.has_body()) {
        request.body = Some((JSON, change.to_string()));
    }
    (request, code)
}

/// Two rows with the same cell in the column.
fn with_cells(stage: &Stage, ids: &Ids) {
    let rows = format!("/v1/features/{}/rows", ids["feature_id"]);
    for _ in 0..2 {
        stage.owner.create(&rows, &json!({"data": {"c": "same"}}));
    }
}
