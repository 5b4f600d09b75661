//! Organizations, and on which workers they lie.

use serde_json::json;

use super::{person, request, sign_in, workspace};
use crate::load::table;
use crate::process::{Serving, admin};
use crate::stores::Place;

/// The owner and the member of each of some organizations.
pub(super) const PEOPLE: [(&str, &str); 6] = [
    ("a@b.test", "member@b.test"),
    ("a@c.test", "member@c.test"),
    ("a@d.test", "member@d.test"),
    ("a@e.test", "member@e.test"),
    ("a@f.test", "member@f.test"),
    ("a@g.test", "member@g.test"),
];

/// An organization with an owner, a member, a key, and a table whose rows an automation copies.
pub(super) struct Tenant {
    pub(super) id: String,
    pub(super) email: &'static str,
    pub(super) member: &'static str,
    pub(super) feature: String,
    pub(super) copies: String,
    pub(super) key: String,
    /// The worker on which it lies: host and port.
    pub(super) node: String,
}

impl Tenant {
    pub(super) fn make(
        place: &Place,
        serving: &Serving,
        email: &'static str,
        member: &'static str,
    ) -> Tenant {
        let made = admin(&place.url, &["create-organization", "--label", email], "");
        let made = made.expect("a record");
        let organization = made["id"].as_str().expect("an id").to_owned();
        person(&place.url, &organization, email, "owner");
        person(&place.url, &organization, member, "editor");
        let (mut wire, _) = sign_in(serving, email);
        let workspace = workspace(&mut wire, &organization);
        let feature = table(&mut wire, &workspace, "from");
        let copies = table(&mut wire, &workspace, "to");
        let automation = json!({
            "workspace_id": workspace, "name": "a", "is_draft": false,
            "trigger_config": {"type": "record.event", "config": {"modes": ["created"], "featureId": feature}},
            "graph_config": {"steps": [
                {"key": "feature.write", "config": {"mode": "insert", "targetFeatureId": copies,
                    "bindings": [{"targetColumn": "note", "value": "{{record.note}}"}]}},
            ]},
        });
        let (status, made) = request(&mut wire, "POST", "/v1/workflows-v2", Some(&automation));
        assert_eq!(status, 201, "{made}");
        let id = made["workflow_id"].as_str().expect("an id");
        admin(&place.url, &["automation", "activate", id], "").expect("a record");
        let body =
            json!({"organization_id": organization, "name": "k", "scopes": ["read", "write"]});
        let (status, key) = request(&mut wire, "POST", "/v1/api-keys", Some(&body));
        assert_eq!(status, 201, "{key}");
        let node = worker_of(place, &organization);
        Tenant {
            id: organization,
            email,
            member,
            feature,
            copies,
            key: key["key"].as_str().expect("a key").to_owned(),
            node,
        }
    }

    pub(super) fn rows(&self) -> String {
        format!("/v1/features/{}/rows", self.feature)
    }
}

/// The worker on which an organization lies now: host and port.
pub(super) fn worker_of(place: &Place, organization: &str) -> String {
    place.ask(&format!(
        "SELECT nodename || ':' || nodeport FROM pg_dist_placement JOIN pg_dist_node USING (groupid) \
         WHERE shardid = get_shard_id_for_distribution_column('main.organizations', '{organization}'::uuid)"
    ))
}

/// Organizations that lie on different workers.
pub(super) fn on_two_workers(place: &Place, serving: &Serving) -> [Tenant; 2] {
    let one = Tenant::make(place, serving, "a@one.test", "member@one.test");
    let mut others = PEOPLE
        .iter()
        .map(|(email, member)| Tenant::make(place, serving, email, member));
    let other = others
        .find(|tenant| tenant.node != one.node)
        .expect("an organization on another worker");
    [one, other]
}

/// Has so many further organizations, in which nothing is due and `noted` of which say that lately something was.
pub(super) fn others(place: &Place, count: usize, noted: usize) {
    let person = "00000000-0000-4000-8000-000000000000";
    let id = "('00000000-0000-4000-9000-' || lpad(to_hex(n), 12, '0'))::uuid";
    for statement in [
        format!(
            "INSERT INTO main.users VALUES ('{person}', 'of@others.test', '', false, 0) ON CONFLICT DO NOTHING"
        ),
        format!(
            "INSERT INTO main.organizations (id, label, config, created_at, updated_at) \
             SELECT {id}, 'o', '{{}}', 0, 0 FROM generate_series(1, {count}) AS n ON CONFLICT DO NOTHING"
        ),
        format!(
            "INSERT INTO main.memberships (organization_id, user_id, email, role, created_at) \
             SELECT {id}, '{person}', 'of@others.test', 'owner', 0 FROM generate_series(1, {count}) AS n \
             ON CONFLICT DO NOTHING"
        ),
        // As if each of them put something in until the test ends.
        format!(
            "INSERT INTO main.queue_notes SELECT {id}, 4000000000000000 FROM generate_series(1, {noted}) AS n \
             ON CONFLICT DO NOTHING"
        ),
    ] {
        place.ask(&statement);
    }
}
