//! A workspace in memory, served over the routes that every server has.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tplkit::workspace::memory::State;
use tplkit::workspace::{Feature, Id, StoredRow};

use super::{Received, Response};

/// So that readers have to walk.
const PAGE: usize = 3;

/// The response of the server of that workspace; nothing for other routes.
pub(crate) fn respond(state: &State, request: &Received) -> Option<Response> {
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    if request.method != "GET" {
        return None;
    }
    let structure = &state.structure;
    let (organization, workspace) = (structure.organization.id, &structure.workspace);
    let parts: Vec<&str> = path.split('/').skip(2).collect();
    let parameters = parameters(query);
    let id = |name: &str| {
        parameters
            .get(name)
            .and_then(|list| list[0].parse::<Id>().ok())
    };
    let features = structure.features.iter().chain(&structure.shared);
    let of = |id: Id| features.clone().find(|one| one.id == id);
    let items: Vec<Value> = match parts.as_slice() {
        ["workspaces", one] if *one == workspace.id.to_string() => {
            let mut record = json!(workspace);
            record["organization_id"] = json!(organization);
            return Some(Response::json(&record));
        }
        ["modules"] => structure.modules.iter().map(|one| json!(one)).collect(),
        ["rails"] => {
            let module = structure
                .modules
                .iter()
                .find(|one| Some(one.id) == id("module_id"))?;
            module.rails.iter().map(|one| json!(one)).collect()
        }
        ["features"] => {
            let own = id("workspace_id").is_some();
            let shared = structure.shared.iter().filter(|_| !own);
            let own = structure
                .features
                .iter()
                .map(|one| feature(one, workspace.id, organization));
            let elsewhere = Id::from_u128(77);
            own.chain(shared.map(|one| feature(one, elsewhere, organization)))
                .collect()
        }
        ["views"] => of(id("feature_id")?)?
            .views
            .iter()
            .map(|one| {
                let mut record = json!(one);
                record["config"] = json!([one.config]);
                record
            })
            .collect(),
        ["features", one, "columns"] => {
            let columns = of(one.parse().ok()?)?.columns.iter();
            let columns = columns.map(|one| {
                let mut record = json!(one);
                record["default_component"] = record["defaultComponent"].take();
                record
            });
            return Some(Response::json(&columns.collect()));
        }
        ["features", one, "rows"] => return Some(rows(state, one.parse().ok()?, &parameters)),
        ["workflows-v2"] => {
            let versions = structure.automations.iter().flat_map(|one| {
                let version = |number: u32, active: bool, config: Value| {
                    json!({
                        "id": Id::from_u128(u128::from(number)), "workflow_id": one.id,
                        "workspace_id": workspace.id, "name": one.name, "version": number,
                        "is_draft": !one.active && number == 2, "is_active": active,
                        "trigger_config": config, "graph_config": one.graph_config,
                    })
                };
                // What came before and after the version in force.
                let now = version(2, one.active, json!(one.trigger_config));
                let after = one.active.then(|| {
                    let mut draft = version(3, false, json!({"type": "manual"}));
                    draft["is_draft"] = json!(true);
                    draft
                });
                let mut before = version(1, false, json!({"type": "manual"}));
                before["is_draft"] = json!(true);
                [before, now].into_iter().chain(after)
            });
            versions.collect()
        }
        _ => return None,
    };
    Some(page(&items, &parameters))
}

fn feature(one: &Feature, workspace: Id, organization: Id) -> Value {
    json!({
        "id": one.id, "name": one.name, "label": one.label, "config": one.config,
        "is_shared": one.is_shared, "workspace_id": workspace, "organization_id": organization,
    })
}

type Parameters = BTreeMap<String, Vec<String>>;

fn parameters(query: &str) -> Parameters {
    let mut parameters = Parameters::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = value.replace('+', " ");
        let value = percent_encoding::percent_decode_str(&value)
            .decode_utf8_lossy()
            .into_owned();
        parameters.entry(name.to_owned()).or_default().push(value);
    }
    parameters
}

fn page(items: &[Value], parameters: &Parameters) -> Response {
    let from = start(parameters);
    let to = items.len().min(from + PAGE);
    let next = (to < items.len()).then(|| to.to_string());
    Response::json(&json!({"items": items[from..to], "next_cursor": next}))
}

fn start(parameters: &Parameters) -> usize {
    let cursor = parameters.get("cursor").map(|list| list[0].parse());
    cursor.map_or(0, |cursor| cursor.expect("a cursor of this server"))
}

fn rows(state: &State, feature: Id, parameters: &Parameters) -> Response {
    let filters = parameters
        .get("filter")
        .map(Vec::as_slice)
        .unwrap_or_default();
    let rows = state
        .rows
        .get(&feature)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let any = parameters.contains_key("match");
    let fits = |row: &&StoredRow| {
        let mut holding = filters.iter().map(|filter| holds(row, filter));
        if any {
            holding.any(|holds| holds)
        } else {
            holding.all(|holds| holds)
        }
    };
    let rows: Vec<&StoredRow> = rows.iter().filter(fits).collect();
    let from = start(parameters);
    let to = rows.len().min(from + PAGE);
    let items: Vec<String> = rows[from..to]
        .iter()
        .map(|row| {
            format!(
                "{{\"id\": \"{}\", \"data\": {}}}",
                row.id,
                row.data.as_str()
            )
        })
        .collect();
    let next = json!((to < rows.len()).then(|| to.to_string()));
    let body = format!(
        "{{\"items\": [{}], \"next_cursor\": {next}}}",
        items.join(",")
    );
    Response::text(200, &body)
}

fn holds(row: &StoredRow, filter: &str) -> bool {
    let parts: Vec<&str> = filter.splitn(3, ':').collect();
    let [column, operator, value] = parts.as_slice() else {
        panic!("no filter: {filter}");
    };
    if *column == "id" {
        let id: Id = value.parse().expect("an id");
        return match *operator {
            "gt" => row.id > id,
            "eq" => row.id == id,
            other => panic!("{other} of an id"),
        };
    }
    let Some(cell) = row.data.cell(column) else {
        return false;
    };
    match *operator {
        "eq" => tplkit::rows::text_form(cell).is_some_and(|text| text == *value),
        "eqn" => !cell.starts_with('"') && tplkit::rows::equal(cell, value),
        "is" => cell == *value,
        other => panic!("{other} of a cell"),
    }
}
