//! `tplkit why`: shows where a ref is declared and used.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use tplkit::contents::{UseSite, Uses, nearest_ref};
use tplkit::finding::position::{Positions, without_mark};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{print_note, write_result};
use crate::cli::package_file;
use crate::cli::session::Session;

/// Show where a ref is declared and where it is used.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Find all uses of a table", "tplkit why project-tracker.json f_tasks"),
    ("Find what a dependency is needed for", "tplkit why service-desk.json connection_desk_mail"),
]))]
pub(crate) struct Args {
    /// The package; `-` is standard input.
    #[arg(value_name = "PKG")]
    package: PathBuf,
    /// The ref, with or without its `$`.
    #[arg(value_name = "REF")]
    reference: String,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let source = package_file::read(&args.package)?;
    let doc = match package_file::parse(&args.package, &source) {
        Ok(doc) => doc,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let name = args.reference.strip_prefix('$').unwrap_or(&args.reference);
    let uses = Uses::find(doc.root(), name);
    if uses.is_empty() {
        return unknown(args, name, nearest_ref(doc.root(), name).as_deref());
    }
    let all = [&uses.declared, &uses.named, &uses.used]
        .into_iter()
        .flatten();
    let positions = Positions::find(
        without_mark(source.bytes()),
        all.map(|place| place.span.start).collect(),
    );
    let text = match args.format {
        Form::Text => screen(args, name, &uses, &positions),
        Form::Json => {
            let list = |places: &[UseSite]| {
                places
                    .iter()
                    .map(|place| document_of(place, &positions))
                    .collect::<Vec<_>>()
            };
            let body = json!({
                "path": args.package.to_string_lossy(),
                "ref": name,
                "declared": list(&uses.declared),
                "named": list(&uses.named),
                "used": list(&uses.used),
            });
            document::write("clean", &body)
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

fn unknown(args: &Args, name: &str, nearest: Option<&str>) -> Result<Exit, CliError> {
    let path = printable::path(&args.package);
    let shown = printable::line(name);
    let hint = nearest.map_or_else(
        || format!("`tplkit show {path}` lists the refs"),
        |nearest| format!("did you mean `${nearest}`? `tplkit show {path}` lists the refs"),
    );
    if args.format == Form::Json {
        let body = json!({
            "path": args.package.to_string_lossy(),
            "ref": name,
            "declared": [],
            "named": [],
            "used": [],
            "nearest": nearest,
        });
        write_result(&document::write("findings", &body), None)?;
    }
    print_note(&format!(
        "error: `{path}` does not know `${shown}`\n  help: {hint}"
    ));
    Ok(Exit::Findings)
}

fn document_of(place: &UseSite, positions: &Positions) -> Value {
    let at = positions.get(place.span.start);
    json!({
        "pointer": place.pointer,
        "line": at.line,
        "column": at.column,
        "what": place.what,
        "tool": place.tool,
    })
}

fn screen(args: &Args, name: &str, uses: &Uses, positions: &Positions) -> String {
    let mut out = String::new();
    for (title, places) in [
        ("declared by", &uses.declared),
        ("named by", &uses.named),
        ("used by", &uses.used),
    ] {
        // Writing to a String cannot fail, here and below.
        let end = if places.is_empty() { " nothing" } else { ":" };
        let _ = writeln!(out, "${} is {title}{end}", printable::line(name));
        for place in places {
            let at = positions.get(place.span.start);
            let tool = place
                .tool
                .as_ref()
                .map(|tool| format!("{tool}, "))
                .unwrap_or_default();
            let path = printable::path(&args.package);
            let text = format!(
                "{path}:{}:{} {} ({tool}{})",
                at.line, at.column, place.pointer, place.what
            );
            let _ = writeln!(out, "  {}", printable::line(&text));
        }
    }
    out
}
