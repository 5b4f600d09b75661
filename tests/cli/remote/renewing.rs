//! Sessions that expire while commands use them.

use std::fs;
use std::sync::Mutex;

use serde_json::json;

use super::{ACCESS, REFRESH, TestEnv, me};
use crate::scripted::{Response, Scripted};

fn pair() -> Response {
    Response::json(&json!({"access_token": "access-2", "refresh_token": "refresh-2"}))
}

#[test]
fn an_expired_session_is_renewed_and_kept() {
    let server = Scripted::new(|request| match (&*request.target, request.token()) {
        ("/v1/auth/refresh", None) if request.body.contains(REFRESH) => pair(),
        (_, Some("access-2")) => Response::json(&me()),
        _ => Response::problem(401, "unauthenticated"),
    });
    let env = TestEnv::with_session(&server.url);
    env.run(&["whoami"]).exits(0);
    assert_eq!(
        server.lines(),
        ["GET /v1/me", "POST /v1/auth/refresh", "GET /v1/me"]
    );
    let kept = env.profiles();
    assert!(
        kept.contains("\"access-2\"") && kept.contains("\"refresh-2\""),
        "{kept}"
    );
    assert!(!kept.contains(ACCESS) && !kept.contains(REFRESH), "{kept}");
    // What this version does not know stays.
    assert!(
        kept.contains("later = 7") && kept.contains("ana@a.test"),
        "{kept}"
    );
    #[cfg(unix)]
    assert_eq!(env.mode(), 0o600);
    env.run(&["whoami"]).exits(0);
    assert_eq!(server.received().len(), 4);
}

#[test]
fn processes_take_turns() {
    let spent = Mutex::new(false);
    let server = Scripted::new(move |request| match (&*request.target, request.token()) {
        ("/v1/auth/refresh", _) => {
            let mut spent = spent.lock().expect("whole");
            if std::mem::replace(&mut *spent, true) {
                return Response::problem(401, "unauthenticated");
            }
            pair()
        }
        (_, Some("access-2")) => Response::json(&me()),
        _ => Response::problem(401, "unauthenticated"),
    });
    let env = TestEnv::with_session(&server.url);
    let running: Vec<_> = (0..6)
        .map(|_| env.command(&["whoami", "-q"]).spawn().expect("start"))
        .collect();
    for mut child in running {
        assert_eq!(child.wait().expect("end").code(), Some(0));
    }
    let refreshes = server.lines();
    let refreshes = refreshes.iter().filter(|line| line.ends_with("refresh"));
    assert_eq!(refreshes.count(), 1);
}

#[test]
fn a_race_that_another_machine_wins_is_no_failure() {
    let env = TestEnv::new();
    let path = env.place.path("config/tplkit/profiles.toml");
    let server = Scripted::new(move |request| match (&*request.target, request.token()) {
        ("/v1/auth/refresh", _) => {
            // The other one has just written what it got.
            let text = fs::read_to_string(&path).expect("profiles");
            fs::write(&path, text.replace(ACCESS, "access-2")).expect("profiles");
            Response::problem(401, "unauthenticated")
        }
        (_, Some("access-2")) => Response::json(&me()),
        _ => Response::problem(401, "unauthenticated"),
    });
    env.write_profiles(&format!(
        "[default]\nurl = \"{}\"\naccess_token = \"{ACCESS}\"\nrefresh_token = \"{REFRESH}\"\n",
        server.url
    ));
    env.run(&["whoami"]).exits(0);
}

#[test]
fn a_session_that_is_over_says_how_to_go_on() {
    let server = Scripted::new(|_| Response::problem(401, "unauthenticated"));
    let env = TestEnv::with_session(&server.url);
    let ran = env.run(&["whoami"]).exits(4);
    assert!(ran.err.contains("tplkit login"), "{}", ran.err);
    let document = env.run(&["whoami", "--format", "json"]).exits(4).json();
    assert_eq!(
        (
            &document["outcome"],
            &document["errors"][0]["code"],
            &document["errors"][0]["status"]
        ),
        (&json!("failed"), &json!("unauthenticated"), &json!(401))
    );
    assert!(env.profiles().contains(REFRESH));
}
