//! A running server with two organizations and their people.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use serde_json::json;
use tokio::net::TcpListener;
use tplkit_server::auth::Role;
use tplkit_server::context::{Clock, Context};
use tplkit_server::identity::{members, organizations, users};
use tplkit_server::secret_key::SecretKey;
use tplkit_server::store::{Scope, Store};
use tplkit_server::{
    api,
    app::{App, Config},
};
use uuid::Uuid;

use super::client::{Client, Response};
use super::stores::Place;

/// Everybody's.
pub const PASSWORD: &str = "correct horse";
/// Its hash, with parameters that cost nothing: what it costs to verify one is another test's question.
const PASSWORD_HASH: &str =
    "$argon2id$v=19$m=8,t=1,p=1$c2FsdCBvZiB0ZXN0cy4uLg$CgAVDfsiUpwp6UvywRQD+6hd+VHzWUb7S9NVzDfAWpE";

/// A clock that tests move.
#[derive(Debug, Default)]
struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.0.load(Ordering::SeqCst)).expect("in range")
    }
}

/// The server, with people `owner@`, `admin@`, `editor@`, `viewer@acme.test` in one organization and
/// `stranger@other.test`, owner of another.
pub struct World {
    /// Where its store is.
    pub place: Place,
    /// What the server stands on.
    pub store: Store,
    /// The source of ids, and the clock, which stands still until a test moves it.
    pub context: Context,
    /// Who has not signed in.
    pub nobody: Client,
    /// What the server was put together from.
    pub app: Arc<App>,
    /// The organization of four.
    pub acme: Uuid,
    /// The organization of the stranger.
    pub other: Uuid,
    clock: Arc<TestClock>,
}

/// Serves, and gives who asks there.
async fn served(app: Arc<App>) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("listens");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(api::serve(app, listener, std::future::pending()));
    Client::new(address)
}

impl World {
    /// Without limits, which have tests of their own.
    pub async fn new(place: Place) -> World {
        let config = Config {
            rate: None,
            secret_key: SecretKey::parse(&"0a".repeat(32)),
            // Partners in tests are on this machine.
            allow_private: true,
            ..Config::default()
        };
        World::with(place, config).await
    }

    /// As it is configured.
    pub async fn with(place: Place, config: Config) -> World {
        let clock = Arc::new(TestClock(AtomicI64::new(1_700_000_000_000_000)));
        let context = Context::new(clock.clone());
        let store = place.open().await;
        let app = App::new(store.clone(), context.clone(), config).expect("puts together");
        let nobody = served(app.clone()).await;
        let mut world = World {
            place,
            store,
            context,
            nobody,
            app,
            acme: Uuid::nil(),
            other: Uuid::nil(),
            clock,
        };
        world.acme = world.organization("Acme", None).await;
        world.other = world.organization("Other", None).await;
        for role in [Role::Owner, Role::Admin, Role::Editor, Role::Viewer] {
            let email = format!("{}@acme.test", role.as_str());
            world.person(&email).await;
            world.member(world.acme, &email, role).await;
        }
        world.person("stranger@other.test").await;
        world
            .member(world.other, "stranger@other.test", Role::Owner)
            .await;
        world
    }

    /// Another server with the same clock; nobody is signed in there.
    pub async fn second_server(&self, store: Store, config: Config) -> Client {
        let app = App::new(store, self.context.clone(), config).expect("puts together");
        served(app).await
    }

    /// Another organization; `seats` says how many members it may have.
    pub async fn organization(&self, label: &str, seats: Option<i64>) -> Uuid {
        let new = organizations::New {
            id: self.context.id(),
            label: label.to_owned(),
            seats,
            row_quota: None,
            file_quota: None,
            now: self.context.now(),
        };
        organizations::create(&self.store, new)
            .await
            .expect("creates")
            .id
    }

    /// Somebody who can sign in, and is a member of nothing yet.
    pub async fn person(&self, email: &str) -> Uuid {
        self.user(email, false).await
    }

    /// Somebody who sees every template and promotes it, and is a member of nothing.
    pub async fn platform_admin(&self, email: &str) -> Client {
        self.user(email, true).await;
        self.as_user(email)
    }

    async fn user(&self, email: &str, platform_admin: bool) -> Uuid {
        let new = users::New {
            id: self.context.id(),
            email: email.to_owned(),
            password_hash: PASSWORD_HASH.to_owned(),
            platform_admin,
            now: self.context.now(),
        };
        users::create(&self.store, new).await.expect("creates").id
    }

    /// Makes a person a member; gives the id of the person.
    pub async fn member(&self, organization: Uuid, email: &str, role: Role) -> Uuid {
        let add = members::Add {
            organization,
            email: email.to_owned(),
            role,
            now: self.context.now(),
        };
        let member = members::add(&self.store, &Scope::Operator, add, Role::Owner).await;
        member.expect("adds").user_id
    }

    /// Tries to sign in.
    pub fn token(&self, email: &str, password: &str) -> Response {
        let body = json!({"email": email, "password": password});
        self.nobody.post("/v1/auth/token", &body)
    }

    /// Signed in.
    pub fn as_user(&self, email: &str) -> Client {
        let response = self.token(email, PASSWORD).expect(200).json();
        self.nobody
            .with(response["access_token"].as_str().expect("a token"))
    }

    /// With a key of the organization.
    pub fn as_key(&self, scopes: &[&str]) -> Client {
        let body = json!({"organization_id": self.acme, "name": "k", "scopes": scopes});
        let response = self.as_user("owner@acme.test").post("/v1/api-keys", &body);
        let response = response.expect(201).json();
        self.nobody.with(response["key"].as_str().expect("a key"))
    }

    /// A path below that of the organization.
    pub fn path(&self, tail: &str) -> String {
        format!("/v1/organizations/{}{tail}", self.acme)
    }

    /// Lets time pass.
    pub fn wait(&self, seconds: i64) {
        self.clock
            .0
            .fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }
}
