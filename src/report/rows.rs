//! Row payloads: sizes against the limits, and the first rows of each.
//!
//! Rows are streamed from the text and only those shown are read: an entry may be almost all of a
//! large file.

use std::collections::HashMap;

use super::contents::name;
use super::html::Html;
use super::{Page, cut, part};
use crate::check::facts::{Facts, Step};
use crate::contents::Payload;
use crate::finding::render::counted;
use crate::json::scan::Scanner;
use crate::json::{Doc, JsonKind, Node as Json, skip_value};
use crate::package::Tool;
use crate::package::reference::undollared;
use crate::package::size::{MOST_BYTES, MOST_ROWS};

/// Characters of a cell.
const MAX_CELL_CHARS: usize = 90;
/// Columns of a preview.
const MAX_COLUMNS: usize = 40;

/// One row, wherever it was read from.
enum Row<'d> {
    /// Out of the text of an entry.
    Streamed(Doc<'d>),
    /// Out of a plan step.
    Written(Json<'d>),
}

impl Row<'_> {
    fn get(&self, key: &str) -> Option<Json<'_>> {
        match self {
            Row::Streamed(doc) => doc.root().get(key),
            Row::Written(node) => node.get(key),
        }
    }
}

/// The first rows of an entry: as many as are shown, those that can be read.
fn first(rows: Json<'_>, count: usize) -> Vec<Row<'_>> {
    let text = rows.raw();
    let mut scanner = Scanner::new(text, 0);
    let mut read = Vec::new();
    if scanner.next_token() != Some(b'[') {
        return read;
    }
    scanner.pos += 1;
    let mut more = scanner.first_element();
    while read.len() < count && matches!(more, Ok(true)) {
        scanner.next_token();
        let from = scanner.pos;
        if skip_value(&mut scanner, text).is_err() {
            break;
        }
        read.extend(Doc::parse(&text[from..scanner.pos]).map(Row::Streamed));
        more = scanner.next_element();
    }
    read
}

/// One entry with what is shown of it.
struct Preview<'d> {
    table: String,
    /// The columns that it lists.
    listed: Vec<&'d str>,
    /// How many rows it has.
    count: usize,
    rows: Vec<Row<'d>>,
}

/// The payload entries, in order.
fn payloads<'d>(page: &Page<'_, 'd>) -> Vec<Preview<'d>> {
    let facts = page.facts();
    let entries = facts.payloads().into_iter().flat_map(Json::elements);
    let preview = |(entry, payload): (Json<'d>, &Payload)| {
        let table = entry.get_str("featureRef").map(undollared);
        let listed = entry.get("columns").into_iter().flat_map(Json::elements);
        let rows = entry.get("rows").filter(|rows| rows.is_array());
        Preview {
            table: table.map_or_else(|| "(no table)".to_owned(), |table| name(facts, table)),
            listed: listed.filter_map(Json::as_str).collect(),
            count: payload.rows,
            rows: rows.map_or_else(Vec::new, |rows| first(rows, page.report.rows)),
        }
    };
    entries.zip(&page.contents.payloads).map(preview).collect()
}

/// How many rows the plan inserts itself.
pub(super) fn inserted(facts: &Facts<'_>) -> usize {
    let of_step = |step: &Step<'_>| match step.tool {
        Some(Tool::InsertRow) => 1,
        Some(Tool::InsertRows) => step.arg("rows").map_or(0, Json::len),
        _ => 0,
    };
    facts.steps.iter().map(of_step).sum()
}

/// The rows that a plan written by hand inserts itself, step by step.
fn inserts<'d>(page: &Page<'_, 'd>) -> Vec<Preview<'d>> {
    let facts = page.facts();
    let mut inserts = Vec::new();
    for step in &facts.steps {
        let rows: Vec<Json<'d>> = match step.tool {
            Some(Tool::InsertRow) => step.args.into_iter().collect(),
            Some(Tool::InsertRows) => {
                let rows = step.arg("rows").into_iter().flat_map(Json::elements);
                rows.collect()
            }
            _ => continue,
        };
        let table = step.arg_ref("featureId");
        inserts.push(Preview {
            table: table.map_or_else(|| "(no table)".to_owned(), |table| name(facts, table)),
            listed: Vec::new(),
            count: rows.len(),
            rows: rows
                .into_iter()
                .take(page.report.rows)
                .map(Row::Written)
                .collect(),
        });
    }
    inserts
}

pub(super) fn write(page: &Page<'_, '_>, html: &mut Html) {
    let mut previews = payloads(page);
    let entries = previews.len();
    previews.extend(inserts(page));
    let mut anchors: HashMap<String, String> = HashMap::new();
    for (index, preview) in previews.iter().enumerate() {
        for (at, row) in preview.rows.iter().enumerate() {
            if let Some(uid) = row.get("uid").and_then(Json::as_str) {
                let anchor = || format!("row-{index}-{at}");
                anchors.entry(uid.to_owned()).or_insert_with(anchor);
            }
        }
    }
    part(html, "rows", "", |html| {
        if previews.is_empty() {
            html.say("p", "none", "No rows travel.");
        }
        if entries > 0 {
            sizes(page, &previews, html);
        }
        if entries < previews.len() {
            html.say(
                "p",
                "about",
                "The plan inserts rows itself, in steps of its own.",
            );
        }
        for (index, preview) in previews.iter().enumerate() {
            if preview.rows.is_empty() {
                continue;
            }
            html.with("details", &[("class", "card"), ("open", "")], |html| {
                html.with("summary", &[], |html| {
                    html.say("strong", "", &preview.table).raw(" ");
                    let shown = preview.rows.len();
                    let label = if shown < preview.count {
                        format!("the first {shown} of {}", counted(preview.count, "row"))
                    } else {
                        counted(preview.count, "row")
                    };
                    html.say("span", "soft", label);
                });
                table(page, index, preview, &anchors, html);
            });
        }
    });
}

fn sizes(page: &Page<'_, '_>, previews: &[Preview<'_>], html: &mut Html) {
    let limits = format!(
        "At most {MOST_ROWS} rows and {} KiB per table are offered for selection.",
        MOST_BYTES / 1024
    );
    html.say("p", "about", limits);
    html.scroll("Rows of each table", |html| {
        html.with("table", &[], |html| {
            html.heads(&["Table", "Rows", "Size", "Key column", "Limits"]);
            html.with("tbody", &[], |html| {
                for (preview, payload) in previews.iter().zip(&page.contents.payloads) {
                    html.with("tr", &[], |html| size(preview, payload, html));
                }
            });
        });
    });
}

fn size(preview: &Preview<'_>, payload: &Payload, html: &mut Html) {
    html.say("td", "", &preview.table);
    let meters = [
        (payload.rows, MOST_ROWS, payload.rows.to_string()),
        (
            payload.bytes,
            MOST_BYTES,
            format!("{} KiB", payload.bytes.div_ceil(1024)),
        ),
    ];
    for (value, most, label) in meters {
        html.with("td", &[("class", "meter")], |html| {
            html.say("span", "number", &label).raw(" ");
            let (value, high, most) = (
                value.to_string(),
                (most / 10 * 9).to_string(),
                most.to_string(),
            );
            let attributes = [
                ("min", "0"),
                ("max", most.as_str()),
                ("high", &high),
                ("optimum", "0"),
                ("value", &value),
            ];
            html.with("meter", &attributes, |html| {
                html.text(&label);
            });
        });
    }
    html.with("td", &[], |html| {
        match &payload.key_column {
            Some(key) => html.say("code", "", key),
            None => html.say("span", "soft", "none"),
        };
    });
    let (class, word) = if payload.within_limits {
        ("good", "within")
    } else {
        ("bad", "over")
    };
    html.say("td", class, word);
}

/// The names of the columns: those the entry lists, and any other that a shown row has.
fn columns<'p>(preview: &'p Preview<'_>) -> Vec<&'p str> {
    let mut names = preview.listed.clone();
    for row in &preview.rows {
        let data = row.get("data");
        for cell in data.into_iter().flat_map(Json::members) {
            let key = cell.key().unwrap_or_default();
            if !names.contains(&key) {
                names.push(key);
            }
        }
    }
    names
}

fn table(
    page: &Page<'_, '_>,
    index: usize,
    preview: &Preview<'_>,
    anchors: &HashMap<String, String>,
    html: &mut Html,
) {
    let mut names = columns(preview);
    let left_out = names.len().saturating_sub(MAX_COLUMNS);
    names.truncate(MAX_COLUMNS);
    html.scroll("First rows", |html| {
        html.with("table", &[("class", "preview")], |html| {
            html.heads(&names);
            html.with("tbody", &[], |html| {
                for (at, row) in preview.rows.iter().enumerate() {
                    html.with("tr", &[("id", &format!("row-{index}-{at}"))], |html| {
                        for name in &names {
                            html.with("td", &[], |html| {
                                let part = |key: &str| row.get(key)?.get(name);
                                cell(page, part("data"), part("refs"), anchors, html);
                            });
                        }
                    });
                }
            });
        });
    });
    if left_out > 0 {
        html.say(
            "p",
            "soft",
            format!("{} not shown", counted(left_out, "column")),
        );
    }
}

fn cell(
    page: &Page<'_, '_>,
    value: Option<Json<'_>>,
    link: Option<Json<'_>>,
    anchors: &HashMap<String, String>,
    html: &mut Html,
) {
    match value {
        None => {
            html.say("span", "soft", "–");
        }
        Some(value) if value.is_null() => {
            html.say("span", "soft", "–");
        }
        Some(value) => {
            html.text(cut(&cell_text(value), MAX_CELL_CHARS));
        }
    }
    let Some(link) = link else { return };
    // One triple, or a list of them under `rows`.
    let several = link.get("rows").into_iter().flat_map(Json::elements);
    let targets: Vec<Json<'_>> = if link.get("rows").is_some() {
        several.collect()
    } else {
        vec![link]
    };
    for target in targets.into_iter().take(8) {
        let table = target.get_str("featureRef").unwrap_or_default();
        let label = format!("→ {}", name(page.facts(), undollared(table)));
        html.raw(" ");
        match target.get_str("rowUid").and_then(|uid| anchors.get(uid)) {
            Some(anchor) => html.with(
                "a",
                &[("class", "link"), ("href", &format!("#{anchor}"))],
                |html| {
                    html.text(label);
                },
            ),
            None => html.say("span", "link", label),
        };
    }
}

/// A value in one line.
fn cell_text(value: Json<'_>) -> String {
    match value.kind() {
        JsonKind::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        JsonKind::Array => value
            .elements()
            .map(cell_text)
            .collect::<Vec<_>>()
            .join(", "),
        _ => value.raw().to_owned(),
    }
}
