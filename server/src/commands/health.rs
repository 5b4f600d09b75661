//! `health`: asks a running server whether it can serve requests, for the health checks of containers
//! and supervisors, where no other program is at hand. It opens no store and reads no credential.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::{Host, Url};

use super::Failure;
use super::examples::examples;

/// What is asked.
const READY: &str = "/v1/ready";
/// A server that takes longer is of no use to a client.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
#[command(after_long_help = examples("", &[
        ("Ask the server of this machine (exit code 1: it is not ready)",
         "tplkit-server health"),
        ("Ask another address (exit code 1: nobody is there)",
         "tplkit-server health --url http://127.0.0.1:9"),
    ]))]
pub(super) struct Arguments {
    /// Address of the server; without it the port of `--listen` on this machine is asked.
    #[arg(long, value_name = "URL", value_parser = address)]
    url: Option<Url>,
    /// Where the server listens; only the port counts.
    #[arg(
        long,
        value_name = "ADDR",
        env = "TPLKIT_LISTEN",
        default_value = "127.0.0.1:8080"
    )]
    listen: String,
}

/// The server speaks HTTP without TLS, and so does its health check.
fn address(text: &str) -> Result<Url, String> {
    Url::parse(text)
        .ok()
        .filter(|url| url.scheme() == "http" && url.host().is_some())
        .ok_or_else(|| "use an address such as http://127.0.0.1:8080".to_owned())
}

pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let url = match arguments.url {
        Some(url) => url,
        None => on_loopback(&arguments.listen)?,
    };
    let not_ready = |why: String| Failure::NotReady {
        address: url.as_str().trim_end_matches('/').to_owned(),
        why,
    };
    let status = timeout(TIMEOUT, status(&url)).await;
    let late = |_| format!("no response within {} seconds", TIMEOUT.as_secs());
    match status.map_err(late).map_err(not_ready)? {
        Ok(200) => Ok(()),
        Ok(status) => Err(not_ready(format!("the response is {status}"))),
        Err(error) => Err(not_ready(error.to_string())),
    }
}

/// The address of this machine behind the one that a server listens on.
fn on_loopback(listen: &str) -> Result<Url, Failure> {
    let port = listen.rsplit_once(':').and_then(|(host, port)| {
        let loopback = if host.starts_with('[') {
            "[::1]"
        } else {
            "127.0.0.1"
        };
        Some((loopback, port.parse::<u16>().ok().filter(|port| *port > 0)?))
    });
    let url = port.and_then(|(host, port)| Url::parse(&format!("http://{host}:{port}")).ok());
    url.ok_or_else(|| Failure::NotReady {
        address: listen.to_owned(),
        why: "no port is known; name the server with --url".to_owned(),
    })
}

/// The status of the response. Nothing after it matters.
async fn status(url: &Url) -> std::io::Result<u16> {
    let host = match url.host() {
        Some(Host::Ipv6(address)) => address.to_string(),
        other => other.map(|host| host.to_string()).unwrap_or_default(),
    };
    let port = url.port_or_known_default().unwrap_or(80);
    let mut stream = TcpStream::connect((host.as_str(), port)).await?;
    let base = url.path().trim_end_matches('/').trim_end_matches(READY);
    let authority = url.authority();
    let request = format!(
        "GET {base}{READY} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: tplkit-server/{}\r\nConnection: close\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    );
    stream.write_all(request.as_bytes()).await?;
    let mut line = [0; "HTTP/1.1 200".len()];
    stream.read_exact(&mut line).await?;
    let line = std::str::from_utf8(&line).ok();
    line.and_then(|line| line.strip_prefix("HTTP/1.1 ")?.parse().ok())
        .ok_or_else(|| std::io::Error::other("what responds does not speak HTTP/1.1"))
}
