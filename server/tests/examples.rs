//! Every command of the server shows examples in its `--help`, and they run as they are written; so do those
//! of `tplkit` that need a server, next to a demonstration.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tplkit_testkit::help::{Example, ExampleFolder, each_command_has_two, read};

use crate::api::client::Client;
use crate::cluster;
use crate::kill::signed_in;
use crate::process::{Serving, admin, command, owner};
use crate::sessions::built_programs;

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
    let (status, made) = made.expect("a response");
    assert_eq!(status, 201, "{made}");
    let workflow = made["workflow_id"].as_str().expect("an id").to_owned();
    Given {
        organization,
        workflow,
    }
}

fn root() -> PathBuf {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.expect("a root").to_owned()
}

#[test]
fn examples_run_as_they_are_written() {
    let folder = ExampleFolder::new(program(), &root());
    let database = format!("sqlite:{}", folder.path("tplkit.db").display());
    let Given {
        organization,
        workflow,
    } = given(&database);
    folder.write("password.txt", "another battery staple");
    folder.write("secret.txt", "s3cret");
    let package = fs::read_to_string(root().join("examples/inventory.json")).expect("a package");
    let suite = json!({"schemaVersion": 1, "package": package, "tests": []});
    folder.write("tests.json", &suite.to_string());
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
                stopped(&folder, example, &variables)
            } else {
                folder.fault(example, &variables)
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
fn stopped(
    folder: &ExampleFolder,
    example: &Example,
    variables: &[(&str, &str)],
) -> Option<String> {
    // The shell is replaced: what is stopped is the program.
    let line = example.line.replace("tplkit-server", "exec tplkit-server");
    let mut shell = folder.shell(&line, variables);
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

/// The commands of `tplkit` that need a server, in the order in which somebody would use them.
const REMOTE: [&str; 17] = [
    "login",
    "whoami",
    "profile",
    "workspace",
    "doctor",
    "template",
    "resolve",
    "plan",
    "apply",
    "status",
    "drift",
    "export",
    "job",
    "rows",
    "files",
    "api",
    "logout",
];

/// A demonstration, and what it says of itself.
struct Demo {
    child: Child,
    url: String,
    password: String,
    key: String,
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Demo {
    fn start() -> Demo {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--demo"];
        let mut child = command(&[&serve[..], &["--database", "sqlite::memory:"]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut demo = Demo {
            child,
            url: String::new(),
            password: String::new(),
            key: String::new(),
        };
        for line in lines {
            let line = line.expect("UTF-8");
            if let Some(url) = line.strip_prefix("listening on ") {
                url.clone_into(&mut demo.url);
            } else if let Some((_, password)) = line.split_once("demo@example.com") {
                password.trim().clone_into(&mut demo.password);
            } else if let Some((_, key)) = line.split_once("Authorization: Bearer ") {
                key.split('\'')
                    .next()
                    .expect("a key")
                    .clone_into(&mut demo.key);
            }
            if line.contains("/rows?") {
                break;
            }
        }
        demo
    }

    /// Makes the automation that the examples name.
    fn automation(&self, workspace: &str) {
        let address = self.url.trim_start_matches("http://");
        let client = Client::new(address.parse().expect("an address"));
        let step =
            json!({"key": "notify", "config": {"scopeType": "organization", "title": "Thanks"}});
        let automation = json!({"workspace_id": workspace, "name": "Thank the customer",
            "trigger_config": {"type": "manual"}, "graph_config": {"steps": [step]}});
        client
            .with(&self.key)
            .post("/v1/workflows-v2", &automation)
            .expect(201);
    }

    /// Makes a column of files and a row for the examples to fill.
    fn row_with_files(&self, workspace: &str) -> String {
        let address = self.url.trim_start_matches("http://");
        let client = Client::new(address.parse().expect("an address"));
        let client = client.with(&self.key);
        let made = |path: &str, body: &Value| -> String {
            let record: Value = client.post(path, body).expect(201).json();
            record["id"].as_str().expect("an id").to_owned()
        };
        let table = json!({"workspace_id": workspace, "label": "Places"});
        let table = made("/v1/features", &table);
        let column = json!({"name": "photo", "label": "Photo", "type": "file"});
        made(&format!("/v1/features/{table}/columns"), &column);
        made(&format!("/v1/features/{table}/rows"), &json!({"data": {}}))
    }

    /// What a list of the API has first.
    fn first(&self, path: &str) -> String {
        let address = self.url.trim_start_matches("http://");
        let client = Client::new(address.parse().expect("an address"));
        let page: Value = client.with(&self.key).get(path).expect(200).json();
        page["items"][0]["id"].as_str().expect("an id").to_owned()
    }
}

#[test]
fn examples_that_need_a_server_run_next_to_a_demonstration() {
    let demo = Demo::start();
    let programs = built_programs(&root());
    let program = programs.join("tplkit");
    let folder = ExampleFolder::new(&program, &root());
    folder.write("password.txt", &demo.password);
    folder.write("key.txt", &demo.key);
    let organization = demo.first("/v1/organizations");
    let workspace = demo.first("/v1/workspaces");
    demo.automation(&workspace);
    folder.write("photo.png", "pixels");
    let row = demo.row_with_files(&workspace);
    let new = json!({"organization_id": organization, "label": "Another"});
    folder.write("workspace.json", &new.to_string());
    let target =
        format!("[targets.staging]\nworkspace = \"{workspace}\"\ntemplate = \"crm.json\"\n");
    folder.write("tplkit.toml", &target);
    let json = |line: &str| -> Value {
        let output = folder.shell(line, &[]).output().expect("a shell");
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    };
    // The newest that can be undone.
    let job = || {
        let listed = json("tplkit job list --format json");
        let jobs = listed["data"]["items"].as_array().into_iter().flatten();
        let done = jobs.filter(|job| job["status"] == "completed");
        let newest = done.filter_map(|job| job["id"].as_str()).max();
        newest.unwrap_or_default().to_owned()
    };
    let push = || {
        let line = "tplkit template push reading-list.json --new --format json";
        let pushed = json(line);
        let id = pushed["template"]["id"].as_str();
        id.unwrap_or_else(|| panic!("{pushed}")).to_owned()
    };
    // The first one that was pushed: what the demonstration brought is not applied by any line.
    let first_template = || {
        let listed = json("tplkit template list --format json");
        let id = listed["data"]["items"][1]["id"].as_str();
        id.unwrap_or_else(|| panic!("{listed}")).to_owned()
    };
    // A file of its own, because one line deletes it.
    let upload = || {
        let variables = [("WORKSPACE", workspace.as_str())];
        let line = "tplkit files put photo.png --workspace $WORKSPACE";
        let output = folder.shell(line, &variables).output().expect("a shell");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let help = read(&program);
    let at = |name: &str| REMOTE.iter().position(|it| *it == name);
    let applied = at("apply").expect("is listed");
    let mut examples: Vec<([usize; 2], &Example)> = Vec::new();
    for help in &help {
        let own = help.command.split(' ').nth(1).and_then(at);
        for example in &help.examples {
            // An upgrade needs something that was applied.
            if example.line.contains("--upgrade") && example.line.contains("$WORKSPACE") {
                examples.push(([applied, 1 + own.unwrap_or(REMOTE.len())], example));
            } else if let Some(own) = own {
                examples.push(([own, 0], example));
            } else if example.line.contains("$WORKSPACE") {
                examples.push(([applied, 0], example));
            }
        }
    }
    // Those of one command stay in the order in which it shows them.
    examples.sort_by_key(|(turn, _)| *turn);
    let mut faults = Vec::new();
    for (_, example) in examples {
        let named = |name| example.line.contains(name);
        let job = if named("$JOB") { job() } else { String::new() };
        let template = match (named("delete"), named("$TEMPLATE")) {
            // What is deleted is something that nothing else names.
            (true, _) if named("reading-list") || named("$TEMPLATE") => push(),
            (_, true) => first_template(),
            _ => String::new(),
        };
        let file = if named("$FILE") {
            upload()
        } else {
            String::new()
        };
        let variables = [
            ("WORKSPACE", workspace.as_str()),
            ("ROW", &row),
            ("FILE", file.trim_end()),
            ("ORGANIZATION", &organization),
            ("JOB", &job),
            ("TEMPLATE", &template),
        ];
        let line = example.line.replace("http://localhost:8080", &demo.url);
        // The job has ended: a line that cancels it says so.
        let code = if example.line.starts_with("tplkit job cancel") {
            1
        } else {
            example.code
        };
        faults.extend(folder.fault(&Example { line, code }, &variables));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
