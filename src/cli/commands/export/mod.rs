//! `tplkit export`: a workspace of a server as a package file.
//!
//! A server with an export route builds the package. From other servers everything is read twice
//! over the common routes: when both readings agree, they show the workspace at one moment.

mod cached_structure;
mod identity;
mod onto;
mod prompts;
mod row_total;
mod select;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::{Value, json};
use tplkit::client::{Client, RemoteWorkspace};
use tplkit::contents::Contents;
use tplkit::definitions::Definitions;
use tplkit::export::onto::MissingItem;
use tplkit::export::{
    ExportBase, ExportError, ExportRequest, Exported, Fault, Selection, export_onto,
};
use tplkit::finding::{Finding, Severity};
use tplkit::json::Doc;
use tplkit::package::model::Catalog;
use tplkit::printable;
use tplkit::workspace::{Id, Source as _, Structure, ready};

use super::rows::Progress;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::package_output;
use crate::cli::remote::subject::lacks_route;
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs};
use crate::cli::remote::{self, Connection, ServerArgs};
use crate::cli::session::{RandomIds, Session, SystemClock};
use crate::cli::source::is_stdin;
use cached_structure::CachedStructure;
use onto::EarlierFile;
use row_total::rows_to_read;

/// Write a workspace as a package.
///
/// Without a selection, everything except rows is exported; on a terminal the command prompts for a
/// selection. A server without an export of its own is read twice, in many requests: when something
/// changes in between, nothing is written and the exit code is 6.
#[derive(Debug, Clone, clap::Args)]
#[command(after_long_help = examples(&[
    ("Export a workspace without its rows", "tplkit export --workspace $WORKSPACE -o shop.json"),
    ("Export one table with its rows", "tplkit export --workspace $WORKSPACE --feature orders --rows orders -o orders.json"),
    ("Export again: what did not change keeps its bytes", "tplkit export --workspace $WORKSPACE --onto shop.json -o shop.json"),
]))]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Write to this file instead of standard output; a folder that is there, or a name that ends in
    /// `/`, gets the package unpacked.
    #[arg(short, long, value_name = "PKG")]
    output: Option<PathBuf>,
    /// Take over identity from an earlier package: a file, an unpacked folder, or a template by id or
    /// name. What is still there keeps its uids and refs, and without a selection what it holds travels.
    /// It may be the file that is written.
    #[arg(long, value_name = "OLD")]
    onto: Option<PathBuf>,
    /// Never prompt.
    #[arg(long)]
    no_input: bool,
    /// Format of messages; `json` wraps the package in a document.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    chosen: select::Choice,
    #[command(flatten)]
    identity: identity::Identity,
    #[command(flatten)]
    target: ServerArgs,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let identity = args.identity.read()?;
    let mut server = args.target.clone();
    let target = server.take_target(Path::new("."))?;
    let word = args.workspace.required(&target, &server, session)?;
    let connection = Connection::open(&server, session)?;
    let workspace = NamedWorkspace::find(&connection.client, &word)?.id;
    let Some(word) = &args.onto else {
        return run_onto(args, workspace, &connection, identity, None, session);
    };
    let old = EarlierFile::read(word, args.output.is_some(), &connection.client)?;
    let done = old.with(args.format, session, |previous| {
        let base = ExportBase {
            previous,
            selects: args.chosen.are_none(),
        };
        let onto = Onto { file: &old, base };
        run_onto(args, workspace, &connection, identity, Some(onto), session)
    })?;
    Ok(done.unwrap_or_else(|exit| exit))
}

/// An earlier package that an export goes on from.
#[derive(Clone, Copy)]
struct Onto<'e> {
    file: &'e EarlierFile,
    base: ExportBase<'e>,
}

/// Exports, going on from an earlier package or from none.
fn run_onto(
    args: &Args,
    workspace: Id,
    connection: &Connection,
    identity: Catalog,
    onto: Option<Onto<'_>>,
    session: &Session,
) -> Result<Exit, CliError> {
    let (old, onto) = (onto.map(|onto| onto.file), onto.map(|onto| onto.base));
    let template = old.and_then(|old| old.template);
    let progress = Progress::new(session, args.output.is_some()).with_lines();
    progress.begin("structure");
    let progress = Mutex::new(progress);
    let drawn = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    // Known before the first row is read.
    let total = OnceLock::new();
    let report = |rows| drawn().add_of(rows, || total.get().copied());
    let remote = RemoteWorkspace::new(&connection.client, workspace).reporting(&report);
    let structure = ready(remote.structure())?;
    let interactive = args.chosen.are_none() && onto.is_none() && can_prompt(args);
    let mut selection = if interactive {
        prompts::selection(&connection.client, &structure, session)?
    } else {
        args.chosen.selection(&structure)?
    };
    selection.identity = identity;
    let missing = onto::missing(onto, &structure, session);
    // The server knows templates, and no files.
    let by_server = if onto.is_some() && template.is_none() {
        None
    } else {
        let request = ExportRequest {
            chosen: onto.is_none_or(|onto| !onto.selects),
            onto: template,
            selection: selection.clone(),
        };
        by_server(&connection.client, workspace, &request)?
    };
    let snapshot = by_server.is_some();
    let exported = if let Some(exported) = by_server {
        Ok(exported)
    } else {
        if drawn().is_drawn()
            && let Some(rows) = rows_to_read(&connection.client, &structure, &selection)
        {
            total.set(rows).ok();
        }
        read(&remote, structure, &selection, onto)
    };
    drawn().end();
    let exported = exported?;
    if interactive && let Some(finding) = too_large(&exported) {
        return Err(CliError::Usage {
            message: finding.message.clone(),
            help: "leave its rows out, or choose with flags: `--rows` takes any size".to_owned(),
        });
    }
    if !snapshot && remote.lacks_automations() {
        session.note("warning: this server has no automations over `/v1`, so none travel");
    }
    let notes = ExportNotes {
        workspace,
        missing,
        snapshot,
        by_file: onto.is_some() && template.is_none(),
    };
    write(args, &exported, old, &notes, session)
}

/// What is said of an export besides the package.
struct ExportNotes {
    workspace: Id,
    missing: Vec<MissingItem>,
    /// Whether the server made it, at one moment.
    snapshot: bool,
    /// Whether it goes on from a file, which the server does not know.
    by_file: bool,
}

/// The package as the server exports it; nothing where it has no such route. That the workspace is
/// there was seen before.
fn by_server(
    client: &Client,
    workspace: Id,
    request: &ExportRequest,
) -> Result<Option<Exported>, CliError> {
    let body: Value = serde_json::from_str(&request.to_json()).unwrap_or_default();
    match client.export(&workspace.to_string(), &body) {
        Ok(text) => Ok(Some(Exported::new(text, Definitions::embedded()))),
        Err(error) if lacks_route(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether the command can prompt.
fn can_prompt(args: &Args) -> bool {
    !args.no_input && args.format == Form::Text && io::stdin().is_terminal() && remote::terminal()
}

/// Reads everything twice.
fn read(
    remote: &RemoteWorkspace<'_>,
    structure: Structure,
    selection: &Selection,
    onto: Option<ExportBase<'_>>,
) -> Result<Exported, CliError> {
    let source = CachedStructure { remote, structure };
    let exported = ready(export_onto(
        &source,
        selection,
        onto,
        &SystemClock,
        &mut RandomIds,
        Definitions::embedded(),
    ));
    let exported = exported.map_err(|error| match error {
        ExportError::Source(error) => error.into(),
        ExportError::Fault(Fault::Changed(table)) => moved(&format!("the rows of {table}")),
        ExportError::Fault(fault) => CliError::Export(fault),
        ExportError::Write(source) => CliError::Output(source),
    })?;
    if ready(remote.structure())? != source.structure {
        return Err(moved("the workspace"));
    }
    Ok(exported)
}

fn moved(what: &str) -> CliError {
    CliError::Moved {
        message: format!("{what} changed while it was read: nothing was written"),
        help: "export again when nobody is at work there".to_owned(),
    }
}

/// The finding of a payload beyond the limits.
fn too_large(exported: &Exported) -> Option<&Finding> {
    let mut findings = exported.findings.iter();
    findings.find(|finding| finding.rule.name == "entry-too-large")
}

fn write(
    args: &Args,
    exported: &Exported,
    old: Option<&EarlierFile>,
    notes: &ExportNotes,
    session: &Session,
) -> Result<Exit, CliError> {
    let output = args.output.as_deref().filter(|path| !is_stdin(path));
    let exit = if exported.is_fit() {
        Exit::Done
    } else {
        Exit::Findings
    };
    if args.format == Form::Text || output.is_some() {
        match old.and_then(EarlierFile::file) {
            Some(old) => package_output::write_over(old, &exported.text, output)?,
            None => package_output::write(&exported.text, output)?,
        }
    }
    if args.format == Form::Json {
        write_result(&summary(args, exported, notes, output, exit), None)?;
    }
    for finding in &exported.findings {
        if finding.severity != Severity::Hint {
            let (severity, code) = (finding.severity.as_str(), finding.rule.code);
            let (at, message) = (&finding.place.pointer, &finding.message);
            session.note(format!("{severity}[{code}] {at}: {message}"));
        }
    }
    if !exported.is_fit() {
        session.note("error: no destination takes the package as it is; fix it at the source, or in the file");
    }
    if let Some(path) = output {
        let contents = Doc::parse(&exported.text);
        let contents = contents.map(|doc| Contents::read(doc.root()));
        let summary = contents.ok().and_then(|contents| contents.summary);
        let summary = summary.unwrap_or_default();
        session.note(format!(
            "`{0}` is written: {summary}",
            printable::path(path)
        ));
    }
    if !notes.snapshot {
        let why = if notes.by_file {
            "the server does not know the earlier package"
        } else {
            "this server has no export of its own"
        };
        session.note(format!(
            "note: {why}: read over many requests, which is not a snapshot; it was read twice, and nothing changed in between",
        ));
    }
    Ok(exit)
}

fn summary(
    args: &Args,
    exported: &Exported,
    notes: &ExportNotes,
    output: Option<&Path>,
    exit: Exit,
) -> String {
    let findings = exported.findings.iter().map(|finding| {
        json!({
            "code": finding.rule.code,
            "name": finding.rule.name,
            "severity": finding.severity.as_str(),
            "pointer": finding.place.pointer,
            "message": finding.message,
        })
    });
    let mut body = json!({
        "workspace_id": notes.workspace.to_string(),
        "findings": findings.collect::<Vec<Value>>(),
    });
    if args.onto.is_some() {
        let missing = notes.missing.iter();
        let missing = missing.map(|one| json!({"kind": one.kind, "name": one.name}));
        body["missing"] = missing.collect();
    }
    match output {
        Some(path) => body["output"] = json!(path.to_string_lossy()),
        None => body["text"] = json!(exported.text),
    }
    document::write(
        if exit == Exit::Done {
            "clean"
        } else {
            "findings"
        },
        &body,
    )
}
