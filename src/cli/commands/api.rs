//! `tplkit api`: sends any request to the server, with the stored sign-in.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tplkit::client::{ApiResponse, Client, Error, Method, Request};

use super::api_fields;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{print_error_in_detail, write_body, write_result};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::source;

/// Headers that are the client's own: what they decide has its own option, or must not be typed.
const OWN_HEADERS: [&str; 5] = [
    "authorization",
    "proxy-authorization",
    "host",
    "content-length",
    "transfer-encoding",
];

/// Send any request to the server and print the body of the response.
///
/// Every `POST` carries an `Idempotency-Key` (a new one, unless you give one), so the command can
/// repeat it safely. Requests to `/v1/auth` and `/v1/api-keys` carry none and are sent once.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List all workspaces, as one list over all pages", "tplkit api GET /v1/workspaces --paginate"),
    ("Create a workspace from a file", "tplkit api POST /v1/workspaces --data workspace.json"),
    ("Create one from fields", "tplkit api /v1/workspaces --field organization_id=$ORGANIZATION --field label=Sales"),
]))]
pub(crate) struct Args {
    /// `GET`, `POST`, `PATCH`, `PUT`, `DELETE`, …, then the path. The path alone means `POST` with a `--field`,
    /// else `GET`.
    #[arg(value_name = "METHOD|PATH")]
    first: String,
    /// Path, for example `/v1/workspaces`; without a leading slash it is relative to `/v1`.
    #[arg(value_name = "PATH")]
    path: Option<String>,
    /// Send this file as the body; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Send a JSON object with this member, a text; `NAME:=JSON` sends a number, a list and the like, and
    /// `OUTER.INNER=TEXT` nests; repeatable.
    #[arg(long = "field", value_name = "NAME=TEXT", conflicts_with = "data")]
    fields: Vec<String>,
    /// Send this header; repeatable.
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Send this query parameter, percent-encoded; repeatable.
    #[arg(long = "query", value_name = "NAME=VALUE")]
    query: Vec<String>,
    /// Send this `Idempotency-Key`.
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Read all pages of a list and write them as one.
    #[arg(long)]
    paginate: bool,
    /// Output format; `json` wraps the response in a document.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let mut request = request(args)?;
    let connection = Connection::open_anyhow(&args.target, session)?;
    if request.takes_key() && request.idempotency_key.is_none() {
        request = connection.client.keyed(request);
    }
    if let Some(key) = &request.idempotency_key {
        session.detail(|| format!("Idempotency-Key: {key}"));
    }
    if args.paginate {
        return paginate(args.format, &connection.client, request);
    }
    let response = connection.client.send(&request)?;
    let error = response.problem(&request).map(|problem| {
        let problem = Error::Refused(Box::new(problem));
        CliError::from(problem)
    });
    match args.format {
        Form::Text => write_body(&response.body)?,
        Form::Json => write_result(&wrapped(&response, error.as_ref()), None)?,
    }
    let Some(error) = error else {
        return Ok(Exit::Done);
    };
    print_error_in_detail(&error.report_error(), &error.faults());
    Ok(error.exit())
}

fn request(args: &Args) -> Result<Request, CliError> {
    let usage = |message: String, help: &str| CliError::Usage {
        message,
        help: help.to_owned(),
    };
    let usual = if args.fields.is_empty() {
        "GET"
    } else {
        "POST"
    };
    let is_method = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase());
    let (word, to) = match &args.path {
        Some(path) => (args.first.as_str(), path.as_str()),
        None if is_method(&args.first) => {
            let message = "no path is named".to_owned();
            return Err(usage(
                message,
                "write it after the method: `tplkit api GET /v1/workspaces`",
            ));
        }
        None => (usual, args.first.as_str()),
    };
    let method = Method::from_bytes(word.to_uppercase().as_bytes());
    let method = method.map_err(|_| {
        let word = word.escape_debug();
        usage(
            format!("`{word}` is not a method"),
            "use GET, POST, PATCH, PUT or DELETE",
        )
    })?;
    if args.paginate && method != Method::GET {
        let message = "only responses to GET come in pages".to_owned();
        return Err(usage(message, "leave `--paginate` out"));
    }
    let mut request = Request::new(method, path(to)?);
    for pair in &args.query {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            let message = format!("`--query {}` has no `=`", pair.escape_debug());
            usage(message, "write `--query name=value`")
        })?;
        request = request.with(name, value);
    }
    for header in &args.headers {
        let (name, value) = header.split_once(':').ok_or_else(|| {
            // Not repeated: somebody may have meant it to be secret.
            let message = "a `--header` has no `:`".to_owned();
            usage(message, "write `--header 'Name: value'`")
        })?;
        let (name, value) = (name.trim(), value.trim());
        let lower = name.to_lowercase();
        if OWN_HEADERS.contains(&lower.as_str()) {
            let message = format!("the header `{lower}` cannot be given");
            let help =
                "a credential comes from `tplkit login` or TPLKIT_TOKEN, never from an argument";
            return Err(usage(message, help));
        }
        if lower == "idempotency-key" {
            request.idempotency_key = Some(value.to_owned());
        } else {
            request.headers.push((name.to_owned(), value.to_owned()));
        }
    }
    if let Some(key) = &args.idempotency_key {
        request.idempotency_key = Some(key.clone());
    }
    if !args.fields.is_empty() {
        request.body = Some(api_fields::body(&args.fields)?);
    }
    if let Some(file) = &args.data {
        let read = source::read(file).map_err(|source| unread(file, source))?;
        request.body = Some(read.bytes().to_vec());
    }
    Ok(request)
}

/// The file of a body cannot be read, or it is not a name of a file.
fn unread(file: &Path, source: io::Error) -> CliError {
    let is_json = file
        .to_str()
        .is_some_and(|word| word.trim_start().starts_with(['{', '[']));
    if is_json {
        // It may hold a secret.
        let message = "`--data` takes the name of a file, and was given JSON";
        let help = "give members with `--field NAME=TEXT` and `--field NAME:=JSON`, or the body on standard input with `--data -`";
        return CliError::Usage {
            message: message.to_owned(),
            help: help.to_owned(),
        };
    }
    CliError::Read {
        path: file.to_owned(),
        source,
    }
}

fn path(path: &str) -> Result<String, CliError> {
    if path.contains("://") {
        return Err(CliError::Usage {
            message: "the path is a whole address".to_owned(),
            help: "give the part from `/v1` on; `--url` names the server".to_owned(),
        });
    }
    Ok(match path.strip_prefix('/') {
        Some(_) => path.to_owned(),
        None if path.starts_with("v1/") => format!("/{path}"),
        None => format!("/v1/{path}"),
    })
}

/// All pages as one.
fn paginate(form: Form, client: &Client, request: Request) -> Result<Exit, CliError> {
    let mut items: Vec<Box<RawValue>> = Vec::new();
    for page in client.pages::<Box<RawValue>>(request, None) {
        items.extend(page?.items);
    }
    let data = document::page(&items, None);
    match form {
        Form::Text => write_body((data.get().to_owned() + "\n").as_bytes())?,
        Form::Json => {
            let status = document::raw(&json!(200));
            let members = [("status", &*status), ("data", &*data)];
            write_result(&document::write_raw("clean", &members), None)?;
        }
    }
    Ok(Exit::Done)
}

fn wrapped(response: &ApiResponse, error: Option<&CliError>) -> String {
    let text = String::from_utf8_lossy(&response.body);
    let data = match RawValue::from_string(text.trim().to_owned()) {
        Ok(data) => data,
        Err(_) if text.is_empty() => document::raw(&Value::Null),
        Err(_) => document::raw(&json!(text)),
    };
    let status = document::raw(&json!(response.status));
    let errors = error.map(|error| {
        let mut body = document::errors(&[error.report_error()]);
        if let Some(reported) = body["errors"][0].as_object_mut() {
            reported.extend(error.members());
        }
        document::raw(&body["errors"])
    });
    let mut members = vec![("status", &*status), ("data", &*data)];
    members.extend(errors.as_deref().map(|errors| ("errors", errors)));
    let outcome = match error.map(CliError::exit) {
        None => "clean",
        Some(Exit::Findings) => "findings",
        Some(_) => "failed",
    };
    document::write_raw(outcome, &members)
}
