//! The library's cases of every rule about automations, over HTTP: the same verdict, word for word, and
//! what a save makes of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tplkit::automation::{IssueTarget, validate_file};
use tplkit::definitions::Definitions;
use tplkit::finding::Severity;
use tplkit::finding::catalog::RULES;
use tplkit_server::automation::channels::{NewChannel, create_channel};
use tplkit_server::store::{Row, Scope, StoreError};

use super::{PATH, body, text, workflow};
use crate::api::client::Client;
use crate::api::model::{Model, id};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(every_case_of_every_rule_gives_its_issues);

/// What the cases name, and what stands for it here.
struct Fixture {
    workspace: String,
    ids: BTreeMap<&'static str, String>,
}

impl Fixture {
    async fn new(world: &World) -> Fixture {
        let owner = world.as_user("owner@acme.test");
        let workspace = Model::new(&owner, world.acme).workspace;
        let table = |label: &str| {
            let feature = json!({"workspace_id": workspace, "label": label});
            let feature = id(&owner.create("/v1/features", &feature));
            for column in ["a", "b", "status", "note", "spaced", "ab"] {
                let column = json!({"label": column, "name": column, "type": "text"});
                owner.create(&format!("/v1/features/{feature}/columns"), &column);
            }
            feature
        };
        let ids_of_tables = [table("One"), table("Other")];
        // A name that no request can give a column, and that tables of old may have.
        for names in [("spaced", "Nome próprio"), ("ab", "a b")] {
            let renamed = world
                .store
                .write(&Scope::Operator, names, |tx, (from, to)| {
                    let sql = "UPDATE main.columns SET name = $1 WHERE name = $2 RETURNING id {across test}";
                    let names = [(*to).into(), (*from).into()];
                    Box::pin(async move { tx.query(sql, &names).await })
                });
            let renamed: Result<Vec<Row>, StoreError> = renamed.await;
            assert_eq!(renamed.expect("renames").len(), 2);
        }
        let [one, other] = ids_of_tables;
        let automation = || workflow(&owner.create(PATH, &body(&workspace, false)));
        let channel = NewChannel {
            id: world.context.id(),
            organization: world.acme,
            name: "desk".to_owned(),
            now: world.context.now(),
        };
        let channel = create_channel(&world.store, channel).await;
        let ids = [
            ("10000000-0000-4000-8000-00000000000a", one),
            ("20000000-0000-4000-8000-00000000000b", other),
            ("30000000-0000-4000-8000-00000000000c", automation()),
            ("40000000-0000-4000-8000-00000000000d", automation()),
            (
                "50000000-0000-4000-8000-00000000000e",
                channel.expect("creates").id.to_string(),
            ),
            (
                "60000000-0000-4000-8000-00000000000f",
                text(&owner.get("/v1/me").expect(200).json(), "id").to_owned(),
            ),
        ];
        Fixture {
            ids: ids.into(),
            workspace,
        }
    }

    /// A case with the ids of what is here, in the case in which they were written.
    fn placed(&self, case: &Value) -> Value {
        let mut placed = case.to_string();
        for (known, here) in &self.ids {
            placed = placed.replace(known, here);
            let upper =
                |id: &str| id[..id.len() - 1].to_owned() + &id[id.len() - 1..].to_uppercase();
            placed = placed.replace(&upper(known), &here.to_uppercase());
        }
        serde_json::from_str(&placed).expect("JSON")
    }
}

/// The issues of a verdict, without what is the same for all of them.
fn over_http(client: &Client, body: &Value) -> Vec<[String; 5]> {
    let verdict = client
        .post(&format!("{PATH}/validate"), body)
        .expect(200)
        .json();
    let issues = verdict["issues"].as_array().expect("a list").iter();
    let issues: Vec<_> = issues
        .map(|issue| {
            ["code", "severity", "target", "path", "message"].map(|key| text(issue, key).to_owned())
        })
        .collect();
    let errors = issues.iter().any(|issue| issue[1] == "error");
    assert_eq!(verdict["ok"], !errors, "{verdict}");
    issues
}

/// The same, as the command line finds them in a file.
fn offline(body: &Value) -> Vec<[String; 5]> {
    let issues = validate_file(&body.to_string(), Definitions::embedded()).expect("JSON");
    let reported = issues.iter().map(|issue| {
        let target = match issue.target {
            IssueTarget::Trigger => "trigger",
            IssueTarget::Graph | IssueTarget::Definition => "graph",
        };
        let severity = issue.finding.severity.as_str();
        let (path, message) = (&issue.path, &issue.finding.message);
        [issue.code(), severity, target, path, message].map(str::to_owned)
    });
    reported.collect()
}

async fn every_case_of_every_rule_gives_its_issues(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let fixture = Fixture::new(&world).await;
    let rules = RULES.iter().filter(|rule| rule.family() == 'A');
    let (mut cases, mut wrong) = (0, Vec::new());
    for rule in rules {
        let file = format!(
            "{}/../tests/fixtures/automation/{}.json",
            env!("CARGO_MANIFEST_DIR"),
            rule.code
        );
        let lists = std::fs::read_to_string(&file).expect("a file of cases for every rule");
        let lists: Value = serde_json::from_str(&lists).expect("JSON");
        for list in ["reported", "silent"] {
            let list_of = lists[list].as_array().expect("a list");
            assert!(
                list_of.len() >= 3,
                "{} {list}: {}",
                rule.code,
                list_of.len()
            );
            for case in list_of {
                cases += 1;
                let case = fixture.placed(case);
                let mut body = json!({"workspace_id": fixture.workspace,
                    "trigger_config": case["trigger"], "graph_config": {"steps": case["steps"]}});
                if let Some(own) = case.get("workflow_id") {
                    body["workflow_id"] = own.clone();
                }
                let reported = over_http(&owner, &body);
                let short = reported
                    .iter()
                    .map(|[code, _, _, path, _]| (code.as_str(), path.as_str()));
                let expected = case["path"].as_str().map(|path| (rule.name, path));
                let mut holds = short.eq(expected) && reported == offline(&body);
                // Who saves an automation cannot say which one it will be.
                if case.get("workflow_id").is_none() {
                    holds = holds && saved(&owner, &body, &reported, rule.severity);
                }
                if !holds {
                    wrong.push(format!("{} {}: {reported:?}", rule.code, case["why"]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(cases >= 19 * 6, "{cases}");
}

/// Whether a save is refused with the codes of the errors, and done where there is none.
fn saved(client: &Client, body: &Value, reported: &[[String; 5]], severity: Severity) -> bool {
    let mut body = body.clone();
    body["name"] = json!("a case");
    let response = client.post(PATH, &body);
    if reported.is_empty() || severity == Severity::Warning {
        return response.status == 201 && response.json()["is_draft"] == true;
    }
    let problem = response.json();
    let errors = problem["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let codes = errors.iter().map(|error| text(error, "code"));
    response.status == 422
        && codes.eq(reported.iter().map(|issue| issue[0].as_str()))
        && text(&problem, "detail").contains(&reported[0][0])
}
