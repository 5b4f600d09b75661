//! Every command of the server shows examples in its `--help`, and they run as they are written.

use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::cluster;
use crate::help::{Desk, Example, each_command_has_two, read};
use crate::kill::signed_in;
use crate::process::{Serving, admin, owner};

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tplkit-server"))
}

#[test]
fn every_command_shows_two_examples() {
    each_command_has_two(&read(program()));
}

/// What the lines name: an organization, people, and an automation that is published.
struct Given {
    organization: String,
    workflow: String,
}

fn given(database: &str) -> Given {
    let organization = owner(database);
    for name in ["alan", "grace"] {
        let email = format!("{name}@example.com");
        let create = ["create-user", "--email", &email, "--password-stdin"];
        admin(database, &create, "correct horse battery").expect("a record");
    }
    let add = ["add-member", "--organization", &organization];
    let add = [
        &add[..],
        &["--email", "alan@example.com", "--role", "editor"],
    ]
    .concat();
    admin(database, &add, "").expect("a record");
    let serving = Serving::start(database);
    let mut owner = signed_in(&serving);
    let workspace = json!({"organization_id": organization, "label": "W"});
    let workspace = owner.made("/v1/workspaces", &workspace);
    let body = json!({"workspace_id": workspace, "name": "a", "is_draft": false,
        "trigger_config": {"type": "manual"}, "graph_config": {"steps": []}});
    let made = owner.ask("POST", "/v1/workflows-v2", Some(&body));
    let (status, made) = made.expect("an answer");
    assert_eq!(status, 201, "{made}");
    let workflow = made["workflow_id"].as_str().expect("an id").to_owned();
    Given {
        organization,
        workflow,
    }
}

#[test]
fn examples_run_as_they_are_written() {
    let desk = Desk::new(
        program(),
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("a root"),
    );
    let database = format!("sqlite:{}", desk.path("tplkit.db").display());
    let Given {
        organization,
        workflow,
    } = given(&database);
    desk.write("password.txt", "another battery staple");
    desk.write("secret.txt", "s3cret");
    let cluster = cluster::shared();
    let postgres = cluster.map(|cluster| {
        cluster.psql("CREATE DATABASE examples").expect("creates");
        cluster.url("examples")
    });
    let key = "0".repeat(64);
    let variables = [
        ("ORGANIZATION", organization.as_str()),
        ("WORKFLOW", workflow.as_str()),
        ("PASSWORD", "another battery staple"),
        ("DATABASE", postgres.as_deref().unwrap_or_default()),
        ("TPLKIT_SECRET_KEY", key.as_str()),
        ("TPLKIT_LISTEN", "127.0.0.1:0"),
    ];
    let help = read(program());
    let examples = help.iter().flat_map(|help| &help.examples);
    let examples =
        examples.filter(|example| postgres.is_some() || !example.line.contains("$DATABASE"));
    let faults: Vec<String> = examples
        .filter_map(|example| {
            if goes_on(example) {
                stopped(&desk, example, &variables)
            } else {
                desk.fault(example, &variables)
            }
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Whether it runs until it is stopped.
fn goes_on(example: &Example) -> bool {
    ["serve", "worker"].iter().any(|name| {
        let mut words = example
            .line
            .split(' ')
            .skip_while(|word| *word != "tplkit-server");
        words.nth(1) == Some(name)
    })
}

/// Lets it run for a while, and says what it printed when it ends by itself.
fn stopped(desk: &Desk, example: &Example, variables: &[(&str, &str)]) -> Option<String> {
    // The shell is replaced: what is stopped is the program.
    let line = example.line.replace("tplkit-server", "exec tplkit-server");
    let mut shell = desk.shell(&line, variables);
    let mut running = shell
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    thread::sleep(Duration::from_secs(2));
    let ended = running.try_wait().expect("is known");
    if ended.is_none() {
        running.kill().expect("is stopped");
        running.wait().expect("ends");
        return None;
    }
    let mut printed = String::new();
    let mut pipe = running.stderr.take().expect("a pipe");
    pipe.read_to_string(&mut printed).expect("UTF-8");
    Some(format!("$ {line}\n{printed}\n-- ended {ended:?} --"))
}
