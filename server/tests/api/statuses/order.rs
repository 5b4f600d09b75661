//! The order in which refusals are reported: the response to a request with every fault names the first, and
//! with each fault that is fixed the next.

use tplkit_server::api::operations::OPERATIONS;
use tplkit_server::auth::{KeyScope, Role};
use tplkit_server::call::operation::{Access, Operation};

use super::stage::{MOST, Stage, send};
use crate::api::client::Client;
use crate::api::document::{Ids, JSON, Request};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    the_first_of_many_faults_is_reported,
    what_is_missing_comes_before_what_is_wrong,
);

const CODED: [(&str, &str); 1] = [("content-encoding", "gzip")];

async fn the_first_of_many_faults_is_reported(place: Place) {
    let stage = Stage::new(place).await;
    let viewer = stage.world.as_user("viewer@acme.test");
    let stranger = stage.world.as_user("stranger@other.test");
    let guarded = OPERATIONS
        .iter()
        .filter(|operation| operation.access != Access::Public);
    for operation in guarded {
        let ask = |client: &Client, ids: &Ids, media_type, body: &str| {
            let request = faulty(&stage, operation, ids, media_type, body);
            // A file may be of any type, and yet of no coding.
            let coded = operation.takes_file() && media_type == "text/plain";
            let coded = if coded { &CODED[..] } else { &[] };
            send(client, operation.method, &request, coded)
        };
        let large = "{".repeat(MOST + 1);
        let (here, missing) = (&stage.here, &stage.missing);
        let refusal = ask(&stage.world.nobody, missing, "text/plain", &large);
        refusal.refused(401, "unauthenticated");
        let (code, key) = match operation.access {
            Access::Users => ("forbidden", &stage.reader),
            Access::Scopes([KeyScope::Read]) => ("missing_scope", &stage.writer),
            _ => ("missing_scope", &stage.reader),
        };
        ask(key, missing, "text/plain", &large).refused(403, code);
        if operation.path.contains('{') {
            ask(&stage.owner, missing, "text/plain", &large).refused(404, "not_found");
            ask(&stranger, here, "text/plain", &large).refused(404, "not_found");
            // Whose role it takes to apply a template is said by a workspace in the body.
            let said_in_path = !matches!(operation.about.request, Some("Apply" | "PlanRequest"));
            if operation.role > Role::Viewer && said_in_path {
                let refusal = ask(&viewer, here, "text/plain", &large);
                if operation.method == "DELETE" && operation.path.ends_with("{row_id}") {
                    refusal.refused(404, "not_found");
                } else {
                    refusal.refused(403, "forbidden");
                }
            }
        }
        if operation.has_body() {
            ask(&stage.owner, here, "text/plain", &large).refused(415, "unsupported_media_type");
            ask(&stage.owner, here, JSON, &large).refused(413, "payload_too_large");
        }
        let refusal = ask(&stage.owner, here, JSON, "{");
        assert_eq!(refusal.status, 422, "{operation:?} {refusal:?}");
    }
}

/// Of several ids in a path one alone is that of nothing.
async fn what_is_missing_comes_before_what_is_wrong(place: Place) {
    let stage = Stage::new(place).await;
    for operation in &OPERATIONS {
        if operation.parameters().count() < 2 {
            continue;
        }
        for name in operation.parameters() {
            // Who is no member cannot be listed in a workspace, which says nothing of who there is; and items of a package
            // are no records.
            let of_workspace = operation.path.starts_with("/v1/workspaces/");
            if (of_workspace && name == "user_id") || name == "item_uid" {
                continue;
            }
            let mut ids = stage.here.clone();
            let id = ids.get_mut(name).expect("a known name");
            id.clone_from(&stage.missing[name]);
            let request = faulty(&stage, operation, &ids, JSON, "{");
            let response = send(&stage.owner, operation.method, &request, &[]);
            assert_eq!(response.status, 404, "{operation:?} {name}: {response:?}");
        }
    }
}

/// A request with a parameter that there is not, and that body where one may come.
fn faulty(
    stage: &Stage,
    operation: &Operation,
    ids: &Ids,
    media_type: &'static str,
    body: &str,
) -> Request {
    let mut request = stage.document.request(operation, ids);
    let sign = if request.path.contains('?') { '&' } else { '?' };
    request.path.push(sign);
    request.path.push_str("nonsense=1");
    request.body = operation.has_body().then(|| (media_type, body.to_owned()));
    request
}
