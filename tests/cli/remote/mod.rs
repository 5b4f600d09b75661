//! Commands that talk to a server, against servers that respond as a test says.

mod active_jobs;
mod api;
mod applying;
mod automations;
#[cfg(target_os = "linux")]
mod confirmation;
mod doctor;
mod drifting;
mod exporting;
mod files;
#[cfg(unix)]
mod hostile;
mod interrupted_apply;
mod jobs;
mod login;
mod naming;
#[cfg(target_os = "linux")]
mod onto;
mod profiles;
mod pushing;
mod renewing;
mod routes;
mod rows;
mod saved_plans;
mod secrets;
mod targets;
mod templates;
mod terminal;
mod transfers;
mod upgrade_resolutions;
mod upgrading;
mod waiting;

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::scripted::{Received, Response, Scripted};
use crate::support::{Place, Ran};

pub(crate) const PASSWORD: &str = "correct horse battery";
pub(crate) const KEY: &str = "platform_sk_the-key-of-a-machine";
pub(crate) const ACCESS: &str = "access-token-of-ana";
pub(crate) const REFRESH: &str = "refresh-token-of-ana";
const PROFILES: &str = "config/tplkit/profiles.toml";

/// A folder with a home in it, and the environment of commands that run there.
pub(crate) struct TestEnv {
    pub(crate) place: Place,
    variables: Vec<(&'static str, String)>,
}

impl TestEnv {
    pub(crate) fn new() -> TestEnv {
        TestEnv {
            place: Place::new(),
            variables: Vec::new(),
        }
    }

    /// Signed in by the environment.
    pub(crate) fn with_key(url: &str) -> TestEnv {
        TestEnv::new()
            .set("TPLKIT_URL", url)
            .set("TPLKIT_TOKEN", KEY)
    }

    /// Signed in by the profile `default`, with a session.
    pub(crate) fn with_session(url: &str) -> TestEnv {
        let env = TestEnv::new();
        env.write_profiles(&format!(
            "[default]\nurl = \"{url}\"\nemail = \"ana@a.test\"\n\
             access_token = \"{ACCESS}\"\nrefresh_token = \"{REFRESH}\"\nlater = 7\n"
        ));
        env
    }

    pub(crate) fn set(mut self, name: &'static str, value: &str) -> TestEnv {
        self.variables.push((name, value.to_owned()));
        self
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.place.command(words);
        command.envs(self.variables.iter().cloned());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        let mut command = self.command(words);
        Ran::from(command.stdin(Stdio::null()).output().expect("run"))
    }

    /// With a text on standard input.
    pub(crate) fn feed(&self, words: &[&str], input: &str) -> Ran {
        let mut command = self.command(words);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("start");
        let mut stdin = child.stdin.take().expect("stdin");
        // The child may end without reading it.
        stdin.write_all(input.as_bytes()).ok();
        drop(stdin);
        Ran::from(child.wait_with_output().expect("run"))
    }

    pub(crate) fn profiles(&self) -> String {
        self.place.read(PROFILES)
    }

    pub(crate) fn write_profiles(&self, text: &str) {
        self.place.write(PROFILES, text);
        self.chmod(0o600);
    }

    /// The permissions of the profiles.
    #[cfg(unix)]
    pub(crate) fn mode(&self) -> u32 {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = std::fs::metadata(self.place.path(PROFILES)).expect("profiles");
        metadata.permissions().mode() & 0o777
    }

    #[cfg_attr(not(unix), expect(unused_variables, reason = "there are none"))]
    pub(crate) fn chmod(&self, mode: u32) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(self.place.path(PROFILES), mode).expect("chmod");
        }
    }
}

/// What `/v1/me` gives.
pub(crate) fn me() -> Value {
    json!({
        "kind": "user",
        "id": "0198c0de-0000-7000-8000-000000000001",
        "email": "ana@a.test",
        "organizations": [{"id": "o1", "label": "Acme", "role": "admin"}],
    })
}

/// A server as the specification has it, for somebody with the right credential.
pub(crate) fn server() -> Scripted {
    Scripted::new(respond)
}

/// How that server responds.
pub(crate) fn respond(request: &Received) -> Response {
    let path = request.target.split('?').next().unwrap_or_default();
    match path {
        "/v1/health" => return Response::json(&json!({"status": "ok", "version": "0.1.0"})),
        "/v1/ready" => return Response::json(&json!({"status": "ok"})),
        "/v1/auth/token" if request.body.contains(PASSWORD) => {
            return Response::json(&json!({
                "access_token": ACCESS,
                "refresh_token": REFRESH,
                "token_type": "bearer",
                "expires_in": 3600,
            }));
        }
        _ => {}
    }
    if ![Some(ACCESS), Some(KEY)].contains(&request.token()) {
        return Response::problem(401, "unauthenticated");
    }
    match path {
        "/v1/me" => Response::json(&me()),
        "/v1/schema/definitions" => {
            let text = include_str!("../../../schemas/definitions.json");
            let registry: Value = serde_json::from_str(text).expect("JSON");
            Response::json(&json!({"source": "generated", "version": registry["version"]}))
        }
        _ => Response::problem(404, "not_found"),
    }
}
