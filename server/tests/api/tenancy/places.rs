//! The ways to ask one thing, and the places of ids that no parameter is named after.

use serde_json::{Value, json};
use tplkit_server::call::operation::Operation;

use super::cells::Probe;
use super::people::Party;
use crate::api::document::{Document, Ids, JSON, Request};

/// A request and the same with an id of nothing, right and wrong in all sorts of ways: what is hidden
/// is found out by no fault of the rest.
pub(super) fn ways(
    operation: &Operation,
    hidden: &Request,
    missing: &Request,
) -> Vec<(Request, Request)> {
    let mut ways = vec![(hidden.clone(), missing.clone())];
    let mut also = |change: &dyn Fn(&mut Request)| {
        let (mut one, mut other) = (hidden.clone(), missing.clone());
        change(&mut one);
        change(&mut other);
        ways.push((one, other));
    };
    let asking = |request: &mut Request, query: &str| {
        let sign = if request.path.contains('?') { '&' } else { '?' };
        request.path.push(sign);
        request.path.push_str(query);
    };
    also(&|request| asking(request, "nonsense=1"));
    for name in operation.about.query {
        match *name {
            "limit" => also(&|request| asking(request, "limit=0")),
            "cursor" => also(&|request| asking(request, "cursor=AAAA")),
            "force" => also(&|request| asking(request, "force=true")),
            "filter" => also(&|request| asking(request, "filter=nonsense")),
            "validate" => also(&|request| asking(request, "validate=nonsense")),
            "merge" => also(&|request| asking(request, "merge=true")),
            _ => {}
        }
    }
    if operation.has_body() {
        let mut bodies = vec!["{", "[]", r#"{"nonsense":1}"#];
        // Where nothing has to be said, saying nothing is another request and not a wrong one.
        if operation.takes_body() {
            also(&|request| request.body = None);
            bodies.push("{}");
        }
        for body in bodies {
            also(&|request| request.body = Some((JSON, body.to_owned())));
        }
        also(&|request| request.body = Some(("text/plain", "x".to_owned())));
    }
    ways
}

/// Ids in cells, filters, configs and cursors, along with what the caller sees.
pub(super) fn inside(
    operation: &Operation,
    document: &Document,
    party: &Party,
    missing: &Ids,
) -> Vec<Probe> {
    let plain = document.request(operation, &party.own);
    let mut probes = Vec::new();
    if operation.about.query.contains(&"filter") {
        for name in ["row_id", "feature_id"] {
            for column in ["id", "c"] {
                for operator in ["eq", "in", "gt", "not.eq"] {
                    let with = |ids: &Ids| {
                        let mut request = plain.clone();
                        let sign = if request.path.contains('?') { '&' } else { '?' };
                        let filter = format!("{sign}filter={column}:{operator}:{}", ids[name]);
                        request.path.push_str(&filter);
                        request
                    };
                    // Of ids that lie between the two, one list knows more than the other.
                    if operator != "gt" {
                        let pairs = vec![(party.hidden[name].clone(), missing[name].clone())];
                        probes.push((with(&party.hidden), with(missing), pairs));
                    }
                }
            }
        }
    }
    if operation.about.query.contains(&"cursor") {
        // A page of who sees it goes on for nobody else.
        let theirs = document.request(operation, &party.hidden);
        let sign = if theirs.path.contains('?') { '&' } else { '?' };
        let page = party.owner.get(&format!("{}{sign}limit=1", theirs.path));
        if let Some(cursor) = page.expect(200).json()["next_cursor"].as_str() {
            let with = |cursor: &str| {
                let mut request = plain.clone();
                let sign = if request.path.contains('?') { '&' } else { '?' };
                request.path.push(sign);
                request.path.extend(["cursor=", cursor]);
                request
            };
            probes.push((with(cursor), with("AAAA"), Vec::new()));
        }
    }
    for body in bodies(operation.path) {
        let with = |ids: &Ids| {
            let mut text = body.to_string();
            for (name, id) in ids {
                text = text.replace(&format!("<{name}>"), id);
            }
            // Where it is about, the caller sees; what it names is another thing.
            for (name, id) in &party.own {
                text = text.replace(&format!("<own {name}>"), id);
            }
            let body = Some((JSON, text));
            Request {
                body,
                ..plain.clone()
            }
        };
        let names = ["feature_id", "view_id", "module_id", "rail_id", "row_id"];
        let differ = names
            .iter()
            .filter(|name| party.own[**name] != party.hidden[**name]);
        let differ = differ.filter(|name| body.to_string().contains(&format!("<{name}>")));
        let pairs: Vec<_> = differ
            .map(|name| (party.hidden[*name].clone(), missing[*name].clone()))
            .collect();
        if operation.has_body() && !pairs.is_empty() {
            probes.push((with(&party.hidden), with(missing), pairs));
        }
    }
    probes
}

/// Bodies that name other records in their configs.
fn bodies(path: &str) -> Vec<Value> {
    let link = json!({"linkedFeatureId": "<feature_id>", "linkedValueColumn": "c"});
    match path {
        "/v1/features/{feature_id}/columns" => vec![
            json!({"label": "x", "type": "linked_select", "config": link}),
            json!({"label": "x", "type": "auto_match", "config": link}),
        ],
        "/v1/features/{feature_id}/columns/{column_id}" => {
            vec![json!({"type": "linked_select", "config": link})]
        }
        "/v1/workspaces/{workspace_id}" => {
            vec![json!({"config": {"defaultModuleId": "<module_id>"}})]
        }
        "/v1/modules/{module_id}" => vec![json!({"config": {"defaultRailId": "<rail_id>"}})],
        "/v1/rails/{rail_id}" => vec![
            json!({"config": [{"openModuleId": "<module_id>"}]}),
            json!({"config": [{"views": ["<view_id>"]}]}),
            json!({"config": [{"defaultViewId": "<view_id>"}]}),
        ],
        "/v1/rails" => vec![
            json!({"module_id": "<own module_id>", "label": "x", "config": {"openModuleId": "<module_id>"}}),
        ],
        _ => Vec::new(),
    }
}
