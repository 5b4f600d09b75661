//! How long a label and a description may be.

use serde_json::{Value, json};

use super::client::{Client, Response};
use super::model::{Model, package};
use super::workflows::{PATH, path, workflow};
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_label_has_1_to_255_characters,
    a_package_with_longer_texts_is_refused,
    what_becomes_a_label_in_a_package_is_as_long_as_one,
);

/// The paths of creates and of changes, with what their bodies need next to a label.
fn records(world: &World, model: &Model) -> Vec<(&'static str, String, Value)> {
    let feature = &model.feature;
    let acme = world.acme.to_string();
    let of = |kind: &str, id: &str| format!("/v1/{kind}/{id}");
    vec![
        (
            "POST",
            "/v1/workspaces".to_owned(),
            json!({"organization_id": acme}),
        ),
        (
            "POST",
            "/v1/modules".to_owned(),
            json!({"workspace_id": model.workspace}),
        ),
        (
            "POST",
            "/v1/rails".to_owned(),
            json!({"module_id": model.module}),
        ),
        (
            "POST",
            "/v1/features".to_owned(),
            json!({"workspace_id": model.workspace}),
        ),
        (
            "POST",
            "/v1/views".to_owned(),
            json!({"feature_id": feature, "type": "table"}),
        ),
        (
            "POST",
            format!("/v1/features/{feature}/columns"),
            json!({"type": "text"}),
        ),
        ("PATCH", world.path(""), json!({})),
        ("PATCH", of("workspaces", &model.workspace), json!({})),
        ("PATCH", of("modules", &model.module), json!({})),
        ("PATCH", of("rails", &model.rail), json!({})),
        ("PATCH", of("features", feature), json!({})),
        ("PATCH", of("views", &model.view), json!({})),
        (
            "PATCH",
            format!("/v1/features/{feature}/columns/{}", model.column),
            json!({}),
        ),
        (
            "PATCH",
            model.put_into("/v1/templates/{template_id}"),
            json!({}),
        ),
    ]
}

async fn a_label_has_1_to_255_characters(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme).with_template(&owner, world.acme);
    let send = |client: &Client, method: &str, path: &str, body: &Value| -> Response {
        client.json(method, path, &body.to_string())
    };
    for (method, path, mut body) in records(&world, &model) {
        for label in [
            String::new(),
            "x".repeat(256),
            "é".repeat(300),
            "x".repeat(3_900_000),
        ] {
            body["label"] = label.into();
            let refused = send(&owner, method, &path, &body).refused(422, "validation_failed");
            assert_eq!(
                refused.json()["errors"][0]["path"],
                "label",
                "{method} {path}"
            );
        }
        for label in ["x".to_owned(), "😀".repeat(255)] {
            body["label"] = label.as_str().into();
            let record = send(&owner, method, &path, &body);
            assert!(record.status < 300, "{method} {path} {record:?}");
            assert_eq!(record.json()["label"], label, "{method} {path}");
        }
    }
    let template = model.put_into("/v1/templates/{template_id}");
    for (length, status) in [(10_001, 422), (10_000, 200), (0, 200)] {
        let body = json!({"description": "é".repeat(length)});
        owner.patch(&template, &body).expect(status);
    }
    owner
        .patch(&template, &json!({"description": null}))
        .expect(200);
    for (name, status) in [
        ("x".repeat(256), 422),
        (String::new(), 422),
        ("x".repeat(255), 201),
    ] {
        let body = json!({"organization_id": world.acme, "name": name, "scopes": ["read"]});
        owner.post("/v1/api-keys", &body).expect(status);
    }
}

async fn a_package_with_longer_texts_is_refused(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let long = "x".repeat(256);
    let import = |manifest: &dyn Fn(&mut Value)| {
        let mut package = package("x");
        manifest(&mut package["manifest"]);
        owner.post("/v1/templates/import", &package)
    };
    let refused = |response: Response, place: &str| {
        let refused = response.expect(422).json();
        let errors = refused["errors"].as_array().expect("a list");
        assert_eq!(errors.len(), 1, "{refused}");
        assert_eq!(errors[0]["code"], "M008", "{refused}");
        assert_eq!(errors[0]["path"], place, "{refused}");
    };
    refused(
        import(&|manifest| manifest["label"] = long.as_str().into()),
        "/manifest/label",
    );
    refused(
        import(&|manifest| manifest["description"] = "x".repeat(10_001).into()),
        "/manifest/description",
    );
    refused(
        import(&|manifest| manifest["items"][0]["label"] = long.as_str().into()),
        "/manifest/items/0/label",
    );
    refused(
        import(&|manifest| manifest["plan"]["steps"][1]["args"]["label"] = long.as_str().into()),
        "/manifest/plan/steps/1/args/label",
    );
    import(&|manifest| {
        manifest["label"] = long[1..].into();
        manifest["description"] = "é".repeat(10_000).into();
        manifest["plan"]["steps"][1]["args"]["label"] = long[1..].into();
    })
    .expect(201);
}

async fn what_becomes_a_label_in_a_package_is_as_long_as_one(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme);
    let lengths = [
        (0, false),
        (1, true),
        (255, true),
        (256, false),
        (3_900_000, false),
    ];
    let body = json!({"workspace_id": model.workspace, "name": "a", "is_draft": false,
        "trigger_config": {"type": "manual"}, "graph_config": {"steps": []}});
    let it = workflow(&owner.create(PATH, &body));
    assert!(world.switch(&it, true).await);
    let export = format!("/v1/workspaces/{}/export", model.workspace);
    for (length, fits) in lengths {
        let text = "x".repeat(length);
        let mut new = body.clone();
        new["name"] = text.as_str().into();
        let requests = [
            (PATH.to_owned(), new, 201, "name"),
            (path(&it, "/versions"), json!({"name": text}), 201, "name"),
            (
                export.clone(),
                json!({"identity": {"label": text}}),
                200,
                "identity.label",
            ),
        ];
        for (path, body, good, place) in requests {
            let response = owner.post(&path, &body);
            if fits {
                response.expect(good);
            } else {
                let refused = response.refused(422, "validation_failed").json();
                assert_eq!(refused["errors"][0]["path"], place, "{length}");
            }
        }
    }
    let long = json!({"identity": {"description": "x".repeat(10_001)}});
    owner.post(&export, &long).refused(422, "validation_failed");
}
