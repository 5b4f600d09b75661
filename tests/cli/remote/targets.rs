//! `--target`: what `tplkit.toml` gives and no flag says.

use serde_json::json;

use super::TestEnv;
use super::applying::bodies;
use super::routes::{
    JOB, TEMPLATE, WORKSPACE, apply_route, catalog, job, plan, plan_route, started,
};
use crate::scripted::{Response, Scripted};

const ELSEWHERE: &str = "http://127.0.0.1:1";

/// An environment that names another server than its target.
fn env(server: &Scripted) -> TestEnv {
    let env = TestEnv::with_key(ELSEWHERE);
    let target = format!(
        "[targets.staging]\nurl = \"{}\"\nworkspace = \"{WORKSPACE}\"\ntemplate = \"{TEMPLATE}\"\n\
         resolutions = \"r.toml\"\nrows = {{ f_clients = \"none\" }}\n",
        server.url
    );
    env.place.write("d/tplkit.toml", &target);
    let decided = "[resolutions.f_x]\naction = \"skip\"\n";
    env.place.write("d/r.toml", decided);
    env.place.write("d/deep/other.toml", decided);
    env
}

fn run(env: &TestEnv, words: &[&str]) -> crate::support::Ran {
    let mut command = env.command(words);
    command.current_dir(env.place.path("d/deep"));
    crate::support::Ran::from(command.output().expect("runs"))
}

#[test]
fn a_target_names_the_server_the_workspace_the_template_and_the_decisions() {
    let server = catalog([job("completed")])
        .on(&apply_route(TEMPLATE), [started()])
        .serve();
    let env = env(&server);
    let ran = run(&env, &["apply", "--target", "staging", "--yes"]).exits(0);
    assert_eq!(ran.out.lines().next(), Some(JOB), "{}", ran.err);
    assert_eq!(
        bodies(&server, &apply_route(TEMPLATE)),
        [
            json!({"workspaceId": WORKSPACE, "resolutions": {"f_x": {"action": "skip"}},
            "rowsModes": {"f_clients": "none"}})
        ]
    );
}

#[test]
fn each_flag_goes_before_the_target_and_the_target_before_the_environment() {
    let server = catalog([])
        .on(&plan_route(TEMPLATE), [Response::json(&plan(&json!({})))])
        .serve();
    let env = env(&server);
    let words = [
        "plan",
        TEMPLATE,
        "--target",
        "staging",
        "--rows",
        "f_other=all",
    ];
    run(&env, &words).exits(0);
    let sent = bodies(&server, &plan_route(TEMPLATE));
    assert_eq!(sent[0]["rowsModes"], json!({"f_other": "all"}));
    assert_eq!(sent[0]["resolutions"], json!({"f_x": {"action": "skip"}}));
    let words = ["plan", "--target", "staging", "--url", ELSEWHERE];
    run(&env, &words).exits(5);
    // A command that takes the address alone knows targets, too.
    let words = ["whoami", "--target", "nowhere"];
    let ran = run(&env, &words).exits(2);
    assert!(ran.err.contains("staging"), "{}", ran.err);
}

/// Which of two modes is meant nobody can tell.
#[test]
fn a_table_has_one_mode() {
    let server = catalog([]).serve();
    let env = env(&server);
    let plan = ["plan", TEMPLATE, "--workspace", WORKSPACE];
    for more in [
        &["--rows", "f_clients=none", "--rows", "f_clients=all"][..],
        &["--rows", "f_clients=none", "--rows", "$f_clients=none"],
    ] {
        let ran = env.run(&[&plan[..], more].concat()).exits(2);
        let expected = "`--rows` gives `f_clients` more than one mode";
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    for (rows, column) in [
        ("[\"f_clients=none\", \"f_clients=all\"]", 27),
        ("{ f_clients = \"none\", \"$f_clients\" = \"all\" }", 45),
    ] {
        let target = format!("[targets.staging]\nrows = {rows}\n");
        env.place.write("d/tplkit.toml", &target);
        let words = ["plan", TEMPLATE, "--target", "staging"];
        let ran = run(&env, &words).exits(2);
        let expected = format!("tplkit.toml:2:{column}: `f_clients` has a mode already");
        assert!(ran.err.contains(&expected), "{}", ran.err);
    }
    assert_eq!(server.lines(), Vec::<String>::new());
}
