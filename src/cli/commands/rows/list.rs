//! `tplkit rows list`: the rows of a table, all pages of them.
//!
//! Everything but the JSON document is written page by page, so that a large table needs no memory.

use std::collections::BTreeSet;
use std::path::Path;

use clap::ValueEnum;
use serde_json::value::RawValue;
use tplkit::client::{Client, Feature, Page, RowQuery};

use super::progress::Progress;
use super::table::{PagedTable, csv};
use crate::cli::candidates::Candidate;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{reader_left, write_data, write_result};
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::word_match::Choices;

/// List the rows of a table, over all pages, filtered and sorted.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List ten open orders", "tplkit rows list orders --filter status:eq:open --limit 10"),
    ("Write two columns of all rows as CSV, sorted", "tplkit rows list orders --fields number,status --sort=-number --format csv"),
]))]
pub(super) struct Args {
    /// The table: its id, name or label.
    feature: String,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Look for the table in all workspaces, although a default workspace is kept.
    #[arg(long, conflicts_with = "workspace")]
    all: bool,
    /// Only rows that match `column:op:value`; repeatable.
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,
    /// Whether a row has to match all filters or any of them.
    #[arg(long = "match", value_name = "WHICH", default_value = "all")]
    matching: Match,
    /// Sort by this column; `-COLUMN` sorts in descending order.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Only these columns, separated by commas.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    fields: Vec<String>,
    /// At most this many rows [default: all].
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

/// How filters go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Match {
    /// All filters.
    All,
    /// Any filter.
    Any,
}

/// Forms of a list of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A table for people.
    Text,
    /// One JSON document.
    Json,
    /// One row per line, as the API returns it.
    Jsonl,
    /// Comma-separated values with a header line.
    Csv,
}

type Rows = Page<Box<RawValue>>;

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let mut server = args.target.clone();
    let target = server.take_target(Path::new("."))?;
    let workspace = if args.all {
        None
    } else {
        args.workspace.word(&target, &server)?
    };
    let connection = Connection::open(&server, session)?;
    let client = &connection.client;
    let feature = feature(client, &args.feature, workspace.as_deref())?;
    let question = RowQuery {
        filters: args.filters.clone(),
        any: args.matching == Match::Any,
        sort: args.sort.clone(),
        fields: args.fields.clone(),
    };
    let mut walk = Walk {
        pages: client.rows(&feature, &question, args.limit),
        progress: Progress::new(session, args.format == Form::Json),
        counted: (client, &feature, &question),
        most: args.limit,
        unknown: BTreeSet::new(),
        next: None,
    };
    match args.format {
        Form::Json => print_all(&mut walk)?,
        Form::Jsonl => {
            while let Some(page) = walk.next()? {
                let lines: String = page.items.iter().map(|row| row_text(row)).collect();
                write_data(&lines, None)?;
            }
        }
        Form::Csv => {
            let columns = columns(client, &feature, &args.fields)?;
            // A refusal of the first page leaves no head without a table.
            let mut head = csv::head(&columns);
            while let Some(page) = walk.next()? {
                let rows = csv::rows(&columns, &page.items);
                write_data(&(std::mem::take(&mut head) + &rows), None)?;
            }
            write_data(&head, None)?;
        }
        Form::Text => {
            let mut sheet = PagedTable::new(columns(client, &feature, &args.fields)?);
            while let Some(page) = walk.next()? {
                write_result(&sheet.page(&page.items), None)?;
            }
        }
    }
    walk.print_notes(session);
    Ok(Exit::Done)
}

/// The pages, and what is learned on the way.
struct Walk<'c> {
    pages: tplkit::client::Pages<'c, Box<RawValue>>,
    progress: Progress<'c>,
    /// Client, table and query with which the rows are counted.
    counted: (&'c Client, &'c str, &'c RowQuery),
    most: Option<usize>,
    unknown: BTreeSet<String>,
    /// Where the page after the last one begins.
    next: Option<String>,
}

impl Walk<'_> {
    /// The next page, while standard output is open.
    fn next(&mut self) -> Result<Option<Rows>, CliError> {
        if reader_left() {
            self.progress.end();
            self.next = None;
            return Ok(None);
        }
        let Some(page) = self.pages.next() else {
            self.progress.end();
            return Ok(None);
        };
        let page = page.inspect_err(|_| self.progress.end())?;
        let (counted, most) = (self.counted, self.most);
        self.progress.add_of(page.items.len(), || {
            let (client, feature, question) = counted;
            let all = client.count_matching(feature, question).ok()?;
            Some(most.map_or(all, |most| all.min(most as u64)))
        });
        self.unknown.extend(page.unknown_columns.iter().cloned());
        self.next.clone_from(&page.next_cursor);
        Ok(Some(page))
    }

    fn print_notes(&self, session: &Session) {
        for column in &self.unknown {
            session.note(format!(
                "warning: the table has no column `{}`",
                column.escape_debug()
            ));
        }
        if self.next.is_some() {
            session.note("note: there are more rows; a larger `--limit`, or none, shows them");
        }
    }
}

/// All pages as one, in a document.
fn print_all(walk: &mut Walk<'_>) -> Result<(), CliError> {
    let mut items = Vec::new();
    while let Some(page) = walk.next()? {
        items.extend(page.items);
    }
    let data = document::page(&items, walk.next.as_deref());
    write_result(&document::write_raw("clean", &[("data", &*data)]), None)
}

/// A row on a line of its own, whatever the server's layout.
fn row_text(row: &RawValue) -> String {
    // Line ends inside strings are escapes; the others are layout.
    row.get().replace(['\n', '\r'], " ") + "\n"
}

/// The id of the table: as it was given, or looked up by name or label, in one workspace or in all.
fn feature(client: &Client, word: &str, workspace: Option<&str>) -> Result<String, CliError> {
    if uuid::Uuid::parse_str(word).is_ok() {
        return Ok(word.to_owned());
    }
    let workspace = workspace.map(|word| NamedWorkspace::find(client, word));
    let workspace = workspace.transpose()?.map(|found| found.id.to_string());
    let mut all: Vec<Feature> = Vec::new();
    for page in client.features(workspace.as_deref()) {
        all.extend(page?.items);
    }
    let candidates: Vec<Candidate> = all.iter().map(candidate).collect();
    let choices = Choices {
        noun: "table",
        none: None,
        all: &candidates,
        help: "`tplkit api GET /v1/features --paginate` lists tables with ids and names",
    };
    Ok(choices.find(word)?.id.clone())
}

fn candidate(feature: &Feature) -> Candidate {
    Candidate {
        id: feature.id.clone(),
        name: feature.name.clone(),
        label: feature.label.clone(),
        workspace: feature.workspace_id.clone(),
        ..Candidate::default()
    }
}

/// The columns of a sheet: those that were asked for, else those of the table.
fn columns(client: &Client, feature: &str, fields: &[String]) -> Result<Vec<String>, CliError> {
    if !fields.is_empty() {
        return Ok(fields.to_vec());
    }
    let columns = client.columns(feature)?;
    Ok(columns.into_iter().map(|column| column.name).collect())
}
