//! The callers, and what there is next to the one table: written straight into the store, because requests for
//! so much would take longer than what is measured.

use serde_json::json;

use super::Options;
#[cfg(unix)]
use super::support::cluster;
use super::support::load::{Connection, Request};
use super::support::server::{Server, admin};

const PASSWORD: &str = "correct horse battery";

/// The tokens of those who ask.
pub(super) struct Callers {
    owner: String,
    editor: String,
    member: String,
}

impl Callers {
    /// Workspaces of which the editor does not see half, and organizations of the member.
    pub(super) fn join(server: &Server, url: &str, direct: &Direct, options: &Options) -> Callers {
        let person = |email: &str, role: &str| {
            let create = ["create-user", "--email", email, "--password-stdin"];
            let user = admin(url, &create, PASSWORD);
            let organization = ["--organization", &server.organization];
            let add = [
                &["add-member", "--email", email, "--role", role][..],
                &organization,
            ];
            admin(url, &add.concat(), "");
            user["id"].as_str().expect("an id").to_owned()
        };
        person("owner@visibility.test", "owner");
        person("editor@visibility.test", "editor");
        let member = person("member@visibility.test", "editor");
        direct.run(&direct.workspaces(&server.organization, options.workspaces));
        direct.run(&direct.organizations(&member, options.organizations));
        let sign_in = |email: &str| {
            let body = json!({"email": email, "password": PASSWORD}).to_string();
            let request = Request::new("POST", "/v1/auth/token", "", Some(&body));
            let (status, response) = Connection::open(server.address).ask(&request);
            assert_eq!(status, 200, "{}", String::from_utf8_lossy(&response));
            let tokens: serde_json::Value = serde_json::from_slice(&response).expect("JSON");
            tokens["access_token"].as_str().expect("a token").to_owned()
        };
        Callers {
            owner: sign_in("owner@visibility.test"),
            editor: sign_in("editor@visibility.test"),
            member: sign_in("member@visibility.test"),
        }
    }

    /// Those of the owner, the editor and the member.
    pub(super) fn tokens(&self) -> [&str; 3] {
        [&self.owner, &self.editor, &self.member]
    }
}

/// The store without the server.
pub(super) enum Direct {
    Sqlite(String),
    #[cfg_attr(not(unix), expect(dead_code, reason = "no cluster elsewhere"))]
    Postgres(String),
}

impl Direct {
    pub(super) fn to(url: &str, name: &str) -> Direct {
        match url.strip_prefix("sqlite:") {
            Some(file) => Direct::Sqlite(file.to_owned()),
            None => Direct::Postgres(name.to_owned()),
        }
    }

    fn id(&self, kind: u128, number: usize) -> String {
        let id = uuid::Uuid::from_u128(kind << 96 | number as u128);
        self.written(&id.to_string())
    }

    fn written(&self, id: &str) -> String {
        match self {
            Direct::Sqlite(_) => format!("X'{}'", id.replace('-', "")),
            Direct::Postgres(_) => format!("'{id}'"),
        }
    }

    fn workspaces(&self, organization: &str, count: usize) -> Vec<String> {
        let organization = self.written(organization);
        let rows = (0..count).map(|n| {
            let access = ["members", "organization"][n % 2];
            let id = self.id(1, n);
            format!("({organization}, {id}, 'other_{n}', 'Other', '{access}', '{{}}', 0, 0)")
        });
        insert(
            "workspaces (organization_id, id, name, label, access, config, created_at, updated_at)",
            rows,
        )
    }

    fn organizations(&self, user: &str, count: usize) -> Vec<String> {
        let user = self.written(user);
        let organizations =
            (0..count).map(|n| format!("({}, 'Callers', '{{}}', 0, 0)", self.id(2, n)));
        let organizations = insert(
            "organizations (id, label, config, created_at, updated_at)",
            organizations,
        );
        let memberships = (0..count).map(|n| {
            format!(
                "({}, {user}, 'member@visibility.test', 'editor', 0)",
                self.id(2, n)
            )
        });
        let memberships = insert(
            "memberships (organization_id, user_id, email, role, created_at)",
            memberships,
        );
        [organizations, memberships].concat()
    }

    fn run(&self, statements: &[String]) {
        match self {
            Direct::Sqlite(file) => {
                let connection = rusqlite::Connection::open(file).expect("opens");
                let all = format!("BEGIN; {}; COMMIT", statements.join("; "));
                connection.execute_batch(&all).expect("writes");
            }
            #[cfg(unix)]
            Direct::Postgres(name) => {
                let cluster = cluster::shared().expect("runs");
                let analyze = "ANALYZE".to_owned();
                for sql in statements.iter().chain([&analyze]) {
                    let sql = format!("SET search_path = main; {sql}");
                    cluster.psql_in(name, &sql).expect("writes");
                }
            }
            #[cfg(not(unix))]
            Direct::Postgres(_) => {}
        }
    }
}

/// Statements that a command line has room for.
fn insert(into: &str, rows: impl Iterator<Item = String>) -> Vec<String> {
    let rows: Vec<String> = rows.collect();
    let statements = rows.chunks(500);
    statements
        .map(|rows| format!("INSERT INTO {into} VALUES {}", rows.join(", ")))
        .collect()
}
