//! A database that is distributed over a Citus cluster: how it is made, that processes agree about it, and what goes on
//! while a worker is away. All but the refusals need a cluster that is at hand (`TPLKIT_TEST_CITUS`); with that
//! variable the tests of the API run on it, too.

use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tplkit_server_testkit::citus::{self, Citus};

use crate::kill::Wire;
use crate::load::{Load, all, assert_exact, notes, table};
use crate::process::{EMAIL, SECRET, Serving, admin, owner, run, stderr, stdout};
use crate::stores::Place;

/// How often changes are made in one process and asked of another.
const ROUNDS: usize = 8;
/// How many clients want the same at once.
const RACERS: usize = 16;

fn distribute(url: &str) -> Value {
    let output = run(&["migrate", "--distributed", "--database", url]);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("one document")
}

fn serve(place: &Place) -> Serving {
    Serving::start_with(
        &place.url,
        &["--rate-limit", "off", "--lease-seconds", "1"],
        &[],
    )
}

/// Signs in, and gives a connection with the tokens.
fn sign_in(serving: &Serving, email: &str) -> (Wire, Value) {
    let mut wire = Wire::new(serving, "");
    let body = json!({"email": email, "password": SECRET});
    let (status, tokens) = wire
        .ask("POST", "/v1/auth/token", Some(&body))
        .expect("a response");
    assert_eq!(status, 200, "{tokens}");
    let token = tokens["access_token"].as_str().expect("a token");
    (Wire::new(serving, token), tokens)
}

/// A person who can sign in, with a role in an organization; gives the id.
fn person(url: &str, organization: &str, email: &str, role: &str) -> String {
    let create = ["create-user", "--email", email, "--password-stdin"];
    let made = admin(url, &create, SECRET).expect("a record");
    let add = [
        "add-member",
        "--organization",
        organization,
        "--email",
        email,
        "--role",
        role,
    ];
    admin(url, &add, "").expect("a record");
    made["id"].as_str().expect("an id").to_owned()
}

fn workspace(wire: &mut Wire, organization: &str) -> String {
    let body = json!({"organization_id": organization, "label": "W"});
    wire.made("/v1/workspaces", &body)
}

#[track_caller]
fn request(wire: &mut Wire, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    wire.ask(method, path, body).expect("a response")
}

/// Where there is no Citus, nothing is changed and the message says what to do.
#[test]
fn a_database_without_citus_is_not_distributed() {
    let file = ["migrate", "--distributed", "--database", "sqlite::memory:"];
    let refused = run(&file);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("--database"),
        "{}",
        stderr(&refused)
    );
    let Some(place) = Place::plain_postgres() else {
        return;
    };
    let refused = run(&["migrate", "--distributed", "--database", &place.url]);
    assert_eq!(refused.status.code(), Some(1));
    let why = stderr(&refused);
    assert!(why.contains("CREATE EXTENSION citus"), "{why}");
    owner(&place.url);
}

#[test]
fn a_database_is_distributed_once_and_with_what_it_holds() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::undistributed(citus);
    // It was in use before.
    let organization = owner(&place.url);
    let report = distribute(&place.url);
    assert_eq!(report["workers"], citus.nodes.len() - 1);
    assert_eq!(report["changed"], true);
    let distributed = report["distributed"].as_array().expect("a list").len();
    assert!(distributed > 25, "{report}");
    let again = distribute(&place.url);
    assert_eq!(again["changed"], false, "{again}");
    assert_eq!(again["distributed"], json!([]));
    // An older version did it: no server starts before this one has, which brings the schema up to date and makes
    // policies anew on every node.
    place.ask("COMMENT ON FUNCTION main.set_on_all_nodes(text[], text[]) IS 'another'");
    place.ask("DELETE FROM main.schema_migrations WHERE name = '0019_numbers_of_files'");
    place.ask("DROP INDEX main.file_uses_by_file");
    for replaced in [
        "CREATE INDEX file_uses_of_file ON main.file_uses (organization_id, file_id)",
        "DROP FUNCTION main.note_queue(uuid)",
        "CREATE FUNCTION main.note_queue(organization uuid) RETURNS bigint LANGUAGE sql AS 'SELECT 1'",
    ] {
        place.ask(replaced);
    }
    let refused = run(&["migrate", "--database", &place.url]);
    assert_eq!(refused.status.code(), Some(1));
    let why = stderr(&refused);
    assert!(why.contains("migrate --distributed"), "{why}");
    let anew = distribute(&place.url);
    assert_eq!(anew["changed"], true, "{anew}");
    assert_eq!(anew["distributed"], json!([]));
    let indexes = "SELECT string_agg(indexname, ' ' ORDER BY indexname) FROM pg_indexes \
         WHERE indexname LIKE 'file_uses_%_file'";
    assert_eq!(place.ask(indexes), "file_uses_by_file");
    let placed = "SELECT count(*) FROM pg_dist_partition WHERE partmethod = 'h'";
    assert_eq!(place.ask(placed), distributed.to_string());
    let colocated =
        "SELECT count(DISTINCT colocationid) FROM pg_dist_partition WHERE partmethod = 'h'";
    assert_eq!(place.ask(colocated), "1");
    let policies =
        "SELECT count(*) FROM pg_policies WHERE schemaname = 'main' AND qual LIKE '%SELECT%'";
    assert_eq!(place.ask(policies), "0");
    let serving = serve(&place);
    let (mut wire, _) = sign_in(&serving, EMAIL);
    let (status, found) = request(&mut wire, "GET", "/v1/organizations", None);
    assert_eq!(
        (status, &found["items"][0]["id"]),
        (200, &json!(organization))
    );
    let workspace = workspace(&mut wire, &organization);
    table(&mut wire, &workspace, "t");
    // Nothing of it is left on the coordinator.
    let left = "SELECT count(*) FROM ONLY main.organizations";
    assert_eq!(place.ask(left), "1");
}

#[test]
fn processes_agree_about_a_distributed_database() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::distributed(citus);
    let organization = owner(&place.url);
    let processes = [(); 3].map(|()| serve(&place));
    let (mut one, _) = sign_in(&processes[0], EMAIL);
    let mut two = Wire::new(&processes[1], &one.token);
    let workspace = workspace(&mut one, &organization);
    let feature = table(&mut one, &workspace, "t");
    let rows = format!("/v1/features/{feature}/rows");
    let columns = format!("/v1/features/{feature}/columns");
    for round in 0..ROUNDS {
        // Sessions: a pair is refreshed, its first token is used up, and signing out is seen everywhere.
        let (_, tokens) = sign_in(&processes[round % 3], EMAIL);
        let refresh = json!({"refresh_token": tokens["refresh_token"]});
        let mut other = Wire::new(&processes[(round + 1) % 3], "");
        let (status, next) = request(&mut other, "POST", "/v1/auth/refresh", Some(&refresh));
        assert_eq!(status, 200, "{next}");
        other.token = next["access_token"].as_str().expect("a token").to_owned();
        assert_eq!(request(&mut other, "GET", "/v1/me", None).0, 200);
        let end = json!({"refresh_token": next["refresh_token"]});
        assert_eq!(
            request(&mut two, "POST", "/v1/auth/logout", Some(&end)).0,
            204
        );
        assert_eq!(request(&mut other, "GET", "/v1/me", None).0, 401);

        // Keys.
        let body =
            json!({"organization_id": organization, "name": "k", "scopes": ["read", "write"]});
        let (status, key) = request(&mut one, "POST", "/v1/api-keys", Some(&body));
        assert_eq!(status, 201, "{key}");
        let secret = key["key"].as_str().expect("a key").to_owned();
        let mut keyed = Wire::new(&processes[(round + 2) % 3], &secret);
        assert_eq!(request(&mut keyed, "GET", &rows, None).0, 200);
        let id = key["id"].as_str().expect("an id");
        let gone = request(&mut two, "DELETE", &format!("/v1/api-keys/{id}"), None);
        assert_eq!(gone.0, 204);
        assert_eq!(request(&mut keyed, "GET", &rows, None).0, 401);

        // Columns: what one process requires, another one demands.
        let name = format!("c{round}");
        let column =
            json!({"name": name, "label": name, "type": "text", "config": {"required": true}});
        let (status, column) = request(&mut one, "POST", &columns, Some(&column));
        assert_eq!(status, 201, "{column}");
        let strict = format!("{rows}?validate=strict");
        let without = json!({"data": {"note": "n"}});
        assert_eq!(request(&mut two, "POST", &strict, Some(&without)).0, 422);
        let with = json!({"data": {"note": "n", name: "x"}});
        let (status, row) = request(&mut two, "POST", &strict, Some(&with));
        assert_eq!(status, 201, "{row}");
        let id = column["id"].as_str().expect("an id");
        let dropped = request(
            &mut two,
            "DELETE",
            &format!("{columns}/{id}?force=true"),
            None,
        );
        assert!([200, 204].contains(&dropped.0), "{dropped:?}");
        let (status, row) = request(&mut one, "POST", &strict, Some(&without));
        assert_eq!(status, 201, "{row}");
    }

    // Of many that send one request at once, one is carried out.
    let racers = |path: &str, body: &dyn Fn(usize) -> Value, key: &str| -> Vec<u16> {
        thread::scope(|scope| {
            let racers: Vec<_> = (0..RACERS)
                .map(|racer| {
                    let mut wire = Wire::new(&processes[racer % 3], &one.token);
                    let body = body(racer);
                    scope.spawn(move || {
                        let response = wire.ask_with_key(key, "POST", path, Some(&body));
                        response.expect("a response").0
                    })
                })
                .collect();
            racers
                .into_iter()
                .map(|racer| racer.join().expect("ends"))
                .collect()
        })
    };
    let before = all(&mut one_of(&processes[0], &two.token), &rows).len();
    for round in 0..ROUNDS {
        let key = format!("key-{round}");
        let statuses = racers(&rows, &|_| json!({"data": {"note": "once"}}), &key);
        assert!(
            statuses.iter().all(|status| [201, 409].contains(status)),
            "{statuses:?}"
        );
        assert!(statuses.contains(&201));
    }
    let mut wire = one_of(&processes[1], &two.token);
    assert_eq!(all(&mut wire, &rows).len(), before + ROUNDS);

    let unique = json!({"name": "u", "label": "u", "type": "text", "config": {"unique": true}});
    let (status, made) = request(&mut wire, "POST", &columns, Some(&unique));
    assert_eq!(status, 201, "{made}");
    for round in 0..ROUNDS {
        let body = |_: usize| json!({"data": {"note": "n", "u": format!("value-{round}")}});
        let statuses = racers(&rows, &body, "");
        let made = statuses.iter().filter(|status| **status == 201).count();
        assert_eq!(made, 1, "{statuses:?}");
        assert!(
            statuses.iter().all(|status| [201, 409].contains(status)),
            "{statuses:?}"
        );
    }

    // A person is taken down, up and out.
    let member = person(&place.url, &organization, "member@acme.test", "viewer");
    let (mut theirs, _) = sign_in(&processes[2], "member@acme.test");
    let path = format!("/v1/organizations/{organization}/members/{member}");
    let row = json!({"data": {"note": "theirs", "u": "theirs"}});
    assert_eq!(request(&mut theirs, "GET", &rows, None).0, 200);
    assert_eq!(request(&mut theirs, "POST", &rows, Some(&row)).0, 403);
    let editor = json!({"role": "editor"});
    assert_eq!(request(&mut wire, "PATCH", &path, Some(&editor)).0, 200);
    assert_eq!(request(&mut theirs, "POST", &rows, Some(&row)).0, 201);
    // The workspace is closed, opened to them, and closed with their membership.
    let this = format!("/v1/workspaces/{workspace}");
    let closed = json!({"access": "members"});
    assert_eq!(request(&mut wire, "PATCH", &this, Some(&closed)).0, 200);
    assert_eq!(request(&mut theirs, "GET", &rows, None).0, 404);
    let listed = format!("{this}/members/{member}");
    assert_eq!(request(&mut wire, "PUT", &listed, Some(&json!({}))).0, 204);
    assert_eq!(request(&mut theirs, "GET", &rows, None).0, 200);
    assert_eq!(request(&mut wire, "DELETE", &path, None).0, 204);
    assert_eq!(request(&mut theirs, "GET", &rows, None).0, 404);
    let left = format!("SELECT count(*) FROM main.workspace_members WHERE user_id = '{member}'");
    assert_eq!(place.ask(&left), "0");
}

fn one_of(serving: &Serving, token: &str) -> Wire {
    Wire::new(serving, token)
}

/// The owner and the member of each of some organizations.
const PEOPLE: [(&str, &str); 6] = [
    ("a@b.test", "member@b.test"),
    ("a@c.test", "member@c.test"),
    ("a@d.test", "member@d.test"),
    ("a@e.test", "member@e.test"),
    ("a@f.test", "member@f.test"),
    ("a@g.test", "member@g.test"),
];

/// An organization with an owner, a member, a key, and a table whose rows an automation copies.
struct Tenant {
    id: String,
    email: &'static str,
    member: &'static str,
    feature: String,
    copies: String,
    key: String,
    /// The worker on which it lies: host and port.
    node: String,
}

impl Tenant {
    fn make(place: &Place, serving: &Serving, email: &'static str, member: &'static str) -> Tenant {
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

    fn rows(&self) -> String {
        format!("/v1/features/{}/rows", self.feature)
    }
}

/// The worker on which an organization lies now: host and port.
fn worker_of(place: &Place, organization: &str) -> String {
    place.ask(&format!(
        "SELECT nodename || ':' || nodeport FROM pg_dist_placement JOIN pg_dist_node USING (groupid) \
         WHERE shardid = get_shard_id_for_distribution_column('main.organizations', '{organization}'::uuid)"
    ))
}

/// Organizations that lie on different workers.
fn on_two_workers(place: &Place, serving: &Serving) -> [Tenant; 2] {
    let one = Tenant::make(place, serving, "a@one.test", "member@one.test");
    let mut others = PEOPLE
        .iter()
        .map(|(email, member)| Tenant::make(place, serving, email, member));
    let other = others
        .find(|tenant| tenant.node != one.node)
        .expect("an organization on another worker");
    [one, other]
}

/// Imports a package into the one organization of the caller, and has a job apply it to a new workspace.
fn applies_a_template(wire: &mut Wire) {
    let (status, found) = request(wire, "GET", "/v1/organizations", None);
    assert_eq!(status, 200, "{found}");
    let organization = found["items"][0]["id"].as_str().expect("an id").to_owned();
    let package = include_str!("../../examples/reading-list.json");
    let package = serde_json::from_str(package).expect("JSON");
    let path = format!("/v1/templates/import?organization_id={organization}");
    let template = wire.made(&path, &package);
    let body = json!({"workspaceId": workspace(wire, &organization), "resolutions": {}});
    let path = format!("/v1/templates/{template}/apply");
    let (status, job) = request(wire, "POST", &path, Some(&body));
    assert_eq!(status, 202, "{job}");
    let job = format!(
        "/v1/template-jobs/{}",
        job["jobId"].as_str().expect("an id")
    );
    loop {
        let (_, found) = request(wire, "GET", &job, None);
        match found["status"].as_str() {
            Some("completed") => return,
            Some("failed") => panic!("{found}"),
            _ => thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Has so many further organizations, in which nothing is due and `noted` of which say that lately something was.
fn others(place: &Place, count: usize, noted: usize) {
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

/// However many organizations are noted, a process asks each worker once.
#[test]
fn a_look_asks_no_more_for_more_organizations() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::distributed(citus);
    others(&place, 400, 40);
    let _serving = serve(&place);
    let transactions = || -> i64 {
        let sql = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
        place.ask(sql).parse().expect("a number")
    };
    let in_a_while = || {
        let before = transactions();
        thread::sleep(Duration::from_secs(6));
        transactions() - before
    };
    thread::sleep(Duration::from_secs(2));
    let few = in_a_while();
    others(&place, 400, 400);
    let many = in_a_while();
    assert!(few > 10 && many < 2 * few, "{few} and {many}");
}

/// Takes a worker away from a database, or gives it back: for the coordinator it is as if it did not run.
fn away(citus: &Citus, node: &str, place: &Place, is_away: bool) {
    let name = place.database_name();
    let close = format!(
        "ALTER DATABASE {name} ALLOW_CONNECTIONS {}; \
         SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'",
        !is_away
    );
    citus
        .on_node(node, "postgres", &close)
        .expect("is carried out");
}

#[test]
fn organizations_go_on_while_the_worker_of_others_is_away() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::distributed(citus);
    others(&place, 100, 100);
    let serving = serve(&place);
    let [lost, kept] = on_two_workers(&place, &serving);
    let (owner, _) = sign_in(&serving, kept.email);
    // An editor of both.
    let email = "both@other.test";
    person(&place.url, &lost.id, email, "editor");
    let add = ["add-member", "--organization", &kept.id];
    let also = [&add[..], &["--email", email, "--role", "editor"]].concat();
    admin(&place.url, &also, "").expect("a record");
    let (mut both, _) = sign_in(&serving, email);
    assert_eq!(request(&mut both, "GET", &kept.rows(), None).0, 200);
    let load = Load::start(3, &serving.address, &owner.token, &kept.feature);
    load.wait_for(20);
    away(citus, &lost.node, &place, true);
    load.wait_for(20);

    // What is kept from them on the lost worker is not known. Their rows of the other one are about that one alone.
    let row = json!({"data": {"note": "both"}});
    let key = "of-both";
    let made = both.ask_with_key(key, "POST", &kept.rows(), Some(&row));
    assert_eq!(made.expect("a response").0, 201);
    assert_eq!(request(&mut both, "GET", &kept.rows(), None).0, 200);
    assert_eq!(both.ask("GET", "/v1/me", None), None, "503");

    // Who is of an organization that lies elsewhere notices nothing, whether known to the process or not.
    for serving in [&serve(&place), &serving] {
        for email in [kept.email, kept.member] {
            let (mut wire, _) = sign_in(serving, email);
            for path in ["/v1/me", "/v1/workspaces", &kept.rows()] {
                let (status, found) = request(&mut wire, "GET", path, None);
                assert_eq!(status, 200, "{email} {path} {found}");
            }
        }
        let mut keyed = Wire::new(serving, &kept.key);
        assert_eq!(request(&mut keyed, "GET", &kept.rows(), None).0, 200);
        // The others sign in, and wait for what lies on the lost worker: also the name of their organization.
        for email in [lost.email, lost.member] {
            let (mut theirs, _) = sign_in(serving, email);
            for path in ["/v1/me", &lost.rows()] {
                assert_eq!(theirs.ask("GET", path, None), None, "503");
            }
        }
        assert!(serving.get("/v1/ready").starts_with("HTTP/1.1 200"));
    }
    applies_a_template(&mut Wire::new(&serving, &owner.token));
    load.wait_for(20);
    let written = load.stop();
    let mut wire = Wire::new(&serving, &owner.token);
    let mut found = notes(&mut wire, &kept.feature);
    assert_eq!(found.remove("both"), Some(1));
    assert_exact(&written, &found);
    // What happened to the rows has its effects while the worker is away.
    while notes(&mut wire, &kept.copies).len() <= found.len() {
        thread::sleep(Duration::from_millis(50));
    }

    away(citus, &lost.node, &place, false);
    let (mut theirs, _) = sign_in(&serving, lost.email);
    let row = json!({"data": {"note": "back"}});
    while theirs.ask("POST", &lost.rows(), Some(&row)).is_none() {
        thread::sleep(Duration::from_millis(50));
    }
    while notes(&mut theirs, &lost.copies).is_empty() {
        thread::sleep(Duration::from_millis(50));
    }
}

/// What an organization has to do on a worker that does not respond waits, and others go on.
#[test]
fn a_slow_worker_holds_up_its_own_organizations_alone() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::distributed(citus);
    others(&place, 100, 100);
    let serving = serve(&place);
    let [slow, other] = on_two_workers(&place, &serving);
    let locked = citus.lock(&slow.node, place.database_name(), "workflow_runs");
    let locked = locked.expect("is locked");
    let [mut theirs, mut wire] = [&slow, &other].map(|tenant| Wire::new(&serving, &tenant.key));
    let row = json!({"data": {"note": "n"}});
    let copies = |wire: &mut Wire, tenant: &Tenant| {
        all(wire, &format!("/v1/features/{}/rows", tenant.copies)).len()
    };
    for round in 1..=ROUNDS {
        for (wire, tenant) in [(&mut theirs, &slow), (&mut wire, &other)] {
            let (status, made) = request(wire, "POST", &tenant.rows(), Some(&row));
            assert_eq!(status, 201, "{made}");
        }
        while copies(&mut wire, &other) < round {
            thread::sleep(Duration::from_millis(50));
        }
    }
    assert_eq!(copies(&mut theirs, &slow), 0);
    drop(locked);
    while copies(&mut theirs, &slow) < ROUNDS {
        thread::sleep(Duration::from_millis(50));
    }
}

/// What stands between callers and rows on a worker: each part of a table with its owner, rights, row security, policies
/// and triggers.
fn protection(citus: &Citus, node: &str, place: &Place) -> Vec<String> {
    let sql = "SET citus.override_table_visibility = off; \
         SELECT regexp_replace(part.relname, '_[0-9]+$', ''), part.relrowsecurity, part.relforcerowsecurity, \
         pg_get_userbyid(part.relowner), part.relacl, \
         (SELECT string_agg(concat_ws(' ', polname, polcmd, polpermissive, polroles::regrole[], \
         pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)), ';' ORDER BY polname) \
         FROM pg_policy WHERE polrelid = part.oid), \
         (SELECT string_agg(tgname || ' ' || tgfoid::regproc, ';' ORDER BY tgname) FROM pg_trigger \
         WHERE tgrelid = part.oid AND NOT tgisinternal) \
         FROM pg_class AS part WHERE relnamespace = 'main'::regnamespace AND relkind = 'r' \
         AND relname ~ '_[0-9]+$' ORDER BY part.relname";
    let parts = citus.on_node(node, place.database_name(), sql);
    let parts = parts.expect("is read");
    let mut parts: Vec<String> = parts.lines().map(str::to_owned).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// How parts of tables are moved: the other ways send what is written meanwhile by logical replication, which writes into
/// no table with row security, and wait for it for ever.
const BLOCKING: &str = "shard_transfer_mode := 'block_writes'";

/// A worker that is added takes over organizations, and one of them moves on and back, while clients write.
#[test]
fn organizations_move_to_other_workers_under_load() {
    let Some(citus) = citus::required() else {
        return;
    };
    let [_, first, .., further] = &citus.nodes[..] else {
        let skipped = "\nSKIPPED: the Citus cluster has one worker, to which nothing can move.\n";
        let _ = writeln!(io::stderr(), "{skipped}");
        return;
    };
    let place = Place::undistributed(citus);
    let call = |function: &str| {
        let node = further.replace(':', "',");
        place.ask(&format!("SELECT {function}('{node})"));
    };
    call("citus_remove_node");
    distribute(&place.url);
    let serving = serve(&place);
    let tenants = PEOPLE.map(|(email, member)| Tenant::make(&place, &serving, email, member));
    let loads = tenants
        .each_ref()
        .map(|tenant| Load::start(1, &serving.address, &tenant.key, &tenant.feature));
    let go_on = || {
        for load in &loads {
            load.wait_for(10);
        }
    };
    go_on();
    let before = protection(citus, first, &place);
    assert!(
        before.iter().any(|part| part.starts_with("rows|t|t|")),
        "{before:?}"
    );

    call("citus_add_node");
    let report = distribute(&place.url);
    assert_eq!(report["workers"], citus.nodes.len() - 1);
    place.ask(&format!("SELECT rebalance_table_shards({BLOCKING})"));
    go_on();

    let moved = &tenants[0];
    for to in [further, first, further] {
        let from = worker_of(&place, &moved.id);
        if from == *to {
            continue;
        }
        let [from, there] = [&from, to].map(|node| node.replace(':', "',"));
        place.ask(&format!(
            "SELECT citus_move_shard_placement(get_shard_id_for_distribution_column(\
             'main.organizations', '{}'::uuid), '{from}, '{there}, {BLOCKING})",
            moved.id
        ));
        go_on();
        assert_eq!(worker_of(&place, &moved.id), *to);
        assert_eq!(protection(citus, to, &place), before, "{to}");
    }
    let written = loads.map(Load::stop);
    for (tenant, written) in tenants.iter().zip(written) {
        let mut wire = Wire::new(&serving, &tenant.key);
        let found = notes(&mut wire, &tenant.feature);
        assert_exact(&written, &found);
        while notes(&mut wire, &tenant.copies).len() < found.len() {
            thread::sleep(Duration::from_millis(50));
        }
        assert_exact(&written, &notes(&mut wire, &tenant.copies));
    }
}
