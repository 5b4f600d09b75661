//! Reads a selection: the JSON body of an export (`rest` 6.2).
//!
//! All faults are reported at once, each with its dotted path. This module does not know the
//! workspace, so it does not check names.

mod identity;
#[cfg(test)]
mod tests;
mod write;

use super::selection::{RowsSelection, Selection};
use crate::apply::Refusal;
use crate::finding::position::Positions;
use crate::finding::suggest;
use crate::json::path::dotted;
use crate::json::{Anomaly, Doc, Node};
use crate::problem::Code;
use crate::workspace::Id;

/// What to export. An absent list means all of that kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "Export")
)]
pub struct ExportRequest {
    /// What is to travel.
    #[cfg_attr(feature = "schemas", schemars(flatten))]
    pub selection: Selection,
    /// Whether the selection was made: one of its lists, or `rows`. Otherwise everything travels, or what
    /// an earlier package holds.
    #[cfg_attr(feature = "schemas", schemars(skip))]
    pub chosen: bool,
    /// A visible template whose identity the package takes over: uids, refs, rows that are still the same, and the
    /// catalog fields that `identity` does not give. Without a selection, what it holds travels.
    pub onto: Option<Id>,
}

const MEMBERS: [&str; 8] = [
    "features",
    "views",
    "modules",
    "rails",
    "workflows",
    "rows",
    "identity",
    "onto",
];

/// Those that make a selection.
const CHOOSING: [&str; 6] = ["features", "views", "modules", "rails", "workflows", "rows"];

impl ExportRequest {
    /// Reads the body of an export.
    ///
    /// ```
    /// use tplkit::export::{ExportRequest, RowsSelection};
    ///
    /// let request = ExportRequest::from_json(r#"{"rows": "all", "modules": []}"#).unwrap();
    /// assert_eq!(request.selection.rows, RowsSelection::All);
    /// assert_eq!(request.selection.modules, Some(Vec::new()));
    /// assert!(request.chosen && request.onto.is_none());
    ///
    /// let faults = ExportRequest::from_json(r#"{"row": "all", "views": "v"}"#).unwrap_err();
    /// assert_eq!(faults.len(), 2);
    /// ```
    pub fn from_json(text: &str) -> Result<ExportRequest, Vec<Refusal>> {
        let doc = Doc::parse(text).map_err(|error| {
            let place = Positions::find(text.as_bytes(), vec![error.offset]).get(error.offset);
            vec![invalid(format!(
                "not JSON: line {}, column {}: {}.",
                place.line, place.column, error.kind
            ))]
        })?;
        let mut reader = Reader::new(doc.root());
        for anomaly in doc.anomalies() {
            if let Anomaly::DuplicateKey(member) = anomaly {
                let at = reader.at(doc.node(*member));
                reader.refuse(&format!(
                    "{at} appears twice in one object. Keep one of the two."
                ));
            }
        }
        let request = reader.request();
        if reader.faults.is_empty() {
            Ok(request)
        } else {
            Err(reader.faults)
        }
    }
}

impl Selection {
    /// Reads the body of an export that goes on from no template.
    ///
    /// ```
    /// use tplkit::export::{RowsSelection, Selection};
    ///
    /// let selection = Selection::from_json(r#"{"rows": "all"}"#).unwrap();
    /// assert_eq!(selection.rows, RowsSelection::All);
    /// ```
    pub fn from_json(text: &str) -> Result<Selection, Vec<Refusal>> {
        let request = ExportRequest::from_json(text)?;
        match request.onto {
            Some(_) => Err(vec![invalid(
                "`onto` is nothing that a selection has.".to_owned(),
            )]),
            None => Ok(request.selection),
        }
    }
}

fn invalid(detail: String) -> Refusal {
    Refusal::new(Code::ValidationFailed, detail)
}

struct Reader<'d> {
    root: Node<'d>,
    faults: Vec<Refusal>,
}

impl<'d> Reader<'d> {
    fn new(root: Node<'d>) -> Reader<'d> {
        Reader {
            root,
            faults: Vec::new(),
        }
    }

    fn request(&mut self) -> ExportRequest {
        let mut request = ExportRequest::default();
        if !self.is_object(self.root) {
            return request;
        }
        let selection = &mut request.selection;
        for member in self.root.members() {
            let key = member.key().unwrap_or_default();
            request.chosen |= CHOOSING.contains(&key);
            match key {
                "features" => selection.features = self.ids(member),
                "views" => selection.views = self.ids(member),
                "modules" => selection.modules = self.ids(member),
                "rails" => selection.rails = self.ids(member),
                "workflows" => selection.workflows = self.ids(member),
                "rows" => selection.rows = self.rows(member),
                "identity" => selection.identity = self.identity(member),
                "onto" => request.onto = self.id(member),
                _ => self.unknown(member, &MEMBERS),
            }
        }
        request
    }

    fn ids(&mut self, node: Node<'d>) -> Option<Vec<Id>> {
        if !node.is_array() {
            self.wrong(node, "a list of ids, or leave it out to take all");
            return None;
        }
        let ids = node.elements().filter_map(|element| self.id(element));
        Some(ids.collect())
    }

    fn id(&mut self, node: Node<'d>) -> Option<Id> {
        // The hyphenated spelling alone, so that one id has one spelling.
        let text = node.as_str().filter(|text| text.len() == 36);
        let id = text.and_then(|text| Id::try_parse(text).ok());
        if id.is_none() {
            self.wrong(node, "a UUID");
        }
        id
    }

    fn rows(&mut self, node: Node<'d>) -> RowsSelection {
        match node.as_str() {
            Some("none") => RowsSelection::None,
            Some("all") => RowsSelection::All,
            _ if node.is_array() => RowsSelection::Some(self.ids(node).unwrap_or_default()),
            _ => {
                self.wrong(node, "`none`, `all` or a list of the ids of tables");
                RowsSelection::None
            }
        }
    }

    fn is_object(&mut self, node: Node<'d>) -> bool {
        if !node.is_object() {
            self.wrong(node, "an object");
        }
        node.is_object()
    }

    fn text(&mut self, node: Node<'d>) -> Option<String> {
        if node.as_str().is_none() {
            self.wrong(node, "a string");
        }
        node.as_str().map(str::to_owned)
    }

    fn wrong(&mut self, node: Node<'d>, expected: &str) {
        let shown = suggest::short_value(node.raw());
        let at = self.at(node);
        self.refuse(&format!("{at} is {shown}. Give {expected}."));
    }

    fn unknown(&mut self, member: Node<'d>, known: &[&str]) {
        let key = member.key().unwrap_or_default();
        let help = suggest::help(key, known.iter().copied()).unwrap_or_default();
        let at = self.at(member);
        self.refuse(&format!("{at} is nothing that a selection has. {help}"));
    }

    fn at(&self, node: Node<'d>) -> String {
        match dotted(self.root, node) {
            path if path.is_empty() => "the selection".to_owned(),
            path => format!("`{path}`"),
        }
    }

    fn refuse(&mut self, detail: &str) {
        self.faults.push(invalid(detail.trim_end().to_owned()));
    }
}
