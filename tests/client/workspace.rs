//! A workspace read over HTTP is the workspace.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tplkit::apply::{PreviewInput, Request, Resolution, package_digest, preview};
use tplkit::check::{CheckOptions, Checked};
use tplkit::client::{Client, Credential, Error, Options, RemoteWorkspace};
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::export::{ExportError, Fault, RowsSelection, Selection, export};
use tplkit::simulate;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Id, Lookup as _, Source, ready};

use crate::host::client_as;
use crate::scripted::{Response, Scripted, model};

const WORKSPACE: Id = Id::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0001);

fn sample(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join(name)).expect("a sample")
}

fn checked(text: &str) -> Checked<'_> {
    Checked::read(text, &CheckOptions::default()).expect("a package")
}

fn now() -> FixedClock {
    FixedClock("2026-03-01T09:30:00Z".parse().expect("an instant"))
}

/// An empty workspace after that package.
fn built(text: &str) -> State {
    let empty = State::empty(Id::from_u128(9), WORKSPACE, "sales", "Sales");
    let definitions = Definitions::embedded();
    let ids = &mut Seeded::new(7);
    let mut state =
        simulate::built(&checked(text), empty, definitions, &now(), ids).expect("built");
    // What no listed route gives.
    let organization = &mut state.structure.organization;
    organization.connections = None;
    organization.channels = None;
    organization.timer_profiles = None;
    state
}

fn served(state: &State) -> (Scripted, Client) {
    let known = state.clone();
    let server = Scripted::new(move |request| {
        model::respond(&known, request).unwrap_or_else(|| Response::problem(404, "not_found"))
    });
    let client = client(&server);
    (server, client)
}

fn client(server: &Scripted) -> Client {
    client_as(&server.url, Credential::None, Options::default()).0
}

const SAMPLES: [&str; 6] = [
    "examples/crm.json",
    "examples/service-desk.json",
    "examples/project-tracker.json",
    "tests/fixtures/cases/valid/base-links.json",
    "tests/fixtures/cases/valid/base-auto.json",
    "tests/fixtures/cases/valid/currency-forms.json",
];

#[test]
fn an_export_over_http_is_that_of_the_workspace() {
    for name in SAMPLES {
        let state = built(&sample(name));
        let (_server, client) = served(&state);
        let remote = RemoteWorkspace::new(&client, WORKSPACE);
        assert_eq!(
            ready(remote.structure()).expect("structure"),
            state.structure,
            "{name}"
        );
        let selection = Selection {
            rows: RowsSelection::All,
            ..Selection::default()
        };
        let over_http = exported_text(&remote, &selection).expect("over HTTP");
        let here = exported_text(&Memory::new(state), &selection).expect("here");
        assert_eq!(over_http, here, "{name}");
    }
}

/// The text of an export, with the same clock and ids each time.
fn exported_text<S: Source + Sync>(
    source: &S,
    selection: &Selection,
) -> Result<String, ExportError<S::Error>> {
    let definitions = Definitions::embedded();
    let exported = ready(export(
        source,
        selection,
        &now(),
        &mut Seeded::new(1),
        definitions,
    ));
    exported.map(|exported| exported.text)
}

#[test]
fn rows_come_in_portions_whatever_the_pages() {
    let state = built(&sample("examples/crm.json"));
    let (feature, rows) = state
        .rows
        .iter()
        .max_by_key(|(_, rows)| rows.len())
        .expect("rows");
    assert!(rows.len() > 7, "{}", rows.len());
    let (_server, client) = served(&state);
    for portion in [1, 2, 4, 7, 1000] {
        let remote = RemoteWorkspace::new(&client, WORKSPACE);
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let part = ready(remote.rows(*feature, after, portion)).expect("rows");
            after = part.last().map(|row| row.id).or(after);
            let ended = part.len() < portion;
            found.extend(part);
            if ended {
                break;
            }
        }
        assert_eq!(found, *rows, "{portion}");
        // From the middle, without the way there.
        let remote = RemoteWorkspace::new(&client, WORKSPACE);
        let rest = ready(remote.rows(*feature, Some(rows[3].id), 2)).expect("rows");
        assert_eq!(rest, rows[4..6]);
    }
}

#[test]
fn rows_are_found_by_value_and_id() {
    let state = built(&sample("examples/crm.json"));
    let memory = Memory::new(state.clone());
    let (_server, client) = served(&state);
    let remote = RemoteWorkspace::new(&client, WORKSPACE);
    for (feature, rows) in &state.rows {
        let table = state.structure.feature(*feature).expect("the table");
        for column in &table.columns {
            let cells = rows.iter().filter_map(|row| row.data.cell(&column.name));
            let mut values: Vec<String> = cells.map(str::to_owned).collect();
            let other = ["\"nobody\"", "7.5", "true", "null", "[1]", "\"a\\n:b|c*\""];
            values.extend(other.map(str::to_owned));
            assert_eq!(
                ready(remote.matching(*feature, &column.name, &values)).expect("HTTP"),
                ready(memory.matching(*feature, &column.name, &values)).expect("here"),
                "{}.{}",
                table.name,
                column.name
            );
        }
        let mut ids: Vec<Id> = rows.iter().rev().map(|row| row.id).collect();
        ids.push(Id::from_u128(5));
        assert_eq!(
            ready(remote.fetch(*feature, &ids)).expect("HTTP"),
            ready(memory.fetch(*feature, &ids)).expect("here")
        );
    }
}

#[test]
fn a_plan_over_http_is_that_of_the_workspace() {
    let text = sample("tests/fixtures/cases/valid/base-links.json");
    let package = checked(&text);
    let state = built(&text);
    let mut request = Request::default();
    for dependency in package.manifest.dependencies() {
        let reference = dependency.reference.clone();
        request.resolutions.insert(reference, Resolution::Skip);
    }
    let (_server, client) = served(&state);
    let remote = RemoteWorkspace::new(&client, WORKSPACE);
    let memory = Memory::new(state.clone());
    let input = PreviewInput {
        package: &package,
        package_digest: &package_digest(&text),
        request: &request,
        earlier: &[],
        base: None,
        definitions: Definitions::embedded(),
    };
    let structure = ready(remote.structure()).expect("structure");
    let over_http = ready(preview(&remote, &structure, input)).expect("HTTP");
    let here = ready(preview(&memory, &state.structure, input)).expect("here");
    assert!(!here.create.is_empty() && !here.rename.is_empty());
    assert_eq!(over_http, here);
}

#[test]
fn what_changes_between_the_readings_is_noticed() {
    let state = built(&sample("examples/crm.json"));
    let late = Arc::new(Mutex::new(0));
    let server = Scripted::new(move |request| {
        let mut now = state.clone();
        if request.target.contains("/rows?") {
            let mut requests = late.lock().expect("whole");
            *requests += 1;
            if *requests > 30 {
                for rows in now.rows.values_mut() {
                    rows.pop();
                }
            }
        }
        model::respond(&now, request).unwrap_or_else(|| Response::problem(404, "not_found"))
    });
    let client = client(&server);
    let remote = RemoteWorkspace::new(&client, WORKSPACE);
    let selection = Selection {
        rows: RowsSelection::All,
        ..Selection::default()
    };
    let error = exported_text(&remote, &selection).expect_err("it changed");
    assert!(
        matches!(error, ExportError::Fault(Fault::Changed(_))),
        "{error}"
    );
}

#[test]
fn a_server_that_knows_less_is_read_all_the_same() {
    let table = "0198c0de-0000-7000-8000-00000000000a";
    let server = Scripted::new(move |request| {
        let path = request.target.split('?').next().unwrap_or_default();
        let body = match path.trim_start_matches("/v1/") {
            "features" => format!(
                r#"{{"results": [{{"id": "{table}", "label": "Olá Mundo", "config": {{"x": 1.10}}}}]}}"#
            ),
            path if path.ends_with("/columns") => format!(
                r#"[{{"id": "{table}", "name": "a", "type": "text", "default_component": "textfield"}}]"#
            ),
            "workflows-v2" => format!(
                r#"[{{"workflow_id": "{table}", "is_draft": true}},
                    {{"workflow_id": "{table}", "name": "live", "is_active": true}}]"#
            ),
            path if path.starts_with("workspaces/") => format!(r#"{{"id": "{WORKSPACE}"}}"#),
            _ => r#"{"items": [], "next_cursor": ""}"#.to_owned(),
        };
        Response::text(200, &body)
    });
    let client = client(&server);
    let structure = ready(RemoteWorkspace::new(&client, WORKSPACE).structure()).expect("read");
    let feature = &structure.features[0];
    assert_eq!(
        (feature.name.as_str(), feature.label.as_str()),
        ("ola_mundo", "Olá Mundo")
    );
    assert_eq!(feature.config["x"].write(), "1.10");
    assert_eq!(feature.columns[0].label, "a");
    assert_eq!(structure.automations.len(), 1);
    assert!(structure.automations[0].active && structure.automations[0].name == "live");
}

#[test]
fn a_server_without_automations_is_known_by_it() {
    let state = built(&sample("tests/fixtures/cases/valid/base-auto.json"));
    assert!(!state.structure.automations.is_empty());
    let known = state.clone();
    let server = Scripted::new(move |request| {
        let lacking = request.target.starts_with("/v1/workflows-v2");
        let response = model::respond(&known, request).filter(|_| !lacking);
        response.unwrap_or_else(|| Response::problem(404, "not_found"))
    });
    let client = client(&server);
    let remote = RemoteWorkspace::new(&client, WORKSPACE);
    let structure = ready(remote.structure()).expect("structure");
    assert!(structure.automations.is_empty() && remote.lacks_automations());
    let (_server, client) = served(&state);
    let remote = RemoteWorkspace::new(&client, WORKSPACE);
    let structure = ready(remote.structure()).expect("structure");
    assert!(!structure.automations.is_empty() && !remote.lacks_automations());
}

#[test]
fn rows_out_of_order_are_refused() {
    let server = Scripted::new(|_| {
        Response::text(
            200,
            r#"{"items": [{"id": "0198c0de-0000-7000-8000-00000000000b", "data": {}},
                          {"id": "0198c0de-0000-7000-8000-00000000000a", "data": {}}]}"#,
        )
    });
    let client = client(&server);
    let remote = RemoteWorkspace::new(&client, WORKSPACE);
    let error = ready(remote.rows(Id::from_u128(1), None, 500)).expect_err("out of order");
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
}
