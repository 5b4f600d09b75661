//! `tplkit graph`: a package as a picture, or as a graph for other tools.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;
use tplkit::check::facts::Facts;
use tplkit::definitions::Definitions;
use tplkit::finding::render::{json as report_json, text as report_text};
use tplkit::finding::suggest;
use tplkit::graph::{self, Canvas, Graph};
use tplkit::json::Node;

use crate::cli::candidates::{Candidate, labelled};
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{write_result, write_styled};
use crate::cli::overwrite::refuse_input;
use crate::cli::package_file;
use crate::cli::session::Session;
use crate::cli::settings::definitions_for;
use crate::cli::word_match::unknown_word;

/// How much a word has to resemble a ref, or its label, to be taken for it.
const MIN_SIMILARITY: f64 = 0.6;

/// Draw a package: its references, its tables, its plan, its dependencies or its automations.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Draw which items refer to which, as a picture", "tplkit graph crm.json --format svg -o crm.svg"),
    ("Draw the tables around one of them, with columns and links", "tplkit graph service-desk.json --kind er --focus f_tickets --format svg -o tickets.svg"),
    ("Draw the automations as a Mermaid diagram", "tplkit graph service-desk.json --kind automations --format mermaid"),
]))]
pub(crate) struct Args {
    /// The package: a file or an unpacked folder; `-` is standard input.
    #[arg(value_name = "PKG")]
    package: PathBuf,
    /// What to draw.
    #[arg(long, default_value = "refs")]
    kind: GraphKindArg,
    /// Draw this ref, and what one edge joins to it, alone.
    #[arg(long, value_name = "REF")]
    focus: Option<String>,
    /// Output format.
    #[arg(long, default_value = "dot")]
    format: Format,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Use the registry in this file, from another server, instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    definitions: Option<PathBuf>,
}

/// What to draw.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum GraphKindArg {
    /// Tables, views, modules, rails, automations and dependencies, and what they refer to.
    Refs,
    /// The steps in order, by phase, from the one that declares a ref to those that use it.
    Plan,
    /// The dependencies and what uses them.
    Deps,
    /// Each automation from its trigger through its branches.
    Automations,
    /// The tables with their columns, and the links between them.
    Er,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For Graphviz.
    Dot,
    /// For Markdown pages that draw Mermaid.
    Mermaid,
    /// A picture, for light and dark backgrounds.
    Svg,
    /// One JSON document.
    Json,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let inputs = [Some(args.package.as_path()), args.definitions.as_deref()];
    refuse_input(args.output.as_deref(), inputs)?;
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
                Format::Json => report_json(&report),
                _ => report_text(&report, session.style(None)),
            };
            write_styled(&text, None)?;
            return Ok(Exit::Findings);
        }
    };
    let definitions: &Definitions = &definitions;
    let (manifest, _) = tplkit::contents::halves(doc.root());
    let facts = Facts::new(&doc, manifest, definitions);
    let whole = Graph::read(&facts, args.kind.into());
    let graph = match &args.focus {
        Some(word) => focus(&whole, &facts, doc.root(), word)?,
        None => whole,
    };
    let text = match args.format {
        Format::Dot => graph::dot(&graph),
        Format::Mermaid => graph::mermaid(&graph),
        Format::Svg => graph::svg(&graph, Canvas::File),
        Format::Json => {
            let mut body = json!({"path": args.package.to_string_lossy()});
            if let (Some(body), serde_json::Value::Object(members)) =
                (body.as_object_mut(), graph::json(&graph))
            {
                body.extend(members);
            }
            document::write("clean", &body)
        }
    };
    write_result(&text, args.output.as_deref())?;
    Ok(Exit::Done)
}

/// The part around a ref; the dollar is tolerated.
fn focus(graph: &Graph, facts: &Facts<'_>, root: Node<'_>, word: &str) -> Result<Graph, CliError> {
    let reference = word.strip_prefix('$').unwrap_or(word);
    graph.focus(facts, reference).ok_or_else(|| {
        let declared = facts.steps.iter().filter_map(|step| step.reference);
        let outside = facts.dependencies.iter().filter_map(|one| one.reference);
        let known: Vec<&str> = declared.chain(outside).collect();
        if known.contains(&reference) {
            return CliError::Usage {
                message: format!("`${reference}` is not part of this graph"),
                help: "choose another `--kind`".to_owned(),
            };
        }
        let labels = tplkit::contents::labels(root);
        let label = |known: &str| labels.get(known).map(String::as_str);
        let known: Vec<Candidate> = known
            .into_iter()
            .map(|one| labelled(one, label(one)))
            .collect();
        let message = format!("the package has no ref `${}`", reference.escape_debug());
        let mut error = unknown_word(
            message,
            reference,
            &known,
            "`tplkit show PKG` shows what is in it",
        );
        // A label, or a name without its kind, is too far from its ref for a typing mistake.
        let drawn = known
            .iter()
            .filter(|one| graph.focus(facts, &one.id).is_some());
        if let CliError::UnknownWord { help, .. } = &mut error
            && !help.starts_with("did you mean")
            && let Some(meant) = alike(reference, drawn)
        {
            *help = format!("did you mean `{}`? {help}", meant.escape_debug());
        }
        error
    })
}

/// The ref that resembles a word most, by itself or by its label, where one resembles it enough.
fn alike<'c>(word: &str, known: impl Iterator<Item = &'c Candidate>) -> Option<&'c str> {
    let likeness = |one: &Candidate| {
        let names = [Some(one.id.as_str()), one.label.as_deref()];
        let names = names.into_iter().flatten();
        names
            .map(|name| suggest::likeness(word, name))
            .fold(0.0, f64::max)
    };
    let nearest = known.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(nearest) >= MIN_SIMILARITY).then_some(nearest.id.as_str())
}

impl From<GraphKindArg> for graph::GraphKind {
    fn from(kind: GraphKindArg) -> graph::GraphKind {
        match kind {
            GraphKindArg::Refs => graph::GraphKind::Refs,
            GraphKindArg::Plan => graph::GraphKind::Plan,
            GraphKindArg::Deps => graph::GraphKind::Deps,
            GraphKindArg::Automations => graph::GraphKind::Automations,
            GraphKindArg::Er => graph::GraphKind::Er,
        }
    }
}
