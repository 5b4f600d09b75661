//! A package with a bit of everything, attempts at it, and people.

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use crate::apply::test_packages::{Pack, checked, empty, request, uid};
use crate::apply::{ApplyError, JobHistory, Minter, Report, ResolveInput, resolve, run};
use crate::crashing::{Error, Memory};
use crate::definitions::Definitions;
use crate::workspace::ledger::{Created, Entry};
use crate::workspace::memory::State;
use crate::workspace::{Change, Progress, Source as _, Target as _, Unit, ready};

/// An empty workspace.
pub(super) fn nothing() -> State {
    let structure = empty();
    let mut state = State::empty(
        structure.organization.id,
        structure.workspace.id,
        "here",
        "Here",
    );
    state.structure = structure;
    state
}

/// The identity column of a table: numbers.
pub(super) fn sequence(table: &str) -> Json {
    json!({"featureId": format!("$f_{table}"), "name": "no", "label": "no", "type": "number",
        "defaultComponent": "id", "order": 9, "config": {"idType": "sequence"}})
}

pub(super) fn link(table: &str, column: &str) -> Json {
    json!({"linkedFeatureId": format!("$f_{table}"), "linkedValueColumn": format!("$c_{table}_{column}")})
}

pub(super) fn points(row: usize, table: &str, column: &str) -> Json {
    json!({"rowUid": uid(row), "featureRef": format!("f_{table}"), "valueColumn": column})
}

/// Clients, orders that point at them and at each other, a view, an automation that goes live, a
/// module with a navigation entry, and a workspace that opens it.
pub(super) fn shop() -> Pack {
    let flow = json!({"workspaceId": "$workspace", "name": "Flow", "label": "Flow", "triggerConfig": {"type": "manual"}, "graphConfig": {"steps": [
        {"key": "feature.read", "id": "stp_aaaaaaaaaaaa", "config": {"featureId": "$f_orders"}},
        {"key": "feature.write", "id": "stp_bbbbbbbbbbbb", "config": {"mode": "insert", "targetFeatureId": "$f_clients", "bindings": [{"targetColumn": "$c_clients_name", "value": "x"}]}}]}, "isDraft": true, "published": true});
    let rail = json!({"moduleId": "$m_m", "name": "r", "label": "r", "config": [{"views": ["$v_orders"]}]});
    Pack::new()
        .table("clients")
        .table("orders")
        .column("clients", "name", "text", json!(null))
        .create("create_column", "c_clients_no", sequence("clients"))
        .column("orders", "code", "text", json!(null))
        .column("orders", "client", "linked_select", link("clients", "no"))
        .column("orders", "after", "linked_select", link("orders", "code"))
        .view("orders", json!({"visibleColumns": ["$c_orders_code", "$c_orders_client"]}))
        .create("create_workflow_v2", "w_flow", flow)
        .create("create_module", "m_m", json!({"workspaceId": "$workspace", "name": "m", "label": "m"}))
        .create("create_rail", "r_r", rail)
        .step("update_module", json!({"moduleId": "$m_m", "config": {"defaultRailId": "$r_r"}}))
        .step("update_workspace", json!({"workspaceId": "$workspace", "config": {"defaultModuleId": "$m_m"}}))
        .step("update_feature", json!({"featureId": "$f_orders", "config": {"titleColumn": "$c_orders_code"}}))
        .rows(
            "clients",
            None,
            &[(json!({"name": "A"}), Json::Null), (json!({"name": "B"}), Json::Null)],
        )
        .rows(
            "orders",
            Some("code"),
            &[
                (json!({"code": "1", "client": 7, "after": "2"}), json!({"client": points(6001, "clients", "no"), "after": points(6101, "orders", "code")})),
                (json!({"code": "2", "client": 8}), json!({"client": points(6000, "clients", "no")})),
            ],
        )
}

/// One attempt at a job, or the next one: decided on what is there, then carried out.
pub(super) fn attempt(
    pack: &Pack,
    body: &str,
    memory: &mut Memory,
    earlier: &[Entry],
    nonce: u64,
) -> Result<Report, ApplyError<Error>> {
    let text = pack.text();
    let package = checked(&text);
    let own = ready(memory.ledger()).map_err(ApplyError::store("reading the ledger"))?;
    let structure =
        ready(memory.structure()).map_err(ApplyError::store("reading the structure"))?;
    let ledgers = [earlier, &own].concat();
    let minter = Minter::at(Timestamp::UNIX_EPOCH, 0xABC_0000 + nonce);
    let definitions = Definitions::embedded();
    let approved = resolve(
        ResolveInput {
            package: &package,
            request: &request(body),
            destination: &structure,
            past: JobHistory::of(&ledgers),
            definitions,
        },
        minter,
    );
    let approved = approved.expect("approved");
    ready(run(
        memory,
        &approved,
        &package.payloads,
        earlier,
        definitions,
        &mut |_| {},
    ))
}

/// What somebody does in the application.
pub(super) fn person(memory: &mut Memory, changes: Vec<Change>) {
    let unit = Unit {
        changes,
        entry: None,
        progress: Progress::default(),
        report: None,
    };
    ready(memory.commit(unit)).expect("people may");
}

/// Somebody takes a record away, with everything in it.
pub(super) fn delete(memory: &mut Memory, made: &Created) {
    let (kind, id) = (made.kind, made.id);
    person(
        memory,
        vec![Change::Remove {
            kind,
            id,
            force: true,
        }],
    );
}

/// Everything that a ledger says was created, oldest first.
pub(super) fn created(ledger: &[Entry]) -> Vec<Created> {
    let structures = ledger.iter().filter_map(|entry| match entry {
        Entry::Structure(structure) => Some(structure.created.clone()),
        _ => None,
    });
    structures.flatten().collect()
}

/// The cells of the table of that name, row by row.
pub(super) fn cells(memory: &Memory, table: &str) -> Vec<String> {
    let state = memory.state();
    let mut features = state
        .structure
        .features
        .iter()
        .chain(&state.structure.shared);
    let feature = features
        .find(|feature| feature.name == table)
        .expect("a table");
    let rows = state.rows.get(&feature.id).into_iter().flatten();
    rows.map(|row| row.data.as_str().to_owned()).collect()
}

/// Everything but rows, as text.
pub(super) fn structure_text(memory: &Memory) -> String {
    serde_json::to_string(&memory.state().structure).expect("JSON")
}
