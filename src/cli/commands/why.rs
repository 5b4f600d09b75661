//! `tplkit why`: shows where a ref is declared and used.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tplkit::contents::{UseSite, Uses, known_refs, labels, nearest_ref};
use tplkit::finding::position::Positions;
use tplkit::finding::{FileSpan, LineColumn, Origin as _};
use tplkit::json::Node;
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::candidates::{Candidate, closest, labelled};
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{print_note, write_result};
use crate::cli::package_file::{self, PackageFile};
use crate::cli::session::Session;
use crate::cli::shell_word::shell_path;

/// Show where a ref is declared and where it is used.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Find all uses of a table", "tplkit why project-tracker.json f_tasks"),
    ("Find what a dependency is needed for", "tplkit why service-desk.json connection_desk_mail"),
]))]
pub(crate) struct Args {
    /// The package: a file or an unpacked folder; `-` is standard input.
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
    let doc = match package_file::parse(&source) {
        Ok(doc) => doc,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let name = args.reference.strip_prefix('$').unwrap_or(&args.reference);
    let uses = Uses::find(doc.root(), name);
    if uses.is_empty() {
        return unknown(args, name, doc.root());
    }
    let [declared, named, used] =
        [&uses.declared, &uses.named, &uses.used].map(|sites| located(&source, sites));
    let text = match args.format {
        Form::Text => screen(name, &source.path, [&declared, &named, &used]),
        Form::Json => {
            let list = |sites: &[LocatedUse<'_>]| sites.iter().map(document_of).collect::<Vec<_>>();
            let body = json!({
                "path": args.package.to_string_lossy(),
                "ref": name,
                "declared": list(&declared),
                "named": list(&named),
                "used": list(&used),
            });
            document::write("clean", &body)
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

fn unknown(args: &Args, name: &str, root: Node<'_>) -> Result<Exit, CliError> {
    let nearest = nearest_ref(root, name);
    let path = printable::path(&args.package);
    let shown = printable::line(name);
    let list = format!("`tplkit show {}` lists the refs", shell_path(&args.package));
    let hint = match &nearest {
        None => list,
        Some(nearest) => format!("did you mean `${nearest}`? {list}"),
    };
    if args.format == Form::Json {
        let body = json!({
            "path": args.package.to_string_lossy(),
            "ref": name,
            "declared": [],
            "named": [],
            "used": [],
            "nearest": nearest,
            "candidates": candidates(name, root),
        });
        write_result(&document::write("findings", &body), None)?;
    }
    print_note(&format!(
        "error: `{path}` does not know `${shown}`\n  help: {hint}"
    ));
    Ok(Exit::Findings)
}

/// The refs of the package that resemble one that it does not have.
fn candidates(name: &str, root: Node<'_>) -> Vec<Value> {
    let labels = labels(root);
    let known = known_refs(root).into_iter();
    let known = known.map(|known| labelled(&known, labels.get(&known).map(String::as_str)));
    let found = closest(name, &known.collect::<Vec<_>>());
    found.iter().map(Candidate::document).collect()
}

/// A use with its place.
struct LocatedUse<'u> {
    site: &'u UseSite,
    /// The file of a folder.
    file: Option<String>,
    at: LineColumn,
}

fn located<'u>(source: &PackageFile, sites: &'u [UseSite]) -> Vec<LocatedUse<'u>> {
    let place = |site: &UseSite| source.locate(&(site.span.start..site.span.start));
    // Each file is read once, however many uses are in it.
    let mut offsets: BTreeMap<Option<&str>, (&[u8], Vec<usize>)> = BTreeMap::new();
    for FileSpan { file, bytes, span } in sites.iter().map(place) {
        let (_, offsets) = offsets.entry(file).or_insert((bytes, Vec::new()));
        offsets.push(span.start);
    }
    let found = offsets.into_iter();
    let found: BTreeMap<_, Positions> = found
        .map(|(file, (bytes, offsets))| (file, Positions::find(bytes, offsets)))
        .collect();
    let located = sites.iter().map(|site| {
        let FileSpan { file, span, .. } = place(site);
        let positions = found.get(&file);
        LocatedUse {
            site,
            file: file.map(str::to_owned),
            at: positions.map_or(LineColumn::START, |positions| positions.get(span.start)),
        }
    });
    located.collect()
}

fn document_of(site: &LocatedUse<'_>) -> Value {
    let mut document = json!({
        "pointer": site.site.pointer,
        "line": site.at.line,
        "column": site.at.column,
        "what": site.site.what,
        "tool": site.site.tool,
    });
    if let Some(file) = &site.file {
        document["file"] = json!(file);
    }
    document
}

fn screen(name: &str, package: &Path, lists: [&[LocatedUse<'_>]; 3]) -> String {
    let mut out = String::new();
    for (title, sites) in ["declared by", "named by", "used by"]
        .into_iter()
        .zip(lists)
    {
        // Writing to a String cannot fail, here and below.
        let end = if sites.is_empty() { " nothing" } else { ":" };
        let _ = writeln!(out, "${} is {title}{end}", printable::line(name));
        for LocatedUse { site, file, at } in sites {
            let tool = site
                .tool
                .as_ref()
                .map(|tool| format!("{tool}, "))
                .unwrap_or_default();
            let path = match file {
                Some(file) => printable::path(&package.join(file)),
                None => printable::path(package),
            };
            let text = format!(
                "{path}:{}:{} {} ({tool}{})",
                at.line, at.column, site.pointer, site.what
            );
            let _ = writeln!(out, "  {}", printable::line(&text));
        }
    }
    out
}
