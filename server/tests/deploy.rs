//! What operators copy: the image, the unit, the proxies and the dashboard say what the server does.
//! Whatever needs another program is skipped where there is none, and says so.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cluster::replication::free_port;
use crate::process::{Serving, database};
use crate::proxy::{LongTexts, Proxy};

fn root() -> PathBuf {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.expect("a root").to_owned()
}

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("the file")
}

/// Whether the program can be started; says when it cannot.
#[expect(clippy::print_stderr, reason = "says what is not tested")]
fn is_here(program: &str) -> bool {
    let here = Command::new(program)
        .arg("-h")
        .stdin(Stdio::null())
        .output()
        .is_ok();
    if !here {
        eprintln!("SKIPPED: there is no {program}");
    }
    here
}

/// The stages of the image by name, each with its instructions.
fn stages() -> Vec<(String, Vec<String>)> {
    let joined = text("Containerfile").replace("\\\n", " ");
    let mut stages: Vec<(String, Vec<String>)> = Vec::new();
    for line in joined.lines().map(str::trim) {
        if line.starts_with("FROM ") {
            let name = line.split(' ').next_back().expect("a word");
            stages.push((name.to_owned(), vec![line.to_owned()]));
        } else if let Some((_, instructions)) = stages.last_mut()
            && !line.is_empty()
            && !line.starts_with('#')
        {
            instructions.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    stages
}

#[test]
fn images_hold_a_program_and_no_root() {
    let stages = stages();
    let [.., (first, tplkit), (last, server)] = &stages[..] else {
        panic!("two stages")
    };
    assert_eq!([first.as_str(), last], ["tplkit", "tplkit-server"]);
    for stage in [tplkit, server] {
        assert!(stage[0].starts_with("FROM scratch "), "{stage:?}");
        let user = stage.iter().find_map(|line| line.strip_prefix("USER "));
        let user: u32 = user.expect("a user").parse().expect("a number");
        assert_ne!(user, 0);
        let owned = format!("COPY --from=build --chown={user}:{user} /owned/ /");
        assert!(stage.contains(&owned), "{stage:?}");
    }
    let build = &stages[0].1.join("\n");
    assert!(build.contains("/owned/data /owned/tmp"), "{build}");
    let server = server.join("\n");
    for says in [
        "TPLKIT_LISTEN=0.0.0.0:8080",
        "TPLKIT_DATABASE_URL=sqlite:/data/tplkit.db",
        "VOLUME [\"/data\"]",
        "CMD [\"tplkit-server\", \"health\"]\n",
        "ENTRYPOINT [\"tplkit-server\"]",
    ] {
        assert!(server.contains(says), "{says}\n{server}");
    }
    // The compiler of the image is one that the workspace accepts.
    let version = |text: &str| -> u32 { text.parse().expect("a version") };
    let minor = build.split("rust:1.").nth(1).expect("a compiler");
    let minor = version(minor.split('-').next().expect("a version"));
    assert!(
        minor
            >= version(
                env!("CARGO_PKG_RUST_VERSION")
                    .split('.')
                    .nth(1)
                    .expect("one")
            )
    );
}

#[test]
fn the_compose_file_names_what_is_there_and_keeps_no_secret() {
    let compose = text("deploy/compose.yaml");
    for says in [
        "dockerfile: Containerfile\n",
        "target: tplkit-server\n",
        "- store:/data\n",
    ] {
        assert!(compose.contains(says), "{says}");
    }
    assert!(!compose.to_lowercase().contains("password"));
    // The variable is passed on and has no value here.
    assert!(compose.contains("TPLKIT_SECRET_KEY:\n"));
}

#[test]
fn the_unit_does_not_run_as_root_and_may_do_little() {
    let unit = text("deploy/tplkit-server.service");
    assert!(unit.contains("\nUser=tplkit\nDynamicUser=yes\n"));
    if !is_here("systemd-analyze") {
        return;
    }
    let output = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--threshold=60"])
        .arg(root().join("deploy/tplkit-server.service"))
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stderr);
    // Before version 250 it asks a running systemd alone.
    if said.contains("unrecognized option") {
        return;
    }
    assert!(output.status.success(), "{said}");
}

/// The configuration with a certificate of this test, and on ports that anybody may open.
fn nginx_conf(folder: &Path) -> PathBuf {
    let signed = rcgen::generate_simple_self_signed(["tplkit.example.org".to_owned()]);
    let signed = signed.expect("a certificate");
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    fs::write(&certificate, signed.cert.pem()).expect("writes");
    fs::write(&key, signed.signing_key.serialize_pem()).expect("writes");
    let conf = text("deploy/nginx.conf")
        .replace("/etc/ssl/certs/tplkit.pem", &certificate.to_string_lossy())
        .replace("/etc/ssl/private/tplkit.key", &key.to_string_lossy())
        .replace("listen 80;", "listen 127.0.0.1:18080;")
        .replace("listen [::]:80;", "")
        .replace("listen 443 ssl;", "listen 127.0.0.1:18443 ssl;")
        .replace("listen [::]:443 ssl;", "");
    let path = folder.join("nginx.conf");
    let own = format!("pid {}/nginx.pid;\n{conf}", folder.display());
    fs::write(&path, own).expect("writes");
    path
}

/// The program, unless it is not installed.
fn nginx() -> Option<&'static str> {
    // Debian's programs of administrators are not in everybody's PATH.
    let found = ["nginx", "/usr/sbin/nginx"]
        .into_iter()
        .find(|program| Command::new(program).arg("-v").output().is_ok());
    if found.is_none() {
        is_here("nginx");
    }
    found
}

#[test]
fn nginx_accepts_its_configuration() {
    let conf = text("deploy/nginx.conf");
    assert!(conf.contains("client_max_body_size 256m;"));
    let Some(nginx) = nginx() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(nginx)
        .args(["-t", "-e", "stderr", "-p"])
        .arg(folder.path())
        .arg("-c")
        .arg(nginx_conf(folder.path()))
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
fn long_heads_pass_nginx() {
    let Some(nginx) = nginx() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let serving = Serving::start(&database);
    let texts = LongTexts::write(&serving, &database);
    let address = format!("127.0.0.1:{}", free_port());
    let path = nginx_conf(folder.path());
    // Without TLS, which is not what is asked here.
    let conf = fs::read_to_string(&path)
        .expect("reads")
        .replace("listen 127.0.0.1:18443 ssl;", &format!("listen {address};"))
        .replace(
            "listen 127.0.0.1:18080;",
            &format!("listen 127.0.0.1:{};", free_port()),
        )
        .replace(
            "server 127.0.0.1:8080;",
            &format!("server {};", serving.address),
        )
        .replace("http {", "http {\n    access_log off;");
    fs::write(&path, conf).expect("writes");
    let mut command = Command::new(nginx);
    command
        .args(["-e", "stderr", "-p"])
        .arg(folder.path())
        .arg("-c")
        .arg(&path)
        // One process, which ends when it is killed.
        .args(["-g", "daemon off; master_process off;"]);
    let proxy = Proxy::of(command, address);
    texts.read_through(&proxy.address);
}

#[test]
fn caddy_accepts_its_configuration() {
    if !is_here("caddy") {
        return;
    }
    let output = Command::new("caddy")
        .args(["validate", "--adapter", "caddyfile", "--config"])
        .arg(root().join("deploy/Caddyfile"))
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Names of our metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("tplkit_"))
        .collect()
}

/// Every query of a dashboard, those of its variables included.
fn queries(dashboard: &Value, found: &mut Vec<String>) {
    match dashboard {
        Value::Object(members) => {
            for (name, value) in members {
                if let (true, Some(query)) =
                    (["expr", "query"].contains(&name.as_str()), value.as_str())
                {
                    found.push(query.to_owned());
                }
                queries(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| queries(item, found)),
        _ => {}
    }
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--metrics-listen", "127.0.0.1:0"];
    let serving = Serving::start_with(&database(folder.path()), &arguments, &[]);
    serving.wait_for("numbers are shown");
    let log = serving.log();
    let line = log.lines().find(|line| line.contains("numbers are shown"));
    let line: Value = serde_json::from_str(line.expect("a line")).expect("JSON");
    let address = line["address"].as_str().expect("an address");
    assert!(serving.get("/v1/ready").starts_with("HTTP/1.1 200"));
    let mut stream = TcpStream::connect(address).expect("connects");
    let request = "GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("sends");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("a page");
    // The page names families; a counter and a histogram have more names than that.
    let known: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split_once(' '))
        .flat_map(|(name, kind)| {
            let ends: &[&str] = match kind {
                "counter" => &["_total"],
                "histogram" => &["_bucket", "_count", "_sum"],
                "info" => &["_info"],
                _ => &[""],
            };
            ends.iter().map(move |end| format!("{name}{end}"))
        })
        .collect();
    let dashboard: Value = serde_json::from_str(&text("deploy/grafana.json")).expect("JSON");
    let mut expressions = Vec::new();
    queries(&dashboard, &mut expressions);
    let expressions = expressions.join("\n");
    let missing: Vec<&str> = names(&expressions)
        .into_iter()
        .filter(|name| !known.contains(*name))
        .collect();
    assert!(names(&expressions).len() > 15, "{expressions}");
    assert!(missing.is_empty(), "{missing:?}\n{known:?}");
}
