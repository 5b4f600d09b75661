//! Icons that are empty: they are not none, and an upgrade from or to one is written and taken back.

use serde_json::{Value, json};

use super::shop::{Shop, applied, working, workspace};
use super::upgrade::args;
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_empty_icon_is_upgraded_and_taken_back,
    an_icon_that_people_emptied_is_written_where_the_package_is_preferred,
);

/// A template of one module, and a workspace to apply it to.
struct Scene {
    world: World,
    editor: Client,
    admin: Client,
    template: String,
    there: String,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let editor = world.as_user("editor@acme.test");
        let admin = world.as_user("admin@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let module = json!({"workspace_id": shop.workspace, "label": "Sales", "icon": "cart"});
        let module = id(&editor.create("/v1/modules", &module));
        let selection = json!({"modules": [module]});
        let template = shop.template(&editor, &admin, &selection);
        let there = workspace(&editor, world.acme);
        Scene {
            world,
            editor,
            admin,
            template,
            there,
        }
    }

    /// The author gives the module an icon.
    fn publish(&self, icon: &str) {
        let kept = format!("/v1/templates/{}/package", self.template);
        let mut package = self.admin.get(&kept).expect(200).json();
        args(&mut package, "create_module", "sales")["icon"] = icon.into();
        let package = package.to_string();
        self.admin.json("PUT", &kept, &package).expect(200);
    }

    fn module(&self) -> Value {
        let path = format!("/v1/modules?workspace_id={}", self.there);
        self.editor.items(&path)[0].clone()
    }
}

async fn an_empty_icon_is_upgraded_and_taken_back(place: Place) {
    let mut scene = Scene::new(place).await;
    let _working = working(&scene.world);
    for (before, after) in [("", "star"), ("star", "")] {
        scene.there = workspace(&scene.editor, scene.world.acme);
        scene.publish(before);
        let first = json!({"workspaceId": scene.there});
        applied(&scene.editor, &scene.template, &first).await;
        assert_eq!(scene.module()["icon"], before);
        scene.publish(after);
        let upgrade = json!({"workspaceId": scene.there, "upgrade": true});
        let job = applied(&scene.editor, &scene.template, &upgrade).await;
        assert_eq!(job["report"]["structure_updated"], 1, "{job}");
        assert_eq!(scene.module()["icon"], after);
        let job = job["id"].as_str().expect("an id");
        let undo = format!("/v1/template-jobs/{job}/undo");
        scene.editor.send("POST", &undo, &[], None).expect(200);
        assert_eq!(scene.module()["icon"], before);
    }
}

async fn an_icon_that_people_emptied_is_written_where_the_package_is_preferred(place: Place) {
    let scene = Scene::new(place).await;
    let _working = working(&scene.world);
    let first = json!({"workspaceId": scene.there});
    applied(&scene.editor, &scene.template, &first).await;
    let path = format!("/v1/modules/{}", id(&scene.module()));
    let emptied = scene.editor.patch(&path, &json!({"icon": ""}));
    emptied.expect(200);
    scene.publish("star");
    let upgrade = json!({"workspaceId": scene.there, "upgrade": true, "conflicts": "theirs"});
    applied(&scene.editor, &scene.template, &upgrade).await;
    assert_eq!(scene.module()["icon"], "star");
}
