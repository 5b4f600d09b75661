//! `--target`: what `tplkit.toml` gives and no flag says.

use serde_json::json;

use super::Desk;
use super::applying::bodies;
use super::routes::{
    JOB, TEMPLATE, WORKSPACE, apply_route, catalog, job, plan, plan_route, started,
};
use crate::scripted::{Response, Scripted};

const ELSEWHERE: &str = "http://127.0.0.1:1";

/// A desk whose environment names another server than its target.
fn desk(server: &Scripted) -> Desk {
    let desk = Desk::with_key(ELSEWHERE);
    let target = format!(
        "[targets.staging]\nurl = \"{}\"\nworkspace = \"{WORKSPACE}\"\ntemplate = \"{TEMPLATE}\"\n\
         resolutions = \"r.toml\"\nrows = {{ f_clients = \"none\" }}\n",
        server.url
    );
    desk.place.write("d/tplkit.toml", &target);
    let decided = "[resolutions.f_x]\naction = \"skip\"\n";
    desk.place.write("d/r.toml", decided);
    desk.place.write("d/deep/other.toml", decided);
    desk
}

fn run(desk: &Desk, words: &[&str]) -> crate::support::Ran {
    let mut command = desk.command(words);
    command.current_dir(desk.place.path("d/deep"));
    crate::support::Ran::from(command.output().expect("runs"))
}

#[test]
fn a_target_names_the_server_the_workspace_the_template_and_the_decisions() {
    let server = catalog([job("completed")])
        .on(&apply_route(TEMPLATE), [started()])
        .serve();
    let desk = desk(&server);
    let ran = run(&desk, &["apply", "--target", "staging", "--yes"]).exits(0);
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
    let desk = desk(&server);
    let words = [
        "plan",
        TEMPLATE,
        "--target",
        "staging",
        "--rows",
        "f_other=all",
    ];
    run(&desk, &words).exits(0);
    let sent = bodies(&server, &plan_route(TEMPLATE));
    assert_eq!(sent[0]["rowsModes"], json!({"f_other": "all"}));
    assert_eq!(sent[0]["resolutions"], json!({"f_x": {"action": "skip"}}));
    let words = ["plan", "--target", "staging", "--url", ELSEWHERE];
    run(&desk, &words).exits(5);
    // A command that takes the address alone knows targets, too.
    let words = ["whoami", "--target", "nowhere"];
    let ran = run(&desk, &words).exits(2);
    assert!(ran.err.contains("staging"), "{}", ran.err);
}
