//! `health`, as a container or a supervisor calls it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use crate::process::{Serving, command, database, run, stderr};

/// Listens, and gives this to everybody.
fn responding(response: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 1024];
            let length = stream.read(&mut request).expect("a request");
            let text = String::from_utf8_lossy(&request[..length]);
            let asks = text.starts_with("GET /v1/ready HTTP/1.1\r\n");
            stream.write_all(response.as_bytes()).expect("sends");
            assert!(asks, "{text}");
        }
    });
    format!("http://{address}")
}

/// The exit code, and what stands on standard error.
fn health(arguments: &[&str], listen: Option<&str>) -> (Option<i32>, String) {
    let mut command = command(&["health"]);
    command.args(arguments).env_remove("TPLKIT_LISTEN");
    if let Some(listen) = listen {
        command.env("TPLKIT_LISTEN", listen);
    }
    let output = command.output().expect("starts");
    assert!(output.stdout.is_empty());
    (output.status.code(), stderr(&output))
}

#[test]
fn a_server_is_found_by_its_port_and_by_its_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = Serving::start(&database(folder.path()));
    let (_, port) = serving.address.rsplit_once(':').expect("a port");
    let all = format!("0.0.0.0:{port}");
    for listen in [&serving.address, &all, &format!("localhost:{port}")] {
        assert_eq!(
            health(&[], Some(listen)),
            (Some(0), String::new()),
            "{listen}"
        );
    }
    let url = format!("http://{}", serving.address);
    for url in [&url, &format!("{url}/"), &format!("{url}/v1/ready")] {
        // What names the server goes before what says where one would listen.
        let ended = health(&["--url", url], Some("0.0.0.0:1"));
        assert_eq!(ended, (Some(0), String::new()), "{url}");
    }
    serving.signal("-TERM");
    serving.end();
    let (code, said) = health(&["--url", &url], None);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&url), "{said}");
}

#[test]
fn whatever_is_not_ready_is_named() {
    let busy = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    let (code, said) = health(&["--url", &responding(busy)], None);
    assert_eq!(code, Some(1));
    assert!(said.contains("503"), "{said}");
    let (code, said) = health(&["--url", &responding("SSH-2.0-OpenSSH_9.2p1")], None);
    assert_eq!(code, Some(1));
    assert!(said.contains("HTTP/1.1"), "{said}");
    let (code, said) = health(&[], Some("127.0.0.1:0"));
    assert_eq!(code, Some(1));
    assert!(said.contains("--url"), "{said}");
}

#[test]
fn an_address_that_is_none_is_a_usage_error() {
    for url in ["localhost", "https://127.0.0.1", "ftp://x", ""] {
        let output = run(&["health", "--url", url]);
        assert_eq!(output.status.code(), Some(2), "{url}");
    }
}
