//! Probes each part of the connection, from this machine outwards.

use jiff::Timestamp;
use serde_json::Value;
use tplkit::client::{
    ApiResponse, BaseUrl, Cause, Client, Credential, Error, Health, Options, Request,
};
use tplkit::context::Clock as _;
use tplkit::definitions::Definitions;
use tplkit::printable;

use super::{Check, CheckOutcome};
use crate::cli::client_error;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::remote::profiles::{self, Profiles};
use crate::cli::remote::{self, Choice, Environment, Origin, ServerArgs};
use crate::cli::session::{Session, SystemClock};

/// More than this between two clocks, in seconds, and times stop making sense.
const MOST_SKEW: i64 = 60;

/// The probes of a known server, in order.
const REMOTE: [&str; 8] = [
    "reachable",
    "tls",
    "health",
    "version",
    "clock",
    "ready",
    "sign-in",
    "definitions",
];

/// Looks at everything.
pub(super) fn checks(target: &ServerArgs, session: &Session) -> Vec<Check> {
    let mut parts = vec![environment(), profile_file()];
    let choice = Choice::read(target, false);
    let base = choice.as_ref().ok().map(Choice::base);
    let (Ok(choice), Some(Ok(Some(base)))) = (&choice, base) else {
        parts.push(server(&choice));
        parts.extend(REMOTE.map(skipped));
        return parts;
    };
    parts.push(server(&Ok(choice)));
    match remotely(choice, &base, session) {
        Ok(found) => parts.extend(found),
        Err(error) => parts.push(wrong("reachable", &error)),
    }
    // Whatever could not be looked at is named all the same.
    for name in REMOTE {
        if !parts.iter().any(|part| part.name == name) {
            parts.push(skipped(name));
        }
    }
    parts
}

fn environment() -> Check {
    let name = "environment";
    let found = match Environment::read() {
        Ok(found) => found,
        Err(error) => return wrong(name, &error),
    };
    let set = [
        ("TPLKIT_URL", found.url.is_some()),
        ("TPLKIT_TOKEN", found.token.is_some()),
        ("TPLKIT_PROFILE", found.profile.is_some()),
    ];
    let set: Vec<&str> = set
        .iter()
        .filter(|(_, set)| *set)
        .map(|(name, _)| *name)
        .collect();
    fine(
        name,
        match set.as_slice() {
            [] => "no variable is set".to_owned(),
            set => format!("set: {}", set.join(", ")),
        },
    )
}

fn profile_file() -> Check {
    let name = "profiles";
    let path = match profiles::path() {
        Ok(path) => path,
        Err(error) => return wrong(name, &error),
    };
    if !path.exists() {
        return fine(
            name,
            format!("`{}` does not exist yet", printable::path(&path)),
        );
    }
    match Profiles::read_at(path) {
        Ok(profiles) => {
            let path = printable::path(&profiles.path);
            fine(name, format!("`{path}` is readable, and only for you"))
        }
        Err(error) => wrong(name, &error),
    }
}

fn server<C: std::borrow::Borrow<Choice>>(choice: &Result<C, CliError>) -> Check {
    let name = "server";
    let choice = match choice {
        Ok(choice) => choice.borrow(),
        Err(error) => return wrong(name, error),
    };
    match choice.base() {
        Ok(Some(base)) => fine(name, format!("`{base}`, profile `{}`", choice.profile)),
        Ok(None) => Check {
            name,
            verdict: CheckOutcome::Wrong(
                Some("run `tplkit login --url URL`, or set TPLKIT_URL".to_owned()),
                Exit::Usage,
            ),
            why: "no server is known".to_owned(),
            candidates: None,
        },
        Err(error) => wrong(name, &error),
    }
}

fn remotely(choice: &Choice, base: &BaseUrl, session: &Session) -> Result<Vec<Check>, CliError> {
    let options = Options {
        // A moment's weakness is something to know about.
        retries: 0,
        ..remote::options()
    };
    let open = |credential| remote::client(base.clone(), credential, session, options);
    let nobody = open(Credential::None)?;
    let request = Request::get("/v1/health");
    let sent = nobody.send(&request);
    let now = SystemClock.now();
    let mut parts = vec![reachable(&sent, base)];
    parts.extend(tls(&sent, base));
    let Ok(response) = sent else { return Ok(parts) };
    let (health, version) = health(&response, &request);
    let healthy = matches!(health.verdict, CheckOutcome::Fine);
    parts.push(health);
    if !healthy {
        return Ok(parts);
    }
    parts.extend([version, clock(response.date(), now), ready(&nobody)]);
    let (credential, origin) = choice.credential(base)?;
    if origin == Origin::Nowhere {
        let error = CliError::SignedOut {
            url: Some(base.to_string()),
        };
        parts.push(wrong("sign-in", &error));
        return Ok(parts);
    }
    let client = open(credential)?;
    let signed_in = sign_in(&client, choice, origin);
    let valid = matches!(signed_in.verdict, CheckOutcome::Fine);
    parts.push(signed_in);
    if valid {
        parts.push(definitions(&client));
    }
    Ok(parts)
}

fn reachable(sent: &Result<ApiResponse, Error>, base: &BaseUrl) -> Check {
    let name = "reachable";
    match sent {
        Err(Error::Unreachable {
            cause: Cause::Tls, ..
        }) => fine(name, format!("something responds at `{base}`")),
        Err(error) => wrong_remote(name, error),
        Ok(response) => fine(
            name,
            format!("`{base}` responds (status {})", response.status),
        ),
    }
}

fn tls(sent: &Result<ApiResponse, Error>, base: &BaseUrl) -> Option<Check> {
    let name = "tls";
    if base.is_open_to_readers() {
        return Some(Check {
            name,
            verdict: CheckOutcome::Wrong(
                Some("use an address that begins with https://".to_owned()),
                Exit::Findings,
            ),
            why: "plain HTTP to another machine: whoever carries the traffic can read it"
                .to_owned(),
            candidates: None,
        });
    }
    match sent {
        Err(
            error @ Error::Unreachable {
                cause: Cause::Tls, ..
            },
        ) => Some(wrong_remote(name, error)),
        Err(_) => None,
        Ok(_) if base.to_string().starts_with("https://") => {
            Some(fine(name, "the certificate is accepted".to_owned()))
        }
        Ok(_) => Some(fine(
            name,
            "plain HTTP, which does not leave this machine".to_owned(),
        )),
    }
}

/// Whether it is a server of the API, and of which version.
fn health(response: &ApiResponse, request: &Request) -> (Check, Check) {
    let version = |why: String| fine("version", why);
    let read = match response.problem(request) {
        Some(problem) => Err(Error::Refused(Box::new(problem))),
        None => response.read(request),
    };
    let health = match read {
        Ok(health) => health,
        Err(error) => return (wrong_remote("health", &error), skipped("version")),
    };
    let Health {
        status,
        version: theirs,
    } = health;
    let status = status
        .as_deref()
        .unwrap_or("running")
        .escape_debug()
        .to_string();
    let ours = env!("CARGO_PKG_VERSION");
    let version = match theirs {
        None => version("the server does not report its version".to_owned()),
        Some(theirs) if theirs == ours => version(format!("{ours} on both sides")),
        Some(theirs) => Check {
            name: "version",
            verdict: CheckOutcome::Wrong(
                Some("use the version of the server where a command misbehaves".to_owned()),
                Exit::Findings,
            ),
            why: format!("the server is {}, this is {ours}", theirs.escape_debug()),
            candidates: None,
        },
    };
    (
        fine("health", format!("the server reports `{status}`")),
        version,
    )
}

fn clock(theirs: Option<Timestamp>, now: Timestamp) -> Check {
    let name = "clock";
    let Some(theirs) = theirs else {
        return fine(name, "the server does not report its time".to_owned());
    };
    let skew = now.duration_since(theirs).as_secs();
    if skew.abs() <= MOST_SKEW {
        return fine(name, "both clocks agree".to_owned());
    }
    let which = if skew > 0 { "ahead of" } else { "behind" };
    Check {
        name,
        verdict: CheckOutcome::Wrong(
            Some("set the clock of this machine, or of the server".to_owned()),
            Exit::Findings,
        ),
        why: format!("this clock is {} s {which} that of the server", skew.abs()),
        candidates: None,
    }
}

fn ready(client: &Client) -> Check {
    let name = "ready";
    match client.ready() {
        Ok(()) => fine(name, "its store responds".to_owned()),
        Err(error) if error.status() == Some(404) => {
            fine(name, "this server has no GET /v1/ready".to_owned())
        }
        Err(error) => wrong_remote(name, &error),
    }
}

fn sign_in(client: &Client, choice: &Choice, origin: Origin) -> Check {
    let name = "sign-in";
    match remote::identify(client) {
        Ok(me) => {
            let by = match origin {
                Origin::Environment => "TPLKIT_TOKEN".to_owned(),
                Origin::Nowhere | Origin::Profile => format!("profile `{}`", choice.profile),
            };
            fine(name, format!("{}, by {by}", remote::name_of(me.as_ref())))
        }
        Err(error) => wrong(name, &error),
    }
}

fn definitions(client: &Client) -> Check {
    let name = "definitions";
    let read: Result<Value, Error> = client.read(&Request::get("/v1/schema/definitions"));
    let theirs = match read {
        Ok(theirs) => theirs,
        Err(error) if error.status() == Some(404) => {
            return Check {
                name,
                verdict: CheckOutcome::Wrong(
                    Some(
                        "check with `--definitions FILE` where its registry is another".to_owned(),
                    ),
                    Exit::Findings,
                ),
                why: "this server has no GET /v1/schema/definitions".to_owned(),
                candidates: None,
            };
        }
        Err(error) => return wrong_remote(name, &error),
    };
    let ours = Definitions::embedded().version.as_str();
    match theirs["version"].as_str() {
        Some(theirs) if theirs == ours => fine(name, format!("{ours} on both sides")),
        theirs => Check {
            name,
            verdict: CheckOutcome::Wrong(
                Some(
                    "store `tplkit api GET /v1/schema/definitions` in a file, and check with `--definitions FILE`"
                        .to_owned(),
                ),
                Exit::Findings,
            ),
            why: format!(
                "the server has {}, this has {ours}",
                theirs.unwrap_or("no version").escape_debug()
            ),
            candidates: None,
        },
    }
}

fn fine(name: &'static str, why: String) -> Check {
    Check {
        name,
        verdict: CheckOutcome::Fine,
        why,
        candidates: None,
    }
}

fn skipped(name: &'static str) -> Check {
    Check {
        name,
        verdict: CheckOutcome::Skipped,
        why: "skipped: fix the problem above first".to_owned(),
        candidates: None,
    }
}

fn wrong(name: &'static str, error: &CliError) -> Check {
    Check {
        name,
        verdict: CheckOutcome::Wrong(error.help(), error.exit()),
        why: error.to_string(),
        candidates: error.members().remove("candidates"),
    }
}

fn wrong_remote(name: &'static str, error: &Error) -> Check {
    Check {
        name,
        verdict: CheckOutcome::Wrong(Some(client_error::help(error)), client_error::exit(error)),
        why: error.to_string(),
        candidates: None,
    }
}
