//! `tplkit profile list` and `use`.

use serde_json::json;

use super::{ACCESS, KEY, REFRESH, TestEnv, server};

fn env(url: &str) -> TestEnv {
    let env = TestEnv::new();
    env.write_profiles(&format!(
        "[default]\nurl = \"http://127.0.0.1:1\"\n\n\
         [ci]\nurl = \"{url}\"\napi_key = \"{KEY}\"\nworkspace = \"w\"\nworkspace_name = \"tea\"\n\n\
         [ana]\nurl = \"{url}\"\nemail = \"ana@a.test\"\naccess_token = \"{ACCESS}\"\nrefresh_token = \"{REFRESH}\"\n"
    ));
    env
}

#[test]
fn profiles_are_listed_without_their_secrets() {
    let env = env("https://a.test");
    let ran = env.run(&["profile", "list"]).exits(0);
    for secret in [KEY, ACCESS, REFRESH] {
        assert!(!ran.out.contains(secret), "{}", ran.out);
    }
    insta::assert_snapshot!(ran.out, @r"
    * default  http://127.0.0.1:1  signed out
      ci       https://a.test      API key     workspace tea
      ana      https://a.test      ana@a.test
    ");
    let ran = env.run(&["profile", "list", "--format", "json"]).exits(0);
    let items = &ran.json()["items"];
    assert_eq!(items[1]["name"], "ci");
    assert_eq!(items[1]["workspace"], json!({"id": "w", "name": "tea"}));
    assert_eq!(items[2]["credential"], "session");
    assert_eq!(items[0]["in_use"], true);
}

#[test]
fn the_chosen_profile_is_used_until_another_is_named() {
    let server = server();
    let env = env(&server.url);
    env.run(&["whoami"]).exits(4);
    let ran = env.run(&["profile", "use", "ci"]).exits(0);
    assert!(ran.out.contains("profile `ci`"), "{}", ran.out);
    env.run(&["whoami"]).exits(0);
    env.run(&["whoami", "--profile", "default"]).exits(4);
    let ran = env.run(&["profile", "list"]).exits(0);
    assert!(ran.out.contains("* ci"), "{}", ran.out);
    assert!(env.profiles().contains(KEY), "{}", env.profiles());
    let ran = env
        .run(&["profile", "use", "nope", "--format", "json"])
        .exits(2);
    let names: Vec<_> = ran.json()["errors"][0]["candidates"]
        .as_array()
        .expect("candidates")
        .iter()
        .map(|one| one["name"].clone())
        .collect();
    assert_eq!(names, ["default", "ci", "ana"]);
    env.run(&["profile", "use", "default"]).exits(0);
    env.run(&["whoami"]).exits(4);
}
