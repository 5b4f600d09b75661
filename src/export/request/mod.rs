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

const MEMBERS: [&str; 7] = [
    "features",
    "views",
    "modules",
    "rails",
    "workflows",
    "rows",
    "identity",
];

impl Selection {
    /// Reads the body of an export.
    ///
    /// ```
    /// use tplkit::export::{RowsSelection, Selection};
    ///
    /// let selection = Selection::from_json(r#"{"rows": "all", "modules": []}"#).unwrap();
    /// assert_eq!(selection.rows, RowsSelection::All);
    /// assert_eq!(selection.modules, Some(Vec::new()));
    ///
    /// let faults = Selection::from_json(r#"{"row": "all", "views": "v"}"#).unwrap_err();
    /// assert_eq!(faults.len(), 2);
    /// ```
    pub fn from_json(text: &str) -> Result<Selection, Vec<Refusal>> {
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
                    "{at} stands twice in one object. Keep one of the two."
                ));
            }
        }
        let selection = reader.selection();
        if reader.faults.is_empty() {
            Ok(selection)
        } else {
            Err(reader.faults)
        }
    }
}

fn invalid(detail: String) -> Refusal {
    Refusal {
        code: Code::ValidationFailed,
        reference: None,
        detail,
    }
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

    fn selection(&mut self) -> Selection {
        let mut selection = Selection::default();
        if !self.is_object(self.root) {
            return selection;
        }
        for member in self.root.members() {
            match member.key().unwrap_or_default() {
                "features" => selection.features = self.ids(member),
                "views" => selection.views = self.ids(member),
                "modules" => selection.modules = self.ids(member),
                "rails" => selection.rails = self.ids(member),
                "workflows" => selection.workflows = self.ids(member),
                "rows" => selection.rows = self.rows(member),
                "identity" => selection.identity = self.identity(member),
                _ => self.unknown(member, &MEMBERS),
            }
        }
        selection
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
        let shown = suggest::short_text(node.raw());
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
