//! `tplkit automation run --stub`: an automation run against sample rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use serde_json::value::to_raw_value;
use tplkit::automation::run::{Record, StepReport, Stub};
use tplkit::automation::{assign_step_ids, validate_file};
use tplkit::context::Clock as _;
use tplkit::definitions::Definitions;
use tplkit::finding::Severity;
use tplkit::finding::render::counted;
use tplkit::json::{Object, Value as Json};
use tplkit::printable;
use uuid::Uuid;

use super::validate;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::session::{Session, SystemClock};
use crate::cli::source;

/// Run an automation against sample rows, without side effects.
///
/// The steps run in the code that the server runs. Mails, requests and writes are shown but not
/// carried out; reads find the rows of `--rows`. Each step shows its resolved input (`with`), its
/// output (`gives`), and the variables and records that the next step sees (`leaves`).
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Run an automation for one row", "tplkit automation run automations/paid.json --stub --row automations/order.json"),
    ("Print what each step did as JSON", "tplkit automation run automations/paid.json --stub --row automations/order.json --format json"),
]))]
pub(super) struct RunArgs {
    /// The definition; `-` is standard input.
    file: PathBuf,
    /// Carry out no side effects. Required: this command has no other mode.
    #[arg(long, required = true)]
    stub: bool,
    /// File with the row that triggers the run: one JSON object of cells.
    #[arg(long, value_name = "FILE")]
    row: Option<PathBuf>,
    /// File with the rows that reads find: one JSON object, in which the id of a table names a list of rows.
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(super) fn run(args: &RunArgs, session: &Session) -> Result<Exit, CliError> {
    let definitions = Definitions::embedded();
    let source = source::open(&args.file)?;
    let text = source.text().unwrap_or_default();
    let issues = validate_file(text, definitions).unwrap_or_default();
    let wrong = issues
        .iter()
        .any(|issue| issue.finding.rule.severity == Severity::Error);
    let definition = Json::parse(text.trim_start_matches('\u{feff}')).ok();
    let (Some(definition), false) = (definition, wrong) else {
        session.note("error: only an automation that validates can be run");
        return validate::validate_local(&args.file, &source, definitions, args.format, session);
    };
    let mut graph = definition.get("graph_config").cloned().unwrap_or_default();
    let mut number = 0;
    assign_step_ids(definitions, &mut graph, &mut || {
        number += 1;
        format!("stp_{number:012}")
    });
    let trigger = args.row.as_deref().map(sample).transpose()?;
    let trigger = trigger.as_ref().map(Record::of);
    let tables = args.rows.as_deref().map(sample).transpose()?;
    let stub = Stub {
        tables: tables.as_ref().map(rows_of).unwrap_or_default(),
    };
    let executed = stub.run(definitions, &graph, trigger, SystemClock.now());
    let failed = executed.iter().any(|step| step.outcome.is_err());
    let text = match args.format {
        Form::Text => summary(&executed),
        Form::Json => {
            let path = document::raw(&json!(args.file.to_string_lossy()));
            let steps: Vec<StepDocument<'_>> = executed.iter().map(step_document).collect();
            let steps = to_raw_value(&steps).expect("steps write themselves as JSON");
            let members = [("path", &*path), ("steps", &*steps)];
            document::write_raw(if failed { "failed" } else { "clean" }, &members)
        }
    };
    if !session.silent() || args.format == Form::Json {
        write_result(&text, None)?;
    }
    Ok(if failed { Exit::Findings } else { Exit::Done })
}

/// A JSON document in a file.
fn sample(path: &Path) -> Result<Json, CliError> {
    let source = source::open(path)?;
    let text = source.text().unwrap_or_default();
    Json::parse(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let (path, offset) = (printable::path(path), error.offset);
        CliError::Usage {
            message: format!("`{path}` is not JSON: byte {offset}: {error}"),
            help: "write the row as one JSON object of cells, rows as lists of such objects by the ids of their tables".to_owned(),
        }
    })
}

/// Sample rows by their tables; what names no table is not a table.
fn rows_of(tables: &Json) -> BTreeMap<Uuid, Vec<Record>> {
    let tables = tables.as_object().into_iter().flatten();
    let tables = tables.filter_map(|(table, rows)| {
        let rows = rows.as_list()?.iter().map(Record::of).collect();
        Some((Uuid::parse_str(table).ok()?, rows))
    });
    tables.collect()
}

fn summary(executed: &[StepReport]) -> String {
    let mut out = String::new();
    for step in executed {
        let input = Json::Object(step.input.clone()).write();
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{} {}\n  with {input}", step.path, step.key);
        let _ = match &step.outcome {
            Ok(output) => {
                let output = Json::Object(output.clone()).write();
                let left = Json::Object(step.envelope.clone()).write();
                writeln!(out, "  gives {output}\n  leaves {left}")
            }
            Err(error) => writeln!(out, "  fails: {error}"),
        };
    }
    let _ = writeln!(out, "{}.", counted(executed.len(), "step"));
    out
}

/// A step as documents have it. The numbers of its values keep their digits.
#[derive(Serialize)]
struct StepDocument<'s> {
    path: &'s str,
    id: &'s str,
    key: &'s str,
    status: &'static str,
    input: &'s Object,
    output: Option<&'s Object>,
    envelope: &'s Object,
    error: Option<&'s str>,
}

fn step_document(step: &StepReport) -> StepDocument<'_> {
    let output = step.outcome.as_ref().ok();
    StepDocument {
        path: &step.path,
        id: &step.id,
        key: &step.key,
        status: if output.is_some() {
            "succeeded"
        } else {
            "failed"
        },
        input: &step.input,
        output,
        envelope: &step.envelope,
        error: step.outcome.as_ref().err().map(String::as_str),
    }
}
