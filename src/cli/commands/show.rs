//! `tplkit show`: a package on one screen.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;
use tplkit::contents::{Contents, Dependency, Item, Payload};
use tplkit::finding::render::counted;
use tplkit::package::model::{Action, Reason, WireWord as _};
use tplkit::package::size::{MOST_BYTES, MOST_ROWS};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{folded, write_result};
use crate::cli::package_file;
use crate::cli::session::Session;

/// Show a package on one screen: items, rows, dependencies, missing references, sizes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Show a package", "tplkit show crm.json"),
    ("Show it as JSON, for a program", "tplkit show crm.json --format json"),
]))]
pub(crate) struct Args {
    /// The package: a file or an unpacked folder; `-` is standard input.
    #[arg(value_name = "PKG")]
    package: PathBuf,
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
    let contents = Contents::read(doc.root());
    let text = match args.format {
        Form::Text => folded(&screen(&contents)),
        Form::Json => {
            let path = args.package.to_string_lossy();
            document::write("clean", &json!({"path": path, "package": contents}))
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// A package on one screen.
pub(super) fn screen(contents: &Contents) -> String {
    let mut out = String::new();
    let title = contents
        .label
        .as_deref()
        .or(contents.name.as_deref())
        .unwrap_or("(no name)");
    // Writing to a String cannot fail, here and below.
    let version = contents.template_version.as_deref().unwrap_or("unknown");
    line(&mut out, &format!("{title}, template version {version}"));
    if let (Some(workspace), Some(at)) = (&contents.workspace, &contents.generated_at) {
        line(&mut out, &format!("from workspace `{workspace}`, {at}"));
    }
    let steps = counted(contents.steps, "plan step");
    let summary = contents.summary.as_deref().unwrap_or("no summary");
    line(&mut out, &format!("{steps}: {summary}"));
    section(&mut out, "Items", contents.items.len());
    let names = table_names(contents);
    for (index, item) in contents.items.iter().enumerate() {
        write_item(
            &mut out,
            item,
            &names,
            "",
            index + 1 == contents.items.len(),
        );
    }
    section(&mut out, "Rows", contents.payloads.len());
    contents
        .payloads
        .iter()
        .for_each(|payload| write_payload(&mut out, payload));
    section(
        &mut out,
        "Dependencies: the destination decides",
        contents.dependencies.len(),
    );
    contents
        .dependencies
        .iter()
        .for_each(|dependency| write_dependency(&mut out, dependency));
    section(&mut out, "Unresolved", contents.unresolved.len());
    for entry in &contents.unresolved {
        let rows = entry
            .count
            .map(|count| format!(", {}", counted(usize::try_from(count).unwrap_or(0), "row")))
            .unwrap_or_default();
        // What is not a word of the format stands as it is.
        let reason =
            Reason::parse(&entry.reason).map_or(&*entry.reason, |reason| reason.in_words());
        let action =
            Action::parse(&entry.action).map_or(&*entry.action, |action| action.in_words());
        let text = format!("  {} {}: {reason}; {action}{rows}", entry.item, entry.path);
        line(&mut out, &text);
    }
    section(&mut out, "Redacted", contents.redacted.len());
    for entry in &contents.redacted {
        let text = format!("  {} {}: {}", entry.item, entry.path, entry.reason);
        line(&mut out, &text);
    }
    out
}

/// A line, whatever the package says in it.
fn line(out: &mut String, text: &str) {
    out.push_str(&printable::line(text));
    out.push('\n');
}

fn section(out: &mut String, title: &str, count: usize) {
    let _ = if count == 0 {
        writeln!(out, "\n{title}: none")
    } else {
        writeln!(out, "\n{title}")
    };
}

/// What people call the tables and dependencies, by ref.
fn table_names(contents: &Contents) -> HashMap<&str, &str> {
    let tables = contents.items.iter();
    let tables = tables.filter_map(|item| Some((item.reference.as_deref()?, item.label.as_str())));
    let outside = contents.dependencies.iter();
    let outside = outside.filter_map(|dependency| {
        Some((dependency.reference.as_str(), dependency.name.as_deref()?))
    });
    outside.chain(tables).collect()
}

fn write_item(
    out: &mut String,
    item: &Item,
    names: &HashMap<&str, &str>,
    indent: &str,
    last: bool,
) {
    let (branch, below) = if last {
        ("└─ ", "   ")
    } else {
        ("├─ ", "│  ")
    };
    let reference = item
        .reference
        .as_ref()
        .map(|reference| format!("  ${reference}"))
        .unwrap_or_default();
    let rows = item.count.map(|count| {
        format!(
            "  {}, {}",
            counted(usize::try_from(count).unwrap_or(usize::MAX), "row"),
            item.data_class.as_deref().unwrap_or("no class")
        )
    });
    let rows = rows.unwrap_or_default();
    let of_column = match (&item.column_type, &item.links_to) {
        (Some(kind), Some(table)) => {
            let name = names
                .get(table.as_str())
                .map_or_else(|| format!("${table}"), ToString::to_string);
            format!("  {kind} to {name}")
        }
        (Some(kind), None) => format!("  {kind}"),
        (None, _) => String::new(),
    };
    let text = format!(
        "  {indent}{branch}{} {}{reference}{of_column}{rows}",
        item.kind, item.label
    );
    line(out, &text);
    let indent = format!("{indent}{below}");
    for (index, child) in item.children.iter().enumerate() {
        write_item(out, child, names, &indent, index + 1 == item.children.len());
    }
}

fn write_payload(out: &mut String, payload: &Payload) {
    let key = payload
        .key_column
        .as_ref()
        .map_or("no key column".to_owned(), |key| {
            format!("key column `{key}`")
        });
    let verdict = if payload.within_limits {
        "within"
    } else {
        "OVER"
    };
    let text = format!(
        "  ${}: {} of {MOST_ROWS}, {} KiB of {} KiB, {verdict} the limits; {key}",
        payload.feature_ref,
        counted(payload.rows, "row"),
        payload.bytes.div_ceil(1024),
        MOST_BYTES / 1024,
    );
    line(out, &text);
}

fn write_dependency(out: &mut String, dependency: &Dependency) {
    let need = if dependency.required {
        "required"
    } else {
        "optional"
    };
    let name = dependency
        .name
        .as_ref()
        .map(|name| format!(" `{name}`"))
        .unwrap_or_default();
    let choices = if dependency.has_blueprint {
        "import, map or skip"
    } else {
        "map or skip"
    };
    let text = format!(
        "  ${} {}{name} by {}, {need}: {choices} (proposed: {}), {}",
        dependency.reference,
        dependency.kind,
        dependency.form,
        dependency.proposal,
        counted(dependency.uses, "use"),
    );
    line(out, &text);
    if !dependency.columns.is_empty() {
        line(
            out,
            &format!("      columns: {}", dependency.columns.join(", ")),
        );
    }
    if let Some(description) = &dependency.description {
        line(out, &format!("      {description}"));
    }
}
