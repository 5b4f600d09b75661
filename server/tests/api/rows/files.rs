//! Cells that use files: who may make a use, and when it ends.

use serde_json::{Value as Json, json};
use tplkit_server::store::Value;
use uuid::Uuid;

use super::seed::{Column, ask, number, path, table_in, workspace};
use crate::api::client::{Client, Response};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_cell_uses_a_file_that_its_writer_sees,
    missing_foreign_and_hidden_files_are_refused_alike,
    what_stands_there_is_not_checked_again,
    a_use_ends_with_its_text_its_row_its_column_and_its_table,
    only_a_checked_write_makes_a_use,
    who_saw_the_row_sees_the_file_no_longer,
    rows_that_are_kept_from_somebody_lose_their_uses_with_the_column,
    a_clock_that_is_behind_shortens_no_grace,
    a_unique_column_knows_a_file_in_other_letters,
    a_cell_of_files_holds_a_text,
);

const COLUMNS: [Column; 3] = [
    ("photo", "file", "filefield", r#"{"required":true}"#),
    ("scan", "file", "filefield", "{}"),
    ("note", "text", "textfield", "{}"),
];

/// A file in a workspace, as if that person had uploaded it.
pub(crate) async fn seed_file(
    world: &World,
    (organization, workspace): (Uuid, Uuid),
    uploader: Uuid,
) -> Uuid {
    let (id, object) = (world.context.id(), world.context.id());
    let hash = format!("{}{}", id.simple(), object.simple()).into_bytes();
    let hash: [u8; 32] = hash[hash.len() - 32..].try_into().expect("32 bytes");
    let sql = "INSERT INTO main.file_objects (organization_id, id, sha256, size, condemned, created_at) \
         VALUES ($1, $2, $3, 1, $4, 0)";
    let parameters = vec![
        organization.into(),
        object.into(),
        hash.into(),
        false.into(),
    ];
    ask(world, sql, parameters).await;
    let sql = "INSERT INTO main.files (organization_id, workspace_id, id, object_id, name, content_type, \
         size, sha256, created_by, created_at, unused_since) \
         VALUES ($1, $2, $3, $4, 'f', 'text/plain', 1, $5, $6, 0, 0)";
    let mut parameters: Vec<Value> = vec![organization.into(), workspace.into(), id.into()];
    parameters.extend([object.into(), hash.into(), uploader.into()]);
    ask(world, sql, parameters).await;
    id
}

/// A number that a statement gives about a file: `$1`.
pub(crate) async fn of_file(world: &World, sql: &'static str, file: Uuid) -> i64 {
    number(world, sql, vec![file.into()]).await
}

/// A workspace with a table, and the ids of what a test asks for.
struct Fixture {
    world: World,
    workspace: Uuid,
    table: Uuid,
}

impl Fixture {
    async fn new(place: Place) -> Fixture {
        Fixture::with(place, false).await
    }

    async fn with(place: Place, own_rows: bool) -> Fixture {
        let world = World::new(place).await;
        let workspace = workspace(&world, world.acme, "organization").await;
        let table = table_in(&world, (world.acme, workspace), own_rows, &COLUMNS).await;
        Fixture {
            world,
            workspace,
            table,
        }
    }

    async fn file_in(&self, place: (Uuid, Uuid), uploader: Uuid) -> Uuid {
        seed_file(&self.world, place, uploader).await
    }

    async fn file(&self, uploader: Uuid) -> Uuid {
        self.file_in((self.world.acme, self.workspace), uploader)
            .await
    }

    /// How many uses a file has, and since when it has none: nothing where that was not noted since the upload.
    async fn uses(&self, file: Uuid) -> (i64, Option<i64>) {
        let sql = "SELECT count(*) FROM file_uses WHERE file_id = $1";
        let uses = number(&self.world, sql, vec![file.into()]).await;
        let sql = "SELECT unused_since FROM files WHERE id = $1";
        let since = number(&self.world, sql, vec![file.into()]).await;
        (uses, (since > 0).then_some(since))
    }

    fn rows(&self, tail: &str) -> String {
        path(self.table, tail)
    }

    fn column(&self, client: &Client, name: &str) -> String {
        let columns = format!("/v1/features/{}/columns", self.table);
        let all = client.get(&columns).expect(200).json();
        let all = all.as_array().expect("a list");
        let column = all.iter().find(|column| column["name"] == name);
        let id = column.expect("a column")["id"].as_str().expect("an id");
        format!("{columns}/{id}")
    }
}

pub(crate) fn person(client: &Client) -> Uuid {
    let me = client.get("/v1/me").expect(200).json();
    me["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .expect("an id")
}

/// A row's path below its table.
fn tail(row: &Json) -> String {
    format!("/{}", row["id"].as_str().expect("an id"))
}

fn post(fixture: &Fixture, client: &Client, data: &Json) -> Response {
    client.post(&fixture.rows(""), &json!({"data": data}))
}

async fn a_cell_uses_a_file_that_its_writer_sees(place: Place) {
    let fixture = Fixture::new(place).await;
    let editor = fixture.world.as_user("editor@acme.test");
    let file = fixture.file(person(&editor)).await;
    let upper = file.to_string().to_uppercase();
    let row = post(&fixture, &editor, &json!({"photo": upper, "note": file}));
    let row = row.expect(201).json();
    assert_eq!(row["data"]["photo"], upper);
    assert_eq!(fixture.uses(file).await, (1, None));
    let body = json!({"data": {"scan": file, "photo": "paper"}});
    let merge = fixture.rows(&format!("{}?merge=true", tail(&row)));
    editor.patch(&merge, &body).expect(200);
    let (uses, since) = fixture.uses(file).await;
    assert_eq!((uses, since.is_some()), (1, true));
    // A batch, and a row that holds the same file twice.
    let rows = json!({"rows": [{"data": {"photo": file, "scan": file}}, {"data": {"photo": "x"}}]});
    editor.post(&fixture.rows(":batch"), &rows).expect(201);
    assert_eq!(fixture.uses(file).await.0, 3);
    // In each mode that checks values, and in no other.
    for (mode, uses) in [("on", 4), ("strict", 5), ("off", 5)] {
        let rows = fixture.rows(&format!("?validate={mode}"));
        let body = json!({"data": {"photo": file}});
        editor.post(&rows, &body).expect(201);
        assert_eq!(fixture.uses(file).await.0, uses, "{mode}");
    }
    // Other texts are none.
    let plain = file.simple().to_string();
    post(&fixture, &editor, &json!({"photo": plain})).expect(201);
    assert_eq!(fixture.uses(file).await.0, 5);
}

async fn missing_foreign_and_hidden_files_are_refused_alike(place: Place) {
    let fixture = Fixture::new(place).await;
    let world = &fixture.world;
    let editor = world.as_user("editor@acme.test");
    let owner = person(&world.as_user("owner@acme.test"));
    let stranger = person(&world.as_user("stranger@other.test"));
    let sibling = workspace(world, world.acme, "organization").await;
    let far = workspace(world, world.other, "organization").await;
    let files = [
        world.context.id(),
        fixture
            .file_in((world.acme, sibling), person(&editor))
            .await,
        fixture.file_in((world.other, far), stranger).await,
        // Somebody else has it and has shown it to nobody.
        fixture.file(owner).await,
    ];
    let mut responses = Vec::new();
    for file in files {
        let response = post(&fixture, &editor, &json!({"photo": file}));
        let mut body = response.refused(422, "validation_failed").json();
        let errors = &body["errors"];
        assert_eq!(errors[0]["path"], "data.photo", "{body}");
        body.as_object_mut().expect("members").remove("request_id");
        body.as_object_mut().expect("members").remove("instance");
        responses.push(body);
        assert!(files[0] == file || fixture.uses(file).await.0 == 0);
    }
    assert!(
        responses.iter().all(|body| *body == responses[0]),
        "{responses:#?}"
    );
    let rows = json!({"rows": [{"data": {"photo": "x"}}, {"data": {"photo": files[0]}}]});
    let body = editor.post(&fixture.rows(":batch"), &rows);
    let body = body.refused(422, "validation_failed").json();
    assert_eq!(body["errors"][0]["path"], "rows[1].data.photo");
    let strict = fixture.rows("?validate=strict");
    for file in files {
        let body = json!({"data": {"photo": file}});
        let refused = editor.post(&strict, &body);
        let body = refused.refused(422, "validation_failed").json();
        assert_eq!(body["errors"], responses[0]["errors"]);
    }
    let batch = format!("{}?validate=strict", fixture.rows(":batch"));
    let body = editor.post(&batch, &rows);
    let body = body.refused(422, "validation_failed").json();
    assert_eq!(body["errors"][0]["path"], "rows[1].data.photo");
    let listed = editor.get(&fixture.rows("")).expect(200).json();
    assert_eq!(listed["items"], json!([]), "{listed}");
    // Who sees it all may.
    let admin = world.as_user("admin@acme.test");
    post(&fixture, &admin, &json!({"photo": files[3]})).expect(201);
}

async fn what_stands_there_is_not_checked_again(place: Place) {
    let fixture = Fixture::new(place).await;
    let editor = fixture.world.as_user("editor@acme.test");
    let file = fixture.file(person(&editor)).await;
    let gone = fixture.world.context.id();
    let unchecked = format!("{}?validate=off", fixture.rows(""));
    let body = json!({"data": {"photo": file, "scan": gone}});
    let row = editor.post(&unchecked, &body).expect(201).json();
    assert_eq!(fixture.uses(file).await.0, 0);
    let row = fixture.rows(&tail(&row));
    let upper = gone.to_string().to_uppercase();
    for data in [
        json!({"photo": file, "scan": gone, "note": "1"}),
        json!({"photo": file, "scan": upper, "note": "2"}),
    ] {
        let response = editor.patch(&row, &json!({"data": data}));
        assert_eq!(response.expect(200).json()["data"], data);
    }
    let merged = json!({"data": {"note": "3"}});
    editor
        .patch(&format!("{row}?merge=true"), &merged)
        .expect(200);
    // No use was made of what nobody checked when it came.
    assert_eq!(fixture.uses(file).await.0, 0);
    // A use stays with its cell.
    let row = post(&fixture, &editor, &json!({"photo": file})).expect(201);
    let row = fixture.rows(&tail(&row.json()));
    let upper = json!({"data": {"photo": file.to_string().to_uppercase()}});
    editor.patch(&row, &upper).expect(200);
    assert_eq!(fixture.uses(file).await, (1, None));
}

async fn a_use_ends_with_its_text_its_row_its_column_and_its_table(place: Place) {
    let fixture = Fixture::new(place).await;
    let editor = fixture.world.as_user("editor@acme.test");
    let file = fixture.file(person(&editor)).await;
    let data = json!({"photo": file, "scan": file});
    let row = post(&fixture, &editor, &data).expect(201).json();
    let row = fixture.rows(&tail(&row));
    let ended = async |uses: i64| {
        let (left, since) = fixture.uses(file).await;
        assert_eq!(left, uses);
        assert_eq!(since, Some(fixture.world.context.now()));
        fixture.world.wait(1);
    };
    fixture.world.wait(1);
    let other = json!({"data": {"photo": "other"}});
    editor
        .patch(&format!("{row}?merge=true&validate=off"), &other)
        .expect(200);
    ended(1).await;
    let emptied = json!({"data": {"scan": null}});
    editor
        .patch(&format!("{row}?merge=true"), &emptied)
        .expect(200);
    ended(0).await;
    let one = post(&fixture, &editor, &data).expect(201).json();
    editor.delete(&fixture.rows(&tail(&one))).expect(204);
    ended(0).await;
    post(&fixture, &editor, &data).expect(201);
    let scan = fixture.column(&editor, "scan");
    let text = json!({"type": "text", "default_component": "textfield"});
    editor.patch(&scan, &text).expect(200);
    ended(1).await;
    // It does not come back with the type.
    let again = json!({"type": "file", "default_component": "filefield"});
    editor.patch(&scan, &again).expect(200);
    assert_eq!(fixture.uses(file).await.0, 1);
    let photo = fixture.column(&editor, "photo");
    editor.delete(&format!("{photo}?force=true")).expect(204);
    ended(0).await;
    post(&fixture, &editor, &json!({"scan": file})).expect(201);
    assert_eq!(fixture.uses(file).await.0, 1);
    let table = format!("/v1/features/{}?force=true", fixture.table);
    editor.delete(&table).expect(204);
    ended(0).await;
}

async fn only_a_checked_write_makes_a_use(place: Place) {
    let fixture = Fixture::new(place).await;
    let world = &fixture.world;
    let editor = world.as_user("editor@acme.test");
    let file = fixture.file(person(&editor)).await;
    // A text before its column is one of files, and a key before its column is there.
    let data = json!({"photo": "x", "note": file, "later": file});
    let row = post(&fixture, &editor, &data).expect(201).json();
    let columns = format!("/v1/features/{}/columns", fixture.table);
    let later = json!({"label": "later", "name": "later", "type": "file"});
    editor.post(&columns, &later).expect(201);
    let note = fixture.column(&editor, "note");
    let becomes = json!({"type": "file", "default_component": "filefield"});
    editor.patch(&note, &becomes).expect(200);
    let unchecked = format!("{}?validate=off", fixture.rows(""));
    editor
        .post(&unchecked, &json!({"data": {"photo": file}}))
        .expect(201);
    assert_eq!(fixture.uses(file).await, (0, None));
    // Touching the row makes none either.
    let merge = fixture.rows(&format!("{}?merge=true", tail(&row)));
    let same = json!({"data": {"photo": "y", "later": file}});
    editor.patch(&merge, &same).expect(200);
    assert_eq!(fixture.uses(file).await, (0, None));
}

async fn who_saw_the_row_sees_the_file_no_longer(place: Place) {
    let fixture = Fixture::new(place).await;
    let world = &fixture.world;
    let editor = world.as_user("editor@acme.test");
    world.person("other@acme.test").await;
    let editing = tplkit_server::auth::Role::Editor;
    world.member(world.acme, "other@acme.test", editing).await;
    let other = world.as_user("other@acme.test");
    let file = fixture.file(person(&editor)).await;
    let attach = json!({"photo": file});
    post(&fixture, &other, &attach).refused(422, "validation_failed");
    let row = post(&fixture, &editor, &attach).expect(201).json();
    let seen = post(&fixture, &other, &attach).expect(201).json();
    for row in [row, seen] {
        let detached = json!({"data": {"photo": "none"}});
        other
            .patch(&fixture.rows(&tail(&row)), &detached)
            .expect(200);
    }
    post(&fixture, &other, &attach).refused(422, "validation_failed");
    post(&fixture, &editor, &attach).expect(201);
}

async fn rows_that_are_kept_from_somebody_lose_their_uses_with_the_column(place: Place) {
    let fixture = Fixture::with(place, true).await;
    let editor = fixture.world.as_user("editor@acme.test");
    let admin = fixture.world.as_user("admin@acme.test");
    let file = fixture.file(person(&admin)).await;
    post(&fixture, &admin, &json!({"photo": file})).expect(201);
    // The row is not theirs, so they do not see the file.
    post(&fixture, &editor, &json!({"photo": file})).refused(422, "validation_failed");
    fixture.world.wait(1);
    let photo = fixture.column(&editor, "photo");
    editor.delete(&format!("{photo}?force=true")).expect(204);
    let now = fixture.world.context.now();
    assert_eq!(fixture.uses(file).await, (0, Some(now)));
}

/// Each process goes by its own clock.
async fn a_clock_that_is_behind_shortens_no_grace(place: Place) {
    let fixture = Fixture::new(place).await;
    let editor = fixture.world.as_user("editor@acme.test");
    let file = fixture.file(person(&editor)).await;
    let used_once = || {
        let row = post(&fixture, &editor, &json!({"photo": file}));
        let row = fixture.rows(&tail(&row.expect(201).json()));
        editor.delete(&row).expect(204);
    };
    fixture.world.wait(100);
    used_once();
    let last = fixture.world.context.now();
    assert_eq!(fixture.uses(file).await, (0, Some(last)));
    fixture.world.wait(-50);
    used_once();
    assert_eq!(fixture.uses(file).await, (0, Some(last)));
    // Of one of which nothing was noted, or not any more, it is the upload that counts.
    let since = "UPDATE main.files SET unused_since = NULL, created_at = $2 WHERE id = $1";
    ask(&fixture.world, since, vec![file.into(), (last + 1).into()]).await;
    used_once();
    assert_eq!(fixture.uses(file).await, (0, Some(last + 1)));
    fixture.world.wait(51);
    used_once();
    let now = fixture.world.context.now();
    assert_eq!(fixture.uses(file).await, (0, Some(now)));
}

async fn a_unique_column_knows_a_file_in_other_letters(place: Place) {
    let fixture = Fixture::new(place).await;
    let editor = fixture.world.as_user("editor@acme.test");
    let file = fixture.file(person(&editor)).await.to_string();
    let other = file.to_uppercase();
    let scan = fixture.column(&editor, "scan");
    let unique = json!({"config": {"unique": true}});
    editor.patch(&scan, &unique).expect(200);
    let held = |scan: &str| json!({"photo": "x", "scan": scan});
    let row = post(&fixture, &editor, &held(&file)).expect(201).json();
    for again in [&file, &other] {
        post(&fixture, &editor, &held(again)).refused(409, "unique_violation");
    }
    // The row itself keeps what it has, however it is spelled.
    let path = format!("{}?merge=true", fixture.rows(&tail(&row)));
    for again in [&other, &file] {
        let same = json!({"data": {"scan": again}});
        editor.patch(&path, &same).expect(200);
    }
    // Other texts differ by their letters.
    post(&fixture, &editor, &held("a")).expect(201);
    post(&fixture, &editor, &held("A")).expect(201);
    post(&fixture, &editor, &held("A")).refused(409, "unique_violation");
    // So do ids, once they are texts; and then they cannot be ids again.
    let text = json!({"type": "text", "default_component": "textfield"});
    editor.patch(&scan, &text).expect(200);
    let second = post(&fixture, &editor, &held(&other)).expect(201).json();
    post(&fixture, &editor, &held(&file)).refused(409, "unique_violation");
    let files = json!({"type": "file", "default_component": "filefield"});
    editor.patch(&scan, &files).refused(409, "unique_violation");
    editor.delete(&fixture.rows(&tail(&second))).expect(204);
    editor.patch(&scan, &files).expect(200);
    post(&fixture, &editor, &held(&other)).refused(409, "unique_violation");
    editor.delete(&fixture.rows(&tail(&row))).expect(204);
    post(&fixture, &editor, &held(&other)).expect(201);
}

async fn a_cell_of_files_holds_a_text(place: Place) {
    let fixture = Fixture::new(place).await;
    let editor = fixture.world.as_user("editor@acme.test");
    let file = fixture.file(person(&editor)).await;
    for wrong in [json!(1), json!(true), json!([file]), json!({"id": file})] {
        let body = post(&fixture, &editor, &json!({"photo": "x", "scan": wrong}));
        let body = body.refused(422, "validation_failed").json();
        assert_eq!(body["errors"][0]["path"], "data.scan", "{wrong}");
    }
    assert_eq!(fixture.uses(file).await.0, 0);
    let empty = json!({"photo": "x", "scan": null});
    post(&fixture, &editor, &empty).expect(201);
}
