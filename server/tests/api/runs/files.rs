//! Files that automations write into cells, and that their versions name.

use serde_json::{Value, json};
use uuid::Uuid;

use super::{Stage, ended, write};
use crate::api::rows::{of_file, person, seed_file};
use crate::api::workflows::{PATH, graph, path, workflow};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_step_uses_a_file_that_the_run_sees,
    every_mode_of_a_step_checks_its_files,
    a_step_finds_its_row_by_a_file_in_any_letters,
    a_file_in_other_letters_fires_nothing,
    a_version_keeps_its_files_until_another_one_is_in_force,
    a_version_inherits_a_file_for_those_who_see_it,
    whoever_sees_the_workspace_sees_that_a_version_keeps_a_file,
);

const USES: &str = "SELECT count(*) FROM file_uses WHERE file_id = $1";
const HOLDS: &str = "SELECT count(*) FROM file_holds WHERE file_id = $1";
const SINCE: &str = "SELECT unused_since FROM files WHERE id = $1";

async fn file(stage: &Stage, uploader: Uuid) -> Uuid {
    let workspace = stage.model.workspace.parse().expect("an id");
    seed_file(&stage.world, (stage.world.acme, workspace), uploader).await
}

async fn a_step_uses_a_file_that_the_run_sees(place: Place) {
    let stage = Stage::new(place).await;
    let out = stage.table();
    let columns = format!("/v1/features/{out}/columns");
    let photo = json!({"label": "photo", "type": "file"});
    stage.editor.create(&columns, &photo);
    let seen = file(&stage, person(&stage.editor)).await;
    let owner = stage.world.as_user("owner@acme.test");
    let hidden = file(&stage, person(&owner)).await;
    for (file, uses) in [(seen, 1), (hidden, 0)] {
        let steps = json!([write("insert", &out, &[("photo", json!(file))])]);
        let manual = json!({"type": "manual"});
        let it = stage.fires(&manual, &steps).await;
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        stage.run_due().await;
        let run = stage.run(&it);
        if uses == 1 {
            assert_eq!(ended(&run), ("succeeded", ""), "{run}");
        } else {
            let (status, why) = ended(&run);
            assert_eq!(status, "failed", "{run}");
            assert!(why.contains("names no file of this workspace"), "{run}");
        }
        assert_eq!(of_file(&stage.world, USES, file).await, uses);
    }
}

async fn every_mode_of_a_step_checks_its_files(place: Place) {
    let stage = Stage::new(place).await;
    let table = stage.model.feature.clone();
    let columns = format!("/v1/features/{table}/columns");
    let photo = json!({"label": "photo", "type": "file"});
    stage.editor.create(&columns, &photo);
    let row = stage.row(&table, &json!({"status": "a"}));
    let merge = format!("{}/{row}?merge=true", Stage::rows(&table));
    let seen = file(&stage, person(&stage.editor)).await;
    let owner = stage.world.as_user("owner@acme.test");
    let hidden = file(&stage, person(&owner)).await;
    for mode in ["update", "upsert", "updateTrigger"] {
        for (file, uses) in [(seen, 1), (hidden, 0)] {
            let cells = [("status", json!("a")), ("photo", json!(file))];
            let mut step = write(mode, &table, &cells);
            if mode != "updateTrigger" {
                step["config"]["matchColumn"] = json!("status");
            }
            let manual = json!({"type": "manual"});
            let it = stage.fires(&manual, &json!([step])).await;
            let begin = json!({"row_id": row, "feature_id": table});
            stage.editor.post_to(&it, "/runs", &begin).expect(202);
            stage.run_due().await;
            let run = stage.run(&it);
            let (status, why) = ended(&run);
            if uses == 1 {
                assert_eq!((status, why), ("succeeded", ""), "{mode}: {run}");
            } else {
                assert_eq!(status, "failed", "{mode}: {run}");
                assert!(
                    why.contains("names no file of this workspace"),
                    "{mode}: {run}"
                );
            }
            assert_eq!(of_file(&stage.world, USES, file).await, uses, "{mode}");
            let emptied = json!({"data": {"photo": null}});
            stage.editor.patch(&merge, &emptied).expect(200);
        }
    }
}

async fn a_step_finds_its_row_by_a_file_in_any_letters(place: Place) {
    let stage = Stage::new(place).await;
    for config in [json!({}), json!({"unique": true})] {
        let table = stage.table();
        let columns = format!("/v1/features/{table}/columns");
        let photo = json!({"label": "photo", "type": "file", "config": config});
        stage.editor.create(&columns, &photo);
        let seen = file(&stage, person(&stage.editor)).await.to_string();
        stage.row(&table, &json!({"photo": seen, "status": "before"}));
        for mode in ["update", "upsert"] {
            let cells = [
                ("photo", json!(seen.to_uppercase())),
                ("status", json!(mode)),
            ];
            let mut step = write(mode, &table, &cells);
            step["config"]["matchColumn"] = json!("photo");
            let manual = json!({"type": "manual"});
            let it = stage.fires(&manual, &json!([step])).await;
            stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
            stage.run_due().await;
            let run = stage.run(&it);
            assert_eq!(ended(&run), ("succeeded", ""), "{mode} {config}: {run}");
            let rows = stage.all(&table);
            let statuses: Vec<&Value> = rows.iter().map(|row| &row["status"]).collect();
            assert_eq!(statuses, [&json!(mode)], "{config}");
        }
    }
}

fn mail(file: &str) -> Value {
    json!([{"key": "email.send", "config": {"to": "a@b.test", "subject": "s", "body": "b", "attachmentFileId": file}}])
}

async fn a_file_in_other_letters_fires_nothing(place: Place) {
    let stage = Stage::new(place).await;
    let table = stage.model.feature.clone();
    let columns = format!("/v1/features/{table}/columns");
    stage
        .editor
        .create(&columns, &json!({"label": "photo", "type": "file"}));
    let say = json!([{"key": "notify", "config": {"scopeType": "organization", "title": "x"}}]);
    let watching = |watched: &str| Stage::on(&table, &["updated"], &[watched]);
    let photo = stage.fires(&watching("photo"), &say).await;
    let status = stage.fires(&watching("status"), &say).await;
    let id = file(&stage, person(&stage.editor)).await;
    let (lower, upper) = (id.to_string(), id.to_string().to_uppercase());
    let row = stage.row(&table, &json!({"photo": lower, "status": lower}));
    let at = format!("{}/{row}", Stage::rows(&table));
    for (cells, fired) in [
        (json!({"photo": upper, "status": lower}), (0, 0)),
        (json!({"photo": lower, "status": upper}), (0, 1)),
        (json!({"photo": null, "status": upper}), (1, 1)),
    ] {
        let change = json!({"data": cells});
        stage.editor.patch(&at, &change).expect(200);
        stage.run_due().await;
        let runs = (stage.runs(&photo).len(), stage.runs(&status).len());
        assert_eq!(runs, fired, "{change}");
    }
}

async fn a_version_keeps_its_files_until_another_one_is_in_force(place: Place) {
    let stage = Stage::new(place).await;
    let body = |steps: &Value| {
        json!({"workspace_id": stage.model.workspace, "name": "a", "is_draft": false,
            "trigger_config": {"type": "manual"}, "graph_config": graph(steps)})
    };
    let owner = stage.world.as_user("owner@acme.test");
    let hidden = file(&stage, person(&owner)).await;
    for unseen in [hidden, stage.world.context.id()] {
        let refused = stage
            .editor
            .post(PATH, &body(&mail(&unseen.to_string())))
            .refused(422, "invalid_automation");
        assert_eq!(refused.json()["errors"][0]["code"], "step_config_invalid");
    }
    let kept = file(&stage, person(&stage.editor)).await;
    let first = stage
        .editor
        .create(PATH, &body(&mail(&kept.to_string().to_uppercase())));
    assert_eq!(of_file(&stage.world, HOLDS, kept).await, 1);
    // It shows nobody the file, and keeps it.
    assert_eq!(of_file(&stage.world, USES, kept).await, 0);
    stage
        .editor
        .delete(&format!("/v1/files/{kept}"))
        .refused(409, "not_empty");
    let it = workflow(&first);
    let (editor, world) = (&stage.editor, &stage.world);
    assert!(world.switch(&it, true).await);
    let released = async |now: i64| {
        assert_eq!(of_file(world, HOLDS, kept).await, 0);
        assert_eq!(of_file(world, SINCE, kept).await, now);
    };
    // A draft takes nothing from the version in force; published it does.
    let without = json!({"graph_config": graph(&crate::api::workflows::steps())});
    editor.post_to(&it, "/versions", &without).expect(201);
    assert_eq!(of_file(world, HOLDS, kept).await, 1);
    world.wait(1);
    editor.post_to(&it, "/apply", &json!({})).expect(200);
    released(world.context.now()).await;
    let with = json!({"graph_config": graph(&mail(&kept.to_string()))});
    editor.post_to(&it, "/versions", &with).expect(201);
    assert_eq!(of_file(world, HOLDS, kept).await, 1);
    world.wait(1);
    editor.delete(&path(&it, "?force=true")).expect(204);
    released(world.context.now()).await;
}

async fn a_version_inherits_a_file_for_those_who_see_it(place: Place) {
    let stage = Stage::new(place).await;
    let (editor, world) = (&stage.editor, &stage.world);
    let admin = world.as_user("admin@acme.test");
    let kept = file(&stage, person(&admin)).await;
    let body = json!({"workspace_id": stage.model.workspace, "name": "a", "is_draft": false,
        "trigger_config": {"type": "manual"}, "graph_config": graph(&mail(&kept.to_string()))});
    let it = workflow(&admin.create(PATH, &body));
    assert!(world.switch(&it, true).await);
    let of = format!("/v1/files/{kept}");
    editor.get(&of).refused(404, "not_found");
    // Whoever saves a version attaches what it inherits.
    let named = json!({"name": "b"});
    for body in [&named, &json!({"trigger_config": {"type": "manual"}})] {
        let refused = editor.post_to(&it, "/versions", body);
        let refused = refused.refused(422, "invalid_automation").json();
        assert_eq!(refused["errors"][0]["code"], "step_config_invalid");
    }
    assert_eq!(of_file(world, HOLDS, kept).await, 1);
    admin.post_to(&it, "/versions", &named).expect(201);
    assert_eq!(of_file(world, HOLDS, kept).await, 2);
    // Whoever publishes it saves nothing: the version in force keeps its file.
    editor.post_to(&it, "/apply", &json!({})).expect(200);
    assert_eq!(of_file(world, HOLDS, kept).await, 1);
    admin.delete(&of).refused(409, "not_empty");
}

async fn whoever_sees_the_workspace_sees_that_a_version_keeps_a_file(place: Place) {
    let stage = Stage::new(place).await;
    let (editor, world) = (&stage.editor, &stage.world);
    let admin = world.as_user("admin@acme.test");
    let kept = file(&stage, person(editor)).await;
    let body = json!({"workspace_id": stage.model.workspace, "name": "a", "is_draft": false,
        "trigger_config": {"type": "manual"}, "graph_config": graph(&mail(&kept.to_string()))});
    admin.create(PATH, &body);
    let of = format!("/v1/files/{kept}");
    editor.delete(&of).refused(409, "not_empty");
    // No administrator is needed: nothing of this use is hidden from an editor.
    editor.delete(&format!("{of}?force=true")).expect(204);
    assert_eq!(of_file(world, HOLDS, kept).await, 0);
    editor.get(&of).refused(404, "not_found");
}
