//! `tplkit report`: a package, or an upgrade to it, as one page for the browser.

mod upgrade;

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;
use tplkit::check::CheckOptions;
use tplkit::check::facts::Facts;
use tplkit::definitions::Definitions;
use tplkit::finding::LocatedReport;
use tplkit::finding::render::{
    FileEntry, Report as CheckReport, counted, json as report_json, text as report_text,
};
use tplkit::printable;
use tplkit::report::{self, Report, Style};

use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{write_result, write_styled};
use crate::cli::overwrite::refuse_input;
use crate::cli::package_file;
use crate::cli::session::Session;
use crate::cli::settings::definitions_for;
use crate::cli::source::is_stdin;

use upgrade::UpgradeReportArgs;

/// Write an HTML page about a package: contents, decisions, rows, graphs, plan, findings.
///
/// The page is self-contained: it has no scripts and loads nothing. Findings do not change the exit
/// code; `tplkit check` validates.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Write the page", "tplkit report crm.json -o crm.html"),
    ("Write what an upgrade would do: base, package and workspace side by side", "tplkit report crm.json --upgrade --workspace $WORKSPACE -o upgrade.html"),
    ("Show 100 rows of each table", "tplkit report inventory.json --rows 100 -o inventory.html"),
]))]
pub(crate) struct Args {
    /// The package: a file or an unpacked folder; `-` is standard input. With `--upgrade` also a template
    /// by id or name.
    #[arg(value_name = "PKG|TEMPLATE")]
    pub(super) package: PathBuf,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// How many rows of each table to show.
    #[arg(long, value_name = "N", default_value_t = 10)]
    rows: usize,
    /// Output format; `json` wraps the page in a document, or describes the written file.
    #[arg(long, default_value = "html")]
    pub(super) format: Format,
    /// Use the registry in this file, from another server, instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    definitions: Option<PathBuf>,
    #[command(flatten)]
    pub(super) upgrade: UpgradeReportArgs,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The page.
    Html,
    /// One JSON document.
    Json,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let inputs = [Some(args.package.as_path()), args.definitions.as_deref()];
    refuse_input(args.output.as_deref(), inputs)?;
    if args.upgrade.is_upgrade() {
        return upgrade::run(args, session);
    }
    let definitions = definitions_for(
        args.definitions.as_ref(),
        &args.package,
        args.output.as_deref(),
    )?;
    let bytes = package_file::read(&args.package)?;
    let doc = match package_file::parse(&bytes) {
        Ok(doc) => doc,
        Err(report) => {
            let text = match args.format {
                Format::Html => report_text(&report, session.style(None)),
                Format::Json => report_json(&report),
            };
            write_styled(&text, None)?;
            return Ok(Exit::Findings);
        }
    };
    let definitions: &Definitions = &definitions;
    let options = CheckOptions {
        definitions,
        promotion: true,
        named: true,
        threads: 1,
    };
    let checked = LocatedReport::new(&*bytes, bytes.check(&options));
    let (manifest, _) = tplkit::contents::halves(doc.root());
    // The folder is nobody's business but the writer's.
    let file = bytes.path.file_name().map(|name| name.to_string_lossy());
    let page = report::page(Report {
        facts: &Facts::new(&doc, manifest, definitions),
        check: &checked,
        file: file.as_deref().filter(|_| !is_stdin(&args.package)),
        rows: args.rows,
        style: Style::Inline,
    });
    let output = args.output.as_deref().filter(|path| !is_stdin(path));
    if args.format == Format::Html || output.is_some() {
        write_result(&page, output)?;
    }
    if let Some(path) = output {
        session.note(format!(
            "`{}` written, {}",
            printable::path(path),
            counted(page.len().div_ceil(1024), "kibibyte")
        ));
    }
    if args.format == Format::Json {
        let verdicts = checked.promotion.iter().flatten().map(|verdict| {
            json!({"code": verdict.rule.code, "name": verdict.rule.name, "passed": verdict.passed})
        });
        let mut body = json!({
            "path": args.package.to_string_lossy(),
            "output": output.map(|path| path.to_string_lossy()),
            "promotion": verdicts.collect::<Vec<_>>(),
        });
        let whole = CheckReport {
            files: vec![FileEntry::new(bytes.path.clone(), checked)],
            ..CheckReport::default()
        };
        body["summary"] = json!(whole.summary());
        if output.is_none() {
            body["page"] = json!(page);
        }
        write_result(&document::write("clean", &body), None)?;
    }
    Ok(Exit::Done)
}
