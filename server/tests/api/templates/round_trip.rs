//! What is exported, imported, applied elsewhere and exported again is the same up to ids: tried on
//! random workspaces, `TPLKIT_ROUND_TRIPS` of them (20), `TPLKIT_SEED` being the first.

/// What the library's laws compare exports by.
#[path = "../../../../tests/laws/normal.rs"]
mod normal;

use normal::normal;
use serde_json::{Value as Json, json};
use tplkit::check::Checked;
use tplkit::client::{BaseUrl, Credential, Options, RemoteWorkspace, Secret};
use tplkit::context::{FixedClock, Seeded};
use tplkit::definitions::Definitions;
use tplkit::diff::Diff;
use tplkit::export::{ExportBase, PreviousPackage, Selection, export, export_onto};
use tplkit::workspace::memory::State;
use tplkit::workspace::ready;
use tplkit_testkit::packaged::packaged;
use tplkit_testkit::random::{self, Shape};
use uuid::Uuid;

use super::shop::{applied, working};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::{PASSWORD, World};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    random_workspaces_come_through,
    both_exporters_give_one_package
);

async fn random_workspaces_come_through(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let owner = world.as_user("owner@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let first = number("TPLKIT_SEED").unwrap_or(0);
    for seed in first..first + number("TPLKIT_ROUND_TRIPS").unwrap_or(20) {
        print_seed(seed);
        let mut state = random::workspace(seed, &Shape::closed());
        // Of a timer profile the server knows the name alone.
        let timers = state.structure.organization.timer_profiles.iter_mut();
        timers.flatten().for_each(|timer| timer.label = None);
        furnish(&world, world.acme, &state).await;
        furnish(&world, world.other, &state).await;
        let source = packaged(state.clone()).expect("exports");
        let here = through(&world, (&owner, world.acme), &state, &source).await;
        let there = through(&world, (&stranger, world.other), &state, &here).await;
        same(seed, &essence(&there), &essence(&here));
        // What the server makes of a workspace is what the library makes of it in memory.
        differ_in_nothing(seed, &source, &here);
    }
}

/// What the command line makes of a workspace by reading it, and what the server makes of it itself.
async fn both_exporters_give_one_package(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let owner = world.as_user("owner@acme.test");
    let tokens = world.token("owner@acme.test", PASSWORD).expect(200).json();
    let token = tokens["access_token"].as_str().expect("a token").to_owned();
    let first = number("TPLKIT_SEED").unwrap_or(0);
    for seed in first..first + 4 {
        print_seed(seed);
        let mut state = random::workspace(seed, &Shape::closed());
        let timers = state.structure.organization.timer_profiles.iter_mut();
        timers.flatten().for_each(|timer| timer.label = None);
        // The lists of channels hold no labels.
        let channels = state.structure.organization.channels.iter_mut();
        channels.flatten().for_each(|channel| channel.label = None);
        furnish(&world, world.acme, &state).await;
        let package = packaged(state.clone()).expect("exports");
        let workspace = made(&world, (&owner, world.acme), &state, &package).await;
        let body = json!({"rows": "all", "identity": {"name": "one"}});
        let path = format!("/v1/workspaces/{workspace}/export");
        let server = owner.post(&path, &body).expect(200).body;
        // Nothing changed since: it comes out again to the byte, template or file.
        let import = format!("/v1/templates/import?organization_id={}", world.acme);
        let template = id(&owner.json("POST", &import, &server).expect(201).json());
        let stored = owner.get(&format!("/v1/templates/{template}/package"));
        let stored = stored.expect(200).body;
        let again = owner
            .post(&path, &json!({"onto": template}))
            .expect(200)
            .body;
        assert_eq!(again, stored, "TPLKIT_SEED={seed}");
        let selection = Selection::from_json(&body.to_string()).expect("a selection");
        let (base, token) = (format!("http://{}", owner.address()), token.clone());
        let generated: Json = serde_json::from_str(&server).expect("JSON");
        let at = generated["manifest"]["source"]["generatedAt"].clone();
        let now = at.as_str().expect("an instant").parse().expect("a time");
        let read = tokio::task::spawn_blocking(move || {
            let client = blocking(&base, &token);
            let id = workspace.parse().expect("a UUID");
            let remote = RemoteWorkspace::new(&client, id);
            let definitions = Definitions::embedded();
            let ids = &mut Seeded::new(2);
            let now = &FixedClock(now);
            let checked = Checked::trusted(&stored).expect("a package");
            let previous = PreviousPackage::new(&stored, checked);
            let onto = Some(ExportBase {
                previous: &previous,
                selects: true,
            });
            let nothing = Selection::default();
            let again = ready(export_onto(&remote, &nothing, onto, now, ids, definitions));
            assert_eq!(again.expect("exports").text, stored, "TPLKIT_SEED={seed}");
            ready(export(&remote, &selection, now, ids, definitions)).expect("exports")
        });
        let read = read.await.expect("reads").text;
        same(seed, &essence(&read), &essence(&server));
        let package = &generated["manifest"];
        assert_ne!(package["items"], json!([]), "TPLKIT_SEED={seed}");
    }
}

/// A client as the command line has one.
fn blocking(base: &str, token: &str) -> tplkit::client::Client {
    struct Still;
    impl tplkit::client::Host for Still {
        fn now(&self) -> jiff::Timestamp {
            jiff::Timestamp::UNIX_EPOCH
        }
        fn uuid(&self) -> String {
            Uuid::from_bytes(tplkit_server::context::random()).to_string()
        }
        fn wait(&self, time: std::time::Duration) {
            std::thread::sleep(time);
        }
    }
    let base = BaseUrl::parse(base).expect("an address");
    let credential = Credential::Token(Secret::new(token.to_owned()));
    let client = tplkit::client::Client::new(base, credential, Options::default(), Box::new(Still));
    client.expect("a client")
}

#[expect(clippy::print_stderr, reason = "a failure is reported with its seed")]
fn print_seed(seed: u64) {
    eprintln!("TPLKIT_SEED={seed}");
}

#[expect(clippy::disallowed_methods, reason = "says how much is tested")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Imports a package, applies it to a new workspace, and exports that.
async fn through(
    world: &World,
    (client, organization): (&Client, Uuid),
    state: &State,
    package: &str,
) -> String {
    let workspace = made(world, (client, organization), state, package).await;
    let path = format!("/v1/workspaces/{workspace}/export");
    // What the package is called is not what the new workspace is.
    let package: Json = serde_json::from_str(package).expect("JSON");
    let manifest = &package["manifest"];
    let identity = json!({"name": manifest["name"], "label": manifest["label"]});
    let body = json!({"rows": "all", "identity": identity});
    client.post(&path, &body).expect(200).body
}

/// Imports a package and applies it to a new workspace, whose id it gives.
async fn made(
    world: &World,
    (client, organization): (&Client, Uuid),
    state: &State,
    package: &str,
) -> String {
    let import = format!("/v1/templates/import?organization_id={organization}");
    let template = id(&client.json("POST", &import, package).expect(201).json());
    let here = &state.structure.workspace;
    let body = json!({"organization_id": organization, "label": here.label});
    let workspace = id(&client.create("/v1/workspaces", &body));
    let body = json!({
        "workspaceId": workspace, "resolutions": resolutions(world, organization, package).await,
    });
    let job = applied(client, &template, &body).await;
    let report = &job["report"];
    assert_eq!(
        (&report["errors"], &report["renamed"]),
        (&json!([]), &json!([])),
        "{job}"
    );
    workspace
}

/// Gives an organization the named records that automations speak of.
async fn furnish(world: &World, organization: Uuid, state: &State) {
    let theirs = &state.structure.organization;
    let channels = theirs.channels.iter().flatten();
    for channel in channels.filter(|channel| channel.name.is_some()) {
        let (name, label) = (channel.name.clone(), channel.label.clone());
        let sql = "UPDATE main.channels SET label = $3 \
             WHERE organization_id = $1 AND name = $2 RETURNING id";
        let parameters = vec![
            organization.into(),
            name.clone().into(),
            label.clone().into(),
        ];
        if !world.sql(sql, parameters).await.is_empty() {
            continue;
        }
        let sql = "INSERT INTO main.channels {into $1} (organization_id, id, name, label, created_at) \
             VALUES ($1, $2, $3, $4, 0)";
        let id = world.context.id();
        let parameters = vec![organization.into(), id.into(), name.into(), label.into()];
        world.sql(sql, parameters).await;
    }
    let connections = theirs.connections.iter().flatten();
    let connections = connections.map(|one| (one.name.as_str(), one.kind.as_str()));
    let timers = theirs.timer_profiles.iter().flatten();
    let timers = timers.map(|one| (one.name.as_str(), "timer"));
    for (name, kind) in connections.chain(timers) {
        let sql = "INSERT INTO main.connections {into $1} (organization_id, id, name, kind, url, \
             created_at, updated_at) VALUES ($1, $2, $3, $4, 'https://example.test', 0, 0) \
             ON CONFLICT DO NOTHING";
        let known = ["smtp", "http", "llm", "timer"];
        let kind = if known.contains(&kind) { kind } else { "http" };
        let id = world.context.id();
        let parameters = vec![organization.into(), id.into(), name.into(), kind.into()];
        world.sql(sql, parameters).await;
    }
}

/// Channels by their name, everything else as the exporter proposes, and what is left is skipped.
async fn resolutions(world: &World, organization: Uuid, package: &str) -> Json {
    let package: Json = serde_json::from_str(package).expect("JSON");
    let dependencies = package["manifest"]["dependencies"].as_array().cloned();
    let mut resolutions = serde_json::Map::new();
    for dependency in dependencies.unwrap_or_default() {
        let reference = dependency["ref"].as_str().expect("a ref").to_owned();
        let name = dependency["identity"]["name"].as_str().unwrap_or_default();
        let resolution = match dependency["kind"].as_str() {
            Some("channel") => {
                let sql = "SELECT id FROM channels WHERE organization_id = $1 AND name = $2";
                let found = world.sql(sql, vec![organization.into(), name.into()]).await;
                let id: Option<Uuid> = found.first().map(|row| row.get(0).expect("an id"));
                id.map_or(
                    json!({"action": "skip"}),
                    |id| json!({"action": "map", "id": id}),
                )
            }
            _ if dependency["form"] == "name" => continue,
            _ if dependency.get("blueprint").is_some() => continue,
            _ => json!({"action": "skip"}),
        };
        resolutions.insert(reference, resolution);
    }
    resolutions.into()
}

/// What of a package is to be equal.
fn essence(package: &str) -> String {
    normal(package).expect("JSON")
}

#[track_caller]
fn same(seed: u64, is: &str, expected: &str) {
    if is == expected {
        return;
    }
    let pairs = is.bytes().zip(expected.bytes());
    let at = pairs.take_while(|(one, other)| one == other).count();
    let shown = |text: &str| {
        let bytes = &text.as_bytes()[at.saturating_sub(300)..(at + 300).min(text.len())];
        String::from_utf8_lossy(bytes).into_owned()
    };
    panic!(
        "TPLKIT_SEED={seed}: {}\nand expected is\n{}",
        shown(is),
        shown(expected)
    );
}

/// Rows are held against each other where both are the server's: in between, identities are minted.
#[track_caller]
fn differ_in_nothing(seed: u64, one: &str, other: &str) {
    let diff = Diff::of(one, other, false).expect("packages");
    assert!(diff.is_empty(), "TPLKIT_SEED={seed}: {:#?}", diff.changes);
}
