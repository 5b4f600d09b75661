//! `tplkit resolve init --upgrade`: the resolutions file of an upgrade, read back by `plan --resolutions`.

use serde_json::json;

use super::TestEnv;
use super::routes::{TEMPLATE, WORKSPACE, catalog, job, plan_route};
use super::upgrading::{asking, body, quiet, serve, words};
use crate::scripted::Response;

#[test]
fn a_resolutions_file_of_an_upgrade_reads_back() {
    let server = serve(&asking());
    let env = TestEnv::with_key(&server.url);
    let init = [
        "resolve",
        "init",
        TEMPLATE,
        "--workspace",
        WORKSPACE,
        "--upgrade",
        "-o",
        "r.toml",
    ];
    env.run(&init).exits(0);
    let text = env.place.read("r.toml");
    for line in [
        "[decisions.\"c_city\"]",
        "# base: \"City\"",
        "# theirs: \"Place\"",
        "# ours: \"Town\"",
        "# \"label\" = { take = \"ours\", ours = \"Town\" }",
        "# \"config.help\" = { take = \"ours\", absent = true }",
        "# \"config.linked\" = { take = \"ours\", ours = { \"a\" = [\"$c_city\", 1.5] } }",
        "# \"*\" = \"leave\"  # or \"create\"",
        "# column (required_empty): 12 cells, in rows 0198c0de-0000-7000-8000-0000000000cc",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
    // Each table stands once.
    assert_eq!(text.matches("[decisions.\"c_city\"]").count(), 1, "{text}");
    let decided = text.replace("# \"", "\"");
    env.place.write("decided.toml", &decided);
    let server = serve(&quiet());
    let other = TestEnv::with_key(&server.url);
    other.place.write("decided.toml", &decided);
    other
        .run(&words("plan", &["--resolutions", "decided.toml"]))
        .exits(0);
    let sent = body(&server, &plan_route(TEMPLATE));
    let ours = json!({"a": ["$c_city", 1.5]});
    assert_eq!(sent["decisions"]["v_list"]["config.linked"]["ours"], ours);
    assert_eq!(sent["decisions"]["v_old"]["*"], "leave");
    env.run(&["resolve", "init", TEMPLATE, "--upgrade"])
        .exits(2);
}

/// A plan lists so many conflicts and no more: whoever writes the file learns that it does not hold all of them.
#[test]
fn a_resolutions_file_says_how_many_conflicts_it_leaves_out() {
    let mut planned = asking();
    planned["conflicts_more"] = 300.into();
    let server = serve(&planned);
    let env = TestEnv::with_key(&server.url);
    let init = [
        "resolve",
        "init",
        TEMPLATE,
        "--workspace",
        WORKSPACE,
        "--upgrade",
        "-o",
        "r.toml",
    ];
    let ran = env.run(&init).exits(0);
    let said = "is written, 5 of 305 conflicts, and the rest is decided by `\"*\"` under a table";
    assert!(ran.err.contains(said), "{}", ran.err);
    let text = env.place.read("r.toml");
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("# and 300 more cells: "), "{text}");
}

/// Whatever stands in a cell, the file that is written decides about that and nothing else.
#[test]
fn a_resolutions_file_holds_every_value_as_it_is() {
    for (ours, line) in [
        (
            r#""Pr\u202eice\u0085""#,
            Some(r#""Pr\U0000202eice\U00000085""#),
        ),
        ("9223372036854775808", Some("9223372036854775808")),
        ("0.1234567890123456789012", Some("0.1234567890123456789012")),
        ("12345678901234567890.10", Some("12345678901234567890.10")),
        (r#""And so on…""#, Some(r#""And so on…""#)),
        // TOML has no null.
        (r#"{"a":[null]}"#, None),
    ] {
        let planned = asking().to_string();
        let planned = planned.replace(r#""ours":"Town""#, &format!(r#""ours":{ours}"#));
        let server = catalog([job("completed")])
            .on(&plan_route(TEMPLATE), [Response::text(200, &planned)])
            .serve();
        let env = TestEnv::with_key(&server.url);
        let init = [
            "resolve",
            "init",
            TEMPLATE,
            "--workspace",
            WORKSPACE,
            "--upgrade",
        ];
        let text = env.run(&init).exits(0).out;
        let mut lines = text.lines();
        let decision = lines.find(|one| one.starts_with("# \"label\" = "));
        let decision = decision.expect("a decision").trim_start_matches("# ");
        match line {
            Some(line) => assert_eq!(
                decision,
                format!("\"label\" = {{ take = \"ours\", ours = {line} }}")
            ),
            None => assert!(decision.contains(r#"ours = "sha256:"#), "{decision}"),
        }
        let server = serve(&quiet());
        let env = TestEnv::with_key(&server.url);
        let file = format!("[decisions.c_city]\n{decision}\n");
        env.place.write("decided.toml", &file);
        env.run(&words("plan", &["--resolutions", "decided.toml"]))
            .exits(0);
        let route = plan_route(TEMPLATE);
        let received = server.received();
        let sent = received.iter().find(|one| one.line() == route);
        let sent = &sent.expect("a plan").body;
        let unescaped = ours
            .replace("\\u202e", "\u{202e}")
            .replace("\\u0085", "\u{85}");
        let kept = sent.contains(&format!(r#""ours":{unescaped}"#));
        assert!(kept || line.is_none(), "{sent}");
    }
}
