//! Signing in and out, and where that is kept.

use serde_json::{Value, json};

use super::{ACCESS, KEY, PASSWORD, REFRESH, TestEnv, me, server};
use crate::scripted::{Response, Scripted, nobody};

#[test]
fn a_password_becomes_a_session_in_a_private_file() {
    let server = server();
    let env = TestEnv::new();
    let words = [
        "login",
        "--url",
        &server.url,
        "--email",
        "ana@a.test",
        "--password-stdin",
    ];
    let ran = env.feed(&words, &format!("{PASSWORD}\n")).exits(0);
    assert!(
        ran.out.starts_with(&format!(
            "Signed in to {} as ana@a.test; profile `default` in ",
            server.url
        )),
        "{}",
        ran.out
    );
    assert_eq!(server.lines(), ["POST /v1/auth/token", "GET /v1/me"]);
    let sent = &server.received()[0];
    let body = json!({"email": "ana@a.test", "password": PASSWORD});
    assert_eq!(sent.body, body.to_string());
    assert_eq!((sent.token(), sent.header("idempotency-key")), (None, None));
    let kept = env.profiles();
    for line in [
        "[default]".to_owned(),
        format!("url = \"{}\"", server.url),
        format!("access_token = \"{ACCESS}\""),
        format!("refresh_token = \"{REFRESH}\""),
    ] {
        assert!(kept.lines().any(|known| known == line), "{line}: {kept}");
    }
    assert!(!kept.contains(PASSWORD));
    #[cfg(unix)]
    assert_eq!(env.mode(), 0o600);

    let ran = env.run(&["whoami"]).exits(0);
    let head = format!("ana@a.test, on {}, by profile `default`", server.url);
    assert_eq!(ran.out, format!("{head}\n  admin in \"Acme\"\n"));
    let ran = env.run(&["whoami", "-v"]).exits(0);
    assert_eq!(ran.out, format!("{head}\n  admin in \"Acme\" (o1)\n"));
    let document = env.run(&["whoami", "--format", "json"]).exits(0).json();
    assert_eq!(
        document,
        json!({"schemaVersion": 1, "outcome": "clean", "url": server.url,
            "credential": "profile", "profile": "default", "me": me()})
    );
}

#[test]
fn a_key_has_a_profile_of_its_own_and_logging_out_forgets_it() {
    let server = server();
    let env = TestEnv::new();
    let words = [
        "login",
        "--url",
        &server.url,
        "--api-key-stdin",
        "--profile",
        "ci",
    ];
    let document = [&words[..], &["--format", "json"]].concat();
    let document = env.feed(&document, &format!("{KEY}\r\n")).exits(0).json();
    assert_eq!(
        (&document["profile"], &document["me"]),
        (&json!("ci"), &me())
    );
    assert_eq!(server.lines(), ["GET /v1/me"]);

    env.run(&["whoami"]).exits(4);
    env.run(&["whoami", "--profile", "ci"]).exits(0);
    let named = env.set("TPLKIT_PROFILE", "ci");
    named.run(&["whoami"]).exits(0);

    let ran = named.run(&["logout"]).exits(0);
    assert!(
        ran.out.contains("Forgot the API key of profile `ci`"),
        "{}",
        ran.out
    );
    let kept = named.profiles();
    assert!(kept.contains(&server.url) && !kept.contains(KEY), "{kept}");
    named.run(&["whoami"]).exits(4);
    let document = named.run(&["logout", "--format", "json"]).exits(0).json();
    assert_eq!(
        (&document["forgotten"], &document["outcome"]),
        (&json!(false), &json!("clean"))
    );
}

#[test]
fn a_sign_out_ends_the_session() {
    let server = Scripted::new(|_| Response::text(204, ""));
    let env = TestEnv::with_session(&server.url);
    let ran = env.run(&["logout"]).exits(0);
    assert!(ran.out.contains("Signed out of http"), "{}", ran.out);
    assert_eq!(server.lines(), ["POST /v1/auth/logout"]);
    let received = server.received();
    let body: Value = serde_json::from_str(&received[0].body).expect("JSON");
    assert_eq!(body, json!({"refresh_token": REFRESH}));
    assert_eq!(received[0].header("authorization"), None);
    let kept = env.profiles();
    assert!(!kept.contains(ACCESS) && !kept.contains(REFRESH), "{kept}");
    // Once.
    env.run(&["logout"]).exits(0);
    assert_eq!(server.lines().len(), 1);
    let document = TestEnv::with_session(&server.url).run(&["logout", "--format", "json"]);
    let document = document.exits(0).json();
    assert_eq!(
        (&document["forgotten"], &document["ended"]),
        (&json!(true), &json!(true))
    );
}

#[test]
fn a_sign_in_is_forgotten_whatever_the_server_does() {
    let refuses = Scripted::new(|_| Response::problem(404, "not_found"));
    for url in [refuses.url.clone(), nobody()] {
        let url = url.as_str();
        let env = TestEnv::with_session(url);
        let ran = env.run(&["logout"]).exits(0);
        assert!(ran.out.contains("it lasts until it expires"), "{}", ran.out);
        assert!(
            ran.err.contains("was not ended on the server"),
            "{}",
            ran.err
        );
        let kept = env.profiles();
        assert!(!kept.contains(ACCESS) && !kept.contains(REFRESH), "{kept}");
        let document = TestEnv::with_session(url).run(&["logout", "--format", "json"]);
        assert_eq!(document.exits(0).json()["ended"], json!(false));
    }
}

#[test]
fn what_is_refused_is_not_kept() {
    let server = server();
    let env = TestEnv::new();
    let words = [
        "login",
        "--url",
        &server.url,
        "--email",
        "ana@a.test",
        "--password-stdin",
    ];
    let ran = env.feed(&words, "wrong").exits(4);
    assert!(
        ran.err.contains("check e-mail address and password"),
        "{}",
        ran.err
    );
    let words = ["login", "--url", &server.url, "--api-key-stdin"];
    env.feed(&words, "platform_sk_wrong").exits(4);
    assert!(!env.place.path("config").exists());
    // Signing in is not tried again by itself: its limit is strict.
    let limited =
        Scripted::new(|_| Response::problem(429, "rate_limited").with("Retry-After", "6"));
    let words = [
        "login",
        "--url",
        &limited.url,
        "--email",
        "a@a.test",
        "--password-stdin",
    ];
    let ran = env.feed(&words, "x").exits(5);
    assert!(ran.err.contains("try again in 6 s"), "{}", ran.err);
    assert_eq!(limited.received().len(), 1);
}

#[test]
fn nothing_is_asked_off_a_terminal() {
    let server = server();
    let env = TestEnv::new();
    let url = server.url.as_str();
    for words in [
        &["login"][..],
        &["login", "--url", url],
        &["login", "--url", url, "--email", "a@a.test"],
        &["login", "--url", url, "--password-stdin"],
        &[
            "login",
            "--url",
            url,
            "--email",
            "a@a.test",
            "--api-key-stdin",
        ],
        &["login", "--url", url, "--api-key-stdin"],
        &["login", "--url", "localhost", "--api-key-stdin"],
        &["login", "--url", url, "--api-key-stdin", "--profile", "a b"],
    ] {
        let ran = env.run(words).exits(2);
        assert_eq!(ran.out, "", "{words:?}");
        let words = [words, &["--format=json"]].concat();
        let document = env.run(&words).exits(2).json();
        assert_eq!(document["outcome"], "failed", "{words:?}");
        assert!(document["errors"][0]["help"].is_string(), "{document}");
    }
    assert_eq!(server.lines(), Vec::<String>::new());
}

#[test]
fn a_server_of_the_bare_specification_will_do() {
    let server = Scripted::new(|request| match request.target.as_str() {
        "/v1/auth/token" => Response::json(&json!({"access_token": ACCESS})),
        "/v1/organizations?limit=200" if request.token() == Some(ACCESS) => {
            Response::json(&json!({"data": []}))
        }
        _ => Response::text(404, "no such page"),
    });
    let env = TestEnv::new();
    let words = [
        "login",
        "--url",
        &server.url,
        "--email",
        "a@a.test",
        "--password-stdin",
    ];
    env.feed(&words, PASSWORD).exits(0);
    let ran = env.run(&["whoami"]).exits(0);
    assert!(ran.err.contains("no GET /v1/me"), "{}", ran.err);
    let document = env.run(&["whoami", "--format", "json"]).exits(0).json();
    assert_eq!(document["me"], json!(null));
}

#[test]
fn profiles_that_others_can_read_are_not_used() {
    let server = server();
    let env = TestEnv::with_session(&server.url);
    for mode in [0o640, 0o604, 0o660, 0o644] {
        env.chmod(mode);
        if !cfg!(unix) {
            return;
        }
        let ran = env.run(&["whoami"]).exits(2);
        assert!(ran.err.contains(&format!("(mode {mode:o})")), "{}", ran.err);
        assert!(ran.err.contains("chmod 600"), "{}", ran.err);
    }
    assert_eq!(server.lines(), Vec::<String>::new());
    // What needs nothing of it does not look.
    TestEnv::with_key(&server.url).run(&["whoami"]).exits(0);
}

#[test]
fn signing_in_closes_profiles_to_others() {
    let server = server();
    let env = TestEnv::with_session(&server.url);
    if !cfg!(unix) {
        return;
    }
    env.chmod(0o666);
    let words = ["login", "--url", &server.url, "--api-key-stdin"];
    let ran = env.feed(&words, KEY).exits(0);
    assert!(
        ran.err.contains("others could read or change"),
        "{}",
        ran.err
    );
    assert_eq!(env.mode(), 0o600);
    env.run(&["whoami"]).exits(0);
}

#[test]
fn profiles_that_are_none_are_reported() {
    let env = TestEnv::new();
    let secret = "access_token = \"do-not-show-me\"";
    for text in [
        format!("[default\n{secret}\n"),
        format!("[default]\nurl = 7\n{secret}\n"),
        "default = \"do-not-show-me\"\n".to_owned(),
        "[default]\naccess_token = \"do-not-show-me \\u0000\"\n".to_owned(),
    ] {
        env.write_profiles(&text);
        let ran = env.run(&["whoami"]).exits(2);
        assert!(ran.err.contains("profiles.toml`: "), "{}", ran.err);
        assert!(!ran.err.contains("do-not"), "{}", ran.err);
    }
    env.write_profiles("[a]\n[b]\n");
    let ran = env.run(&["whoami", "--profile", "c"]).exits(2);
    assert!(ran.err.contains("\n  a\n  b\n"), "{}", ran.err);
}

#[test]
fn the_environment_goes_before_the_profile() {
    let (first, second) = (server(), server());
    let env = TestEnv::with_session(&first.url).set("TPLKIT_TOKEN", KEY);
    env.run(&["whoami"]).exits(0);
    assert_eq!(first.received()[0].token(), Some(KEY));
    let env = TestEnv::with_session(&first.url)
        .set("TPLKIT_TOKEN", KEY)
        .set("TPLKIT_URL", &second.url);
    let ran = env.run(&["whoami", "--profile", "default"]).exits(0);
    assert!(ran.err.contains("goes before the profile"), "{}", ran.err);
    assert_eq!((first.received().len(), second.received().len()), (1, 1));
    // What is empty is not set.
    let env = TestEnv::with_session(&first.url)
        .set("TPLKIT_TOKEN", "")
        .set("TPLKIT_URL", "")
        .set("TPLKIT_PROFILE", "");
    env.run(&["whoami"]).exits(0);
    assert_eq!(first.received()[1].token(), Some(ACCESS));
}

#[test]
fn a_sign_in_goes_to_its_own_server_only() {
    let (own, other) = (server(), server());
    let env = TestEnv::with_session(&own.url).set("TPLKIT_URL", &other.url);
    let ran = env.run(&["whoami"]).exits(4);
    assert!(
        ran.err.contains("is signed in to another server"),
        "{}",
        ran.err
    );
    let ran = env.run(&["api", "GET", "/v1/me"]).exits(4);
    assert!(ran.out.contains("unauthenticated"), "{}", ran.out);
    let received = other.received();
    assert_eq!((received.len(), received[0].token()), (1, None));
    // The same address in other words is the same server.
    let env = TestEnv::with_session(&format!("{}/", own.url));
    env.run(&["whoami", "--url", &format!("{}/v1", own.url)])
        .exits(0);
}

#[test]
fn plain_http_to_elsewhere_is_warned_of() {
    let env = TestEnv::with_key("http://198.51.100.1:9");
    // The proxy stands for the other machine.
    let proxy = Scripted::new(|_| Response::json(&me()));
    let env = env.set("http_proxy", &proxy.url);
    let ran = env.run(&["whoami"]).exits(0);
    assert!(ran.err.contains("is plain HTTP"), "{}", ran.err);
}
