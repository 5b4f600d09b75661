//! A file stays invisible with either line of defence alone: the conditions of the statements, or row
//! security.

use serde_json::{Value, json};
use tplkit_server::app::Config;
use tplkit_server::files::Files;
use tplkit_server::secret_key::SecretKey;
use tplkit_server::store::Isolation;

use super::{made, of};
use crate::api::client::Client;
use crate::api::model::{Model, id};
use crate::api::workflows::{PATH, graph};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(either_defence_alone_hides_files_of_hidden_rows);

const STATEMENTS: Isolation = Isolation {
    predicates: true,
    row_security: false,
};
const ROW_SECURITY: Isolation = Isolation {
    predicates: false,
    row_security: true,
};
const NONE: Isolation = Isolation {
    predicates: false,
    row_security: false,
};

/// A server of the same store that has these lines of defence.
async fn behind(world: &World, defences: Isolation) -> Client {
    let config = Config {
        rate: None,
        secret_key: SecretKey::parse(&"0a".repeat(32)),
        files: Files::in_place(world.app.files.place.clone()),
        ..Config::default()
    };
    let store = world.place.open_without(defences).await;
    world.second_server(store, config).await
}

/// Whether a client finds a file, by all ways there are; they agree.
fn finds(client: &Client, file: &Value) -> bool {
    let path = of(file);
    let found = client.get(&path).status == 200;
    let listed = client.ids("/v1/files").contains(&id(file));
    let bytes = client.get(&format!("{path}/content")).status;
    let link = client.post(&format!("{path}/links"), &json!({"expires_in": 60}));
    assert_eq!(
        (listed, bytes == 200, link.status == 201),
        (found, found, found)
    );
    if !found {
        client.get(&path).refused(404, "not_found");
        client.delete(&path).refused(404, "not_found");
        let forced = format!("{path}?force=true");
        client.delete(&forced).refused(404, "not_found");
    }
    found
}

async fn either_defence_alone_hides_files_of_hidden_rows(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let model = Model::new(&owner, world.acme)
        .with_row(&owner)
        .with_file(&world, &owner, "used")
        .await;
    let used = owner.get(&format!("/v1/files/{}", model.file));
    let used = used.expect(200).json();
    let unused = made(&owner, &model.workspace, "unused", b"x");
    let open = json!({"workspace_id": model.workspace, "label": "Open"});
    let open = id(&editor.create("/v1/features", &open));
    let photo = json!({"label": "photo", "type": "file"});
    editor.create(&format!("/v1/features/{open}/columns"), &photo);
    let feature = format!("/v1/features/{}", model.feature);
    let at =
        |server: &Client, client: &Client| server.with(client.credential().expect("a credential"));
    for defences in [Isolation::BOTH, STATEMENTS, ROW_SECURITY] {
        let server = behind(&world, defences).await;
        let (owner, editor) = (at(&server, &owner), at(&server, &editor));
        let stranger = at(&server, &stranger);
        // The row of everybody shows its file, and nothing else does.
        assert!(
            finds(&owner, &used) && finds(&owner, &unused),
            "{defences:?}"
        );
        assert!(
            finds(&editor, &used) && !finds(&editor, &unused),
            "{defences:?}"
        );
        assert!(
            !finds(&stranger, &used) && !finds(&stranger, &unused),
            "{defences:?}"
        );
        for (access, seen) in [("own", false), ("all", true)] {
            let body = json!({"config": {"rowAccess": access}});
            owner.patch(&feature, &body).expect(200);
            assert_eq!(finds(&editor, &used), seen, "{defences:?}");
        }
        // A cell and an automation take no file that their writer does not see.
        let rows = format!("/v1/features/{open}/rows");
        let cell = json!({"data": {"photo": unused["id"]}});
        editor.post(&rows, &cell).refused(422, "validation_failed");
        let config = json!({"to": "a@b.test", "subject": "s", "body": "b", "attachmentFileId": unused["id"]});
        let steps = json!([{"key": "email.send", "config": config}]);
        let flow = json!({"workspace_id": model.workspace, "name": "a", "is_draft": true,
            "trigger_config": {"type": "manual"}, "graph_config": graph(&steps)});
        editor.post(PATH, &flow).refused(422, "invalid_automation");
        // A caller who does not see the workspace sees none of its files.
        let workspace = format!("/v1/workspaces/{}", model.workspace);
        for (access, seen) in [("members", false), ("organization", true)] {
            owner
                .patch(&workspace, &json!({"access": access}))
                .expect(200);
            assert_eq!(finds(&editor, &used), seen, "{defences:?}");
        }
    }
    // Without both every caller sees it: the test would notice a leak.
    let leaking = behind(&world, NONE).await;
    at(&leaking, &stranger).get(&of(&unused)).expect(200);
}
