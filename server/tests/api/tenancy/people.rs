//! Who asks, and what is hidden from them.

use serde_json::{Value, json};
use tplkit_server::auth::Role;
use uuid::Uuid;

use crate::api::client::Client;
use crate::api::document::{Document, Ids};
use crate::api::model::{Model, id, package, uuid};
use crate::api::world::World;
use crate::stores::Place;

/// Callers from whom the same ids are hidden.
pub(super) struct Party {
    pub(super) name: &'static str,
    /// What the caller is, and with what credential.
    pub(super) callers: Vec<(String, Option<String>)>,
    /// Stands in what is hidden from them.
    pub(super) marker: &'static str,
    /// What they see.
    pub(super) own: Ids,
    /// What they do not; names that are hidden from nobody stand with their own id.
    pub(super) hidden: Ids,
    /// Who sees what is hidden.
    pub(super) owner: Client,
}

/// Two organizations, each with records that the other does not see and some that not all of its own
/// people do.
pub(super) struct Scene {
    pub(super) world: World,
    pub(super) parties: Vec<Party>,
}

/// Stand in every text of what their names say, and nowhere else.
const ACME: &str = "markerofacme";
const OTHER: &str = "markerofother";
const CLOSED: &str = "markerofclosed";
const GUARDED: &str = "markerofguarded";

/// A client and the credential it was made with.
struct Signed(Client, String);

const SCOPES: [&[&str]; 4] = [
    &["read"],
    &["write"],
    &["write", "structure"],
    &["read", "write", "structure"],
];

fn signed(world: &World, email: &str) -> Signed {
    let result = world.token(email, crate::api::world::PASSWORD).expect(200);
    let token = result.json()["access_token"].as_str().map(str::to_owned);
    let token = token.expect("a token");
    Signed(world.nobody.with(&token), token)
}

/// Keys of an organization with every set of scopes, and the id of one of them.
fn keys(owner: &Client, organization: Uuid, marker: &str) -> (Vec<(String, String)>, String) {
    let mut made = (Vec::new(), String::new());
    for scopes in SCOPES {
        let body = json!({"organization_id": organization, "name": marker, "scopes": scopes});
        let key = owner.create("/v1/api-keys", &body);
        let text = key["key"].as_str().expect("a key").to_owned();
        made.0.push((format!("key {scopes:?}"), text));
        made.1 = id(&key);
    }
    made
}

/// Writes markers into whatever takes a text, twice, so that lists have a second page.
async fn marked(
    world: &World,
    owner: &Client,
    organization: Uuid,
    (access, config): (&str, &Value),
    (label, cell): (&str, &str),
) -> Model {
    let mut made = None;
    for _ in 0..2 {
        let model = Model::new(owner, organization)
            .with_row(owner)
            .with_named(owner, organization, label)
            .with_workflow(owner, label);
        let path = format!("/v1/templates/import?organization_id={organization}");
        let template = owner.create(&path, &package(label));
        let model = Model {
            template: id(&template),
            ..model
        };
        let model = model.with_job(world, owner).await;
        let model = model.with_file(world, owner, cell).await;
        let error = json!({"code": "internal", "detail": label}).to_string();
        let sql = "UPDATE main.template_jobs SET error = $2 WHERE id = $1";
        let parameters = vec![uuid(&model.job).into(), error.into()];
        world.sql(sql, parameters).await;
        let text = label;
        let label = json!({"label": text});
        let (workspace, feature) = (&model.workspace, &model.feature);
        let change = json!({"label": text, "access": access});
        let row = format!("/v1/features/{feature}/rows");
        let data = json!({"data": {"c": cell, cell: cell}});
        let feature = format!("/v1/features/{feature}");
        for (path, body) in [
            (format!("/v1/workspaces/{workspace}"), &change),
            (format!("/v1/modules/{}", model.module), &label),
            (format!("/v1/rails/{}", model.rail), &label),
            (format!("/v1/views/{}", model.view), &label),
            (format!("{}/{}", model.columns(), model.column), &label),
            (format!("{row}/{}", model.row), &data),
            (feature, &json!({"label": text, "config": config})),
        ] {
            owner.patch(&path, body).expect(200);
        }
        for _ in 0..2 {
            owner.create(&row, &data);
        }
        made.get_or_insert(model);
    }
    made.expect("two were made")
}

fn ids(model: &Model, organization: &str, user: &str, key: &str) -> Ids {
    let mut ids = model.ids(organization, user, key);
    // Bodies of applies have a spelling of their own.
    ids.insert("jobId", model.job.clone());
    ids
}

/// The ids of a model, everything else as in the others.
fn within(model: &Model, others: &Ids) -> Ids {
    let text = |name: &str| others[name].clone();
    let [organization, user, key] = ["organization_id", "user_id", "api_key_id"].map(text);
    let mut ids = ids(model, &organization, &user, &key);
    // These are of the organization, not of a workspace.
    for name in ["template_id", "channel_id", "connection_id"] {
        ids.insert(name, text(name));
    }
    ids
}

impl Scene {
    pub(super) async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let guest = format!("{OTHER}@other.test");
        let viewer = world.person(&guest).await;
        world.member(world.other, &guest, Role::Viewer).await;
        let member = format!("{ACME}@acme.test");
        let acme_user = world.person(&member).await;
        world.member(world.acme, &member, Role::Viewer).await;

        let owner = signed(&world, "owner@acme.test");
        let stranger = signed(&world, "stranger@other.test");
        for (client, organization, marker) in [
            (&owner.0, world.acme, ACME),
            (&stranger.0, world.other, OTHER),
        ] {
            let path = format!("/v1/organizations/{organization}");
            let change = json!({"label": marker, "config": {marker: marker}});
            client.patch(&path, &change).expect(200);
        }
        let (acme_keys, acme_key) = keys(&owner.0, world.acme, ACME);
        let (other_keys, other_key) = keys(&stranger.0, world.other, OTHER);
        let (open, own) = (json!({}), json!({"rowAccess": "own"}));
        let everybody = ("organization", &open);
        let acme = marked(&world, &owner.0, world.acme, everybody, (ACME, ACME)).await;
        let other = marked(&world, &stranger.0, world.other, everybody, (OTHER, OTHER)).await;
        let closed = marked(
            &world,
            &owner.0,
            world.acme,
            ("members", &open),
            (CLOSED, CLOSED),
        )
        .await;
        let guarded = ("organization", &own);
        // Its rows are hidden, nothing else of it.
        let guarded = marked(&world, &owner.0, world.acme, guarded, ("seen", GUARDED)).await;

        let roles = ["owner", "admin", "editor", "viewer"].map(|role| {
            let token = signed(&world, &format!("{role}@acme.test")).1;
            (role.to_owned(), Some(token))
        });
        let below = roles[2..].to_vec();
        let with_keys = |mut people: Vec<_>, keys: Vec<(String, String)>| {
            let keys = keys.into_iter().map(|(name, key)| (name, Some(key)));
            people.extend(keys);
            people.push(("anonymous".to_owned(), None));
            people
        };
        let acme_ids = ids(
            &acme,
            &world.acme.to_string(),
            &acme_user.to_string(),
            &acme_key,
        );
        let other_ids = ids(
            &other,
            &world.other.to_string(),
            &viewer.to_string(),
            &other_key,
        );
        let closed_ids = within(&closed, &acme_ids);
        let guarded_ids = within(&guarded, &acme_ids);
        // Of the guarded table only its rows are hidden.
        let mut visible_ids = guarded_ids.clone();
        visible_ids.insert("row_id", world.context.id().to_string());
        visible_ids.insert("file_id", world.context.id().to_string());
        let strangers = vec![("other owner".to_owned(), Some(stranger.1.clone()))];
        let party = |(name, marker), callers, own: &Ids, hidden: &Ids, owner: &Signed| Party {
            name,
            marker,
            callers,
            own: own.clone(),
            hidden: hidden.clone(),
            owner: owner.0.clone(),
        };
        let parties = vec![
            party(
                ("the other organization", OTHER),
                with_keys(roles.to_vec(), acme_keys),
                &acme_ids,
                &other_ids,
                &stranger,
            ),
            party(
                ("this organization, from the other", ACME),
                with_keys(strangers, other_keys),
                &other_ids,
                &acme_ids,
                &owner,
            ),
            party(
                ("a closed workspace", CLOSED),
                below.clone(),
                &acme_ids,
                &closed_ids,
                &owner,
            ),
            party(
                ("a guarded row", GUARDED),
                below,
                &visible_ids,
                &guarded_ids,
                &owner,
            ),
        ];
        Scene { world, parties }
    }

    /// Everything that could change.
    pub(super) async fn held(&self) -> Vec<(&'static str, i64)> {
        let mut held = self.world.counts().await;
        for (name, sql) in [
            ("organizations", "SELECT count(*) FROM organizations"),
            ("people", "SELECT count(*) FROM memberships"),
            ("keys", "SELECT count(*) FROM api_keys"),
            ("channels", "SELECT count(*) FROM channels"),
            ("connections", "SELECT count(*) FROM connections"),
            ("templates", "SELECT count(*) FROM templates"),
            ("payloads", "SELECT count(*) FROM template_payloads"),
            ("jobs", "SELECT count(*) FROM template_jobs"),
            ("files", "SELECT count(*) FROM files"),
        ] {
            let rows = self.world.sql(sql, vec![]).await;
            held.push((name, rows[0].get(0).expect("a count")));
        }
        held
    }

    /// Otherwise the marker could be looked for in vain.
    pub(super) fn owners_see_the_markers(&self, document: &Document) {
        for party in &self.parties {
            for operation in Document::readable() {
                // What nobody changed has no text, and not every template was applied everywhere.
                if operation.about.response == Some("Drift") {
                    continue;
                }
                let request = document.request(operation, &party.hidden);
                let result = party.owner.get(&request.path).expect(200);
                let mut names = operation.parameters();
                let differs = names.any(|name| party.own[name] != party.hidden[name]);
                // A number holds no text.
                // Nor does a run that nobody has executed.
                if differs
                    && !matches!(
                        operation.about.response,
                        Some("Aggregate" | "Run" | "RunSummaryPage")
                    )
                {
                    assert!(
                        result.body.contains(party.marker),
                        "{operation:?} {result:?}"
                    );
                }
            }
        }
    }
}
