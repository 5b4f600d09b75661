//! `diff`, `graph` and `report`.

use serde::Deserialize;
use serde_json::json;
use tplkit::check;
use tplkit::check::facts::Facts;
use tplkit::contents::halves;
use tplkit::definitions::Definitions;
use tplkit::diff::Diff;
use tplkit::finding::LocatedReport;
use tplkit::graph::{self, Canvas, Graph, GraphKind};
use tplkit::json::Doc;
use tplkit::package::canonical::CanonicalError;
use tplkit::package::text_of;
use tplkit::report::{self, Report, Style};

use crate::checking::check_options;
use crate::options::{self, Common};
use crate::{Failure, document};

/// How many rows of each table a report shows.
const ROWS: usize = 10;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DiffCall {
    rows: bool,
}

/// What differs between two packages: the document of `tplkit diff --format json`.
///
/// # Errors
/// Options that cannot be read; a package that has no canonical form.
pub fn diff(first: &[u8], second: &[u8], options: &str) -> Result<String, Failure> {
    let call: DiffCall = options::read(options)?;
    let text = |bytes, which| {
        text_of(bytes).map_err(|error| no_package(bytes, which, &CanonicalError::from(error)))
    };
    let (old, new) = (text(first, "first")?, text(second, "second")?);
    let diff = Diff::of(old, new, call.rows).map_err(|error| {
        let (bytes, which) = if error.second {
            (second, "second")
        } else {
            (first, "first")
        };
        no_package(bytes, which, &error.error)
    })?;
    Ok(document::of_body(
        "clean",
        json!({
            "identical": diff.is_empty(),
            "changes": diff.changes,
            "rows": diff.rows,
        }),
    ))
}

fn no_package(bytes: &[u8], which: &str, error: &CanonicalError) -> Failure {
    let report = check::check(bytes, &check_options(None, false));
    let document = document::of_report(which, bytes, report);
    Failure::of_package(format!("the {which} package: {error}"), document)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GraphCall {
    #[serde(flatten)]
    common: Common,
    kind: Option<String>,
    format: Option<String>,
    focus: Option<String>,
    /// The picture is part of a page that has the style sheet: ids inside begin with this word.
    canvas: Option<String>,
}

/// The package as a picture (`svg`, unless another `format` is named), or as a graph for other tools.
///
/// # Errors
/// Options that cannot be read; a text that is not a package.
pub fn graph(package: &[u8], options: &str) -> Result<String, Failure> {
    let call: GraphCall = options::read(options)?;
    let definitions = call.common.definitions()?;
    let kind = graph_kind(call.kind.as_deref().unwrap_or("refs"))?;
    let doc = parse(package, &call.common)?;
    let (manifest, _) = halves(doc.root());
    let definitions = definitions.as_ref().unwrap_or(Definitions::embedded());
    let facts = Facts::new(&doc, manifest, definitions);
    let mut drawn = Graph::read(&facts, kind);
    if let Some(word) = &call.focus {
        let reference = word.strip_prefix('$').unwrap_or(word);
        drawn = drawn
            .focus(&facts, reference)
            .ok_or_else(|| Failure::of_call(format!("`${reference}` is not part of this graph")))?;
    }
    Ok(match call.format.as_deref().unwrap_or("svg") {
        "svg" => {
            let canvas = call.canvas.as_deref();
            graph::svg(&drawn, canvas.map_or(Canvas::File, Canvas::Page))
        }
        "dot" => graph::dot(&drawn),
        "mermaid" => graph::mermaid(&drawn),
        "json" => document::of_body("clean", graph::json(&drawn)),
        other => {
            let message = format!("`format` is svg, dot, mermaid or json, not {other:?}");
            return Err(Failure::of_call(message));
        }
    })
}

fn graph_kind(word: &str) -> Result<GraphKind, Failure> {
    let kinds = [
        GraphKind::Refs,
        GraphKind::Plan,
        GraphKind::Deps,
        GraphKind::Automations,
        GraphKind::Er,
    ];
    kinds
        .into_iter()
        .find(|kind| kind.as_str() == word)
        .ok_or_else(|| {
            let words = kinds.map(GraphKind::as_str).join(", ");
            Failure::of_call(format!("`kind` is one of {words}, not {word:?}"))
        })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReportCall {
    #[serde(flatten)]
    common: Common,
    rows: Option<usize>,
    /// The address of the style sheet of reports, for pages whose policy forbids a style of their own.
    stylesheet: Option<String>,
}

/// A page about the package.
///
/// # Errors
/// Options that cannot be read; a text that is not a package.
pub fn report(package: &[u8], options: &str) -> Result<String, Failure> {
    let call: ReportCall = options::read(options)?;
    let definitions = call.common.definitions()?;
    let doc = parse(package, &call.common)?;
    let options = check_options(definitions.as_ref(), true);
    let checked = LocatedReport::new(package, check::check(package, &options));
    let (manifest, _) = halves(doc.root());
    Ok(report::page(Report {
        facts: &Facts::new(&doc, manifest, options.definitions),
        check: &checked,
        file: call.common.file(),
        rows: call.rows.unwrap_or(ROWS),
        style: call
            .stylesheet
            .as_deref()
            .map_or(Style::Inline, Style::Linked),
    }))
}

/// Parses a package, or says as a check does why it is none.
pub(crate) fn parse<'b>(bytes: &'b [u8], common: &Common) -> Result<Doc<'b>, Failure> {
    if let Ok(doc) = text_of(bytes).and_then(Doc::parse_package)
        && halves(doc.root()).0.get("templateVersion").is_some()
    {
        return Ok(doc);
    }
    let report = check::check(bytes, &check_options(None, false));
    let first = report.findings.first();
    let message = first.map_or("no package".to_owned(), |finding| finding.message.clone());
    let document = document::of_report(common.path(), bytes, report);
    Err(Failure::of_package(message, document))
}
