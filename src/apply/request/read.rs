//! Reads a request: JSON as in the body of an apply, or TOML of the same shape.
//!
//! All faults are reported at once, each with its dotted path. This module does not know the
//! package, so it does not check refs.

use indexmap::IndexMap;
use toml::de::DeTable;

use super::{Request, Resolution, RowsMode, UpgradeTerms};
use crate::apply::Refusal;
use crate::finding::position::Positions;
use crate::finding::suggest;
use crate::json::path::push_dotted;
use crate::json::{Anomaly, Doc, Node, Value};
use crate::package::reference::{WORKSPACE, is_declaration, undollared};
use crate::problem::Code;
use crate::toml_text;
use crate::workspace::Id;

/// The members of a request. The caller reads the workspace and the job.
const MEMBERS: [&str; 14] = [
    "$schema",
    "workspaceId",
    "includeRows",
    "jobId",
    "resolutions",
    "rowsModes",
    "copy",
    "plan",
    "upgrade",
    "allowDowngrade",
    "allowDestructive",
    "baseJob",
    "conflicts",
    "decisions",
];
const ACTIONS: [&str; 3] = ["import", "map", "skip"];
const MODES: [&str; 3] = ["all", "missingByKey", "none"];

impl Request {
    /// Reads JSON: the body of an apply, or a resolutions file. `workspaceId` and `jobId` may
    /// stand there; they are checked for their shape and left to the caller.
    pub fn from_json(text: &str) -> Result<Request, Vec<Refusal>> {
        let doc = Doc::parse(text).map_err(|error| {
            let place = Positions::find(text.as_bytes(), vec![error.offset]).get(error.offset);
            vec![invalid(format!(
                "not JSON: line {}, column {}: {}.",
                place.line, place.column, error.kind
            ))]
        })?;
        let repeated = doc.anomalies().iter().filter_map(|anomaly| match anomaly {
            Anomaly::DuplicateKey(node) => Some(doc.node(*node)),
            _ => None,
        });
        let mut faults: Vec<Refusal> = repeated
            .map(|member| {
                let at = path_of(member);
                invalid(format!(
                    "`{at}` appears twice in one object. Keep one of the two."
                ))
            })
            .collect();
        match Request::read(doc.root()) {
            Ok(request) if faults.is_empty() => Ok(request),
            Ok(_) => Err(faults),
            Err(more) => {
                faults.extend(more);
                Err(faults)
            }
        }
    }

    /// Reads a value that was parsed already.
    pub fn from_value(value: &Value) -> Result<Request, Vec<Refusal>> {
        Request::from_json(&value.write())
    }

    /// Reads TOML of the same shape: a resolutions file.
    pub fn from_toml(text: &str) -> Result<Request, Vec<Refusal>> {
        let not_toml = |at: usize, message: &str| {
            let place = Positions::find(text.as_bytes(), vec![at]).get(at);
            let message = message.replace('\n', ", ");
            vec![invalid(format!(
                "not TOML: line {}, column {}: {message}.",
                place.line, place.column
            ))]
        };
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            not_toml(at, error.message())
        })?;
        let body = toml_text::object(table.get_ref())
            .map_err(|error| not_toml(error.offset, &error.to_string()))?;
        Request::from_value(&Value::Object(body))
    }

    /// Reads a node of a document; repeated keys are the caller's to find.
    pub fn read(root: Node<'_>) -> Result<Request, Vec<Refusal>> {
        Request::read_beside(root, &[])
    }

    /// Like [`read`](Request::read), for a body from which the members `taken` were removed: those names count as
    /// known.
    pub fn read_beside(root: Node<'_>, taken: &[&str]) -> Result<Request, Vec<Refusal>> {
        let mut reader = Reader { faults: Vec::new() };
        let request = reader.request(root, taken);
        if reader.faults.is_empty() {
            Ok(request)
        } else {
            Err(reader.faults)
        }
    }
}

fn invalid(detail: String) -> Refusal {
    Refusal::new(Code::ValidationFailed, detail)
}

/// How a dependency is satisfied at the destination, as it is sent.
#[derive(Default)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "Resolution", rename_all = "camelCase")
)]
pub(super) struct ResolutionBody {
    /// `import` creates it from the package, `map` uses a record of the destination, `skip` leaves it out.
    #[cfg_attr(feature = "schemas", schemars(with = "String", extend("enum" = ACTIONS)))]
    action: Option<&'static str>,
    /// The record at the destination that takes the place of the dependency: its id, or its name.
    id: Option<String>,
    /// Columns of the mapped table, by the refs of the dependency's columns.
    #[cfg_attr(feature = "schemas", schemars(with = "Option<IndexMap<String, Id>>"))]
    columns: IndexMap<String, Id>,
    /// Names of required destination columns that rows may leave empty.
    #[cfg_attr(feature = "schemas", schemars(with = "Option<Vec<String>>"))]
    leave_empty: Vec<String>,
}

pub(super) struct Reader {
    faults: Vec<Refusal>,
}

impl Reader {
    fn request(&mut self, root: Node<'_>, taken: &[&str]) -> Request {
        let mut request = Request::default();
        if !root.is_object() {
            self.wrong(root, "an object");
            return request;
        }
        for member in root.members() {
            match member.key().unwrap_or_default() {
                "$schema" => drop(self.text(member)),
                "workspaceId" | "jobId" => drop(self.id(member)),
                "includeRows" => {
                    request.include_rows = self.flag(member).unwrap_or(request.include_rows);
                }
                "copy" => request.copy = self.flag(member).unwrap_or(request.copy),
                "upgrade" => request.upgrade = self.flag(member).unwrap_or_default(),
                key if UpgradeTerms::MEMBERS.contains(&key) => request.terms.read(self, member),
                "plan" => request.plan = self.text(member).map(str::to_owned),
                "resolutions" => {
                    request.resolutions = self.by_ref(member, "a dependency", |reader, member| {
                        reader.resolution(member)
                    });
                }
                "rowsModes" => {
                    request.rows_modes = self.by_ref(member, "a table", |reader, member| {
                        reader.word(member, &MODES).and_then(RowsMode::parse)
                    });
                }
                _ => self.unknown(member, &[&MEMBERS[..], taken].concat()),
            }
        }
        if !request.upgrade {
            request.terms.note_empty(root);
        }
        request
    }

    fn resolution(&mut self, node: Node<'_>) -> Option<Resolution> {
        if !node.is_object() {
            self.wrong(node, "an object with `action`");
            return None;
        }
        let action = node.get("action");
        if action.is_none() {
            let at = path_of(node);
            let detail = format!(
                "`{at}` has no `action`. Give one of: {}.",
                ACTIONS.join(", ")
            );
            self.about(node, &detail);
        }
        let mut body = ResolutionBody {
            action: action.and_then(|action| self.word(action, &ACTIONS)),
            ..ResolutionBody::default()
        };
        for member in node.members() {
            match member.key().unwrap_or_default() {
                "action" => {}
                "id" => {
                    let id = self.text(member).filter(|text| self.filled(member, text));
                    body.id = id.map(str::to_owned);
                }
                "columns" => {
                    self.of_map_alone(body.action, member);
                    body.columns = self.by_ref(member, "a column", Reader::id);
                    self.distinct(member, &body.columns);
                }
                "leaveEmpty" => {
                    self.of_map_alone(body.action, member);
                    body.leave_empty = self.names(member);
                }
                _ => self.unknown(member, &["action", "id", "columns", "leaveEmpty"]),
            }
        }
        match body.action? {
            "import" => Some(Resolution::Import),
            "skip" => Some(Resolution::Skip),
            _ => {
                let Some(id) = body.id else {
                    if node.get("id").is_none() {
                        let at = path_of(node);
                        self.about(node, &format!(
                            "`{at}` maps and does not say to what. Give `id`: the id of what the destination has (its name, when the dependency is one by name)."
                        ));
                    }
                    return None;
                };
                Some(Resolution::Map {
                    id,
                    columns: body.columns,
                    leave_empty: body.leave_empty,
                })
            }
        }
    }

    /// A member that only a mapping has.
    fn of_map_alone(&mut self, action: Option<&str>, member: Node<'_>) {
        if action.is_some_and(|action| action != "map") {
            let at = path_of(member);
            let detail = format!("`{at}` belongs to the action `map` alone. Leave it out, or map.");
            self.about(member, &detail);
        }
    }

    /// Two columns cannot both be one: its cells would be written twice.
    fn distinct(&mut self, node: Node<'_>, columns: &IndexMap<String, Id>) {
        for (at, (reference, id)) in columns.iter().enumerate() {
            let mut earlier = columns.iter().take(at);
            if let Some((first, _)) = earlier.find(|(_, other)| *other == id) {
                let place = path_of(node);
                let detail = format!(
                    "`{place}` maps both `{first}` and `{reference}` to the column {id}. Map each to a column of its own."
                );
                self.about(node, &detail);
            }
        }
    }

    /// A list of names.
    fn names(&mut self, node: Node<'_>) -> Vec<String> {
        if !node.is_array() {
            self.wrong(node, "a list of column names");
            return Vec::new();
        }
        let mut names: Vec<String> = Vec::new();
        for element in node.elements() {
            match element.as_str() {
                Some(name) if !names.iter().any(|known| known == name) => {
                    names.push(name.to_owned());
                }
                Some(_) => {}
                None => self.wrong(element, "the name of a column"),
            }
        }
        names
    }

    /// Members by ref. A leading dollar is tolerated; the same ref in both spellings is not.
    pub(super) fn by_ref<T>(
        &mut self,
        node: Node<'_>,
        what: &str,
        mut read: impl FnMut(&mut Reader, Node<'_>) -> Option<T>,
    ) -> IndexMap<String, T> {
        let mut read_members = IndexMap::new();
        let mut seen: Vec<&str> = Vec::new();
        if !node.is_object() {
            self.wrong(node, "an object");
            return read_members;
        }
        for member in node.members() {
            let key = member.key().unwrap_or_default();
            let reference = undollared(key);
            if seen.contains(&reference) {
                let at = path_of(node);
                self.faults.push(Refusal::about(
                    Code::UnknownResolutionRef,
                    reference,
                    format!(
                        "`{at}` has both `{reference}` and `${reference}`, which are one ref. Keep one of the two."
                    ),
                ));
                continue;
            }
            seen.push(reference);
            let of_workspace = what == "a thing" && reference == WORKSPACE;
            if !(is_declaration(reference) || of_workspace) {
                let at = path_of(node);
                self.faults.push(Refusal::about(
                    Code::UnknownResolutionRef,
                    reference,
                    format!("`{at}` names {key:?}, which is not a ref. Name {what} by its ref, such as `f_clients`."),
                ));
            }
            if let Some(value) = read(self, member) {
                read_members.insert(reference.to_owned(), value);
            }
        }
        read_members
    }

    pub(super) fn flag(&mut self, node: Node<'_>) -> Option<bool> {
        let value = node.as_bool();
        if value.is_none() {
            self.wrong(node, "true or false");
        }
        value
    }

    fn text<'d>(&mut self, node: Node<'d>) -> Option<&'d str> {
        let value = node.as_str();
        if value.is_none() {
            self.wrong(node, "a string");
        }
        value
    }

    fn filled(&mut self, node: Node<'_>, text: &str) -> bool {
        if text.is_empty() {
            self.wrong(node, "an id or a name");
        }
        !text.is_empty()
    }

    pub(super) fn id(&mut self, node: Node<'_>) -> Option<Id> {
        // The hyphenated spelling alone, so that one id has one spelling.
        let text = node.as_str().filter(|text| text.len() == 36);
        let id = text.and_then(|text| Id::try_parse(text).ok());
        if id.is_none() {
            self.wrong(node, "a UUID");
        }
        id
    }

    pub(super) fn word(&mut self, node: Node<'_>, words: &[&'static str]) -> Option<&'static str> {
        let found = words.iter().find(|word| node.as_str() == Some(**word));
        if found.is_none() {
            self.wrong(node, &format!("one of {}", words.join(", ")));
        }
        found.copied()
    }

    pub(super) fn wrong(&mut self, node: Node<'_>, expected: &str) {
        let at = path_of(node);
        let shown = suggest::short_value(node.raw());
        let place = if at.is_empty() {
            "the request".to_owned()
        } else {
            format!("`{at}`")
        };
        self.about(node, &format!("{place} is {shown}. Give {expected}."));
    }

    pub(super) fn unknown(&mut self, member: Node<'_>, known: &[&str]) {
        let key = member.key().unwrap_or_default();
        let help = suggest::help(key, known.iter().copied()).unwrap_or_default();
        let at = path_of(member);
        self.about(
            member,
            &format!("`{at}` is nothing that a request has. {help}"),
        );
    }

    /// A word for a whole thing at the path of a leaf.
    pub(super) fn unknown_word(&mut self, node: Node<'_>, word: &str) {
        let at = path_of(node);
        let detail = format!(
            "`{at}` is {word:?}, a word for a whole thing: it stands under the ref itself. Give `ours`, `theirs` or `{{ value = … }}`."
        );
        let mut fault = fault_at(node, &detail);
        fault.code = Code::UnknownResolutionRef;
        self.faults.push(fault);
    }

    /// Notes what is wrong with a node.
    pub(super) fn about(&mut self, node: Node<'_>, detail: &str) {
        let fault = fault_at(node, detail);
        self.faults.push(fault);
    }
}

/// A fault of the shape, with the ref of the resolution that it is in.
fn fault_at(node: Node<'_>, detail: &str) -> Refusal {
    let mut above = std::iter::successors(Some(node), |node| node.parent());
    let entry = above.find(|node| {
        let list = node.parent();
        list.is_some_and(|list| {
            matches!(list.key(), Some("resolutions" | "rowsModes" | "decisions"))
                && list.parent().is_some_and(|root| root.parent().is_none())
        })
    });
    Refusal {
        reference: entry
            .and_then(Node::key)
            .map(|key| undollared(key).to_owned()),
        ..Refusal::new(Code::ValidationFailed, detail.trim_end())
    }
}

/// The dotted path from the root of the document. What a decision stands under is a path already.
pub(super) fn path_of(node: Node<'_>) -> String {
    let mut segments: Vec<_> = std::iter::successors(Some(node), |node| node.parent())
        .filter(|node| node.parent().is_some())
        .map(Node::token)
        .collect();
    segments.reverse();
    let is_decision = segments.first().is_some_and(|first| first == "decisions");
    let mut path = String::new();
    for (at, segment) in segments.iter().enumerate() {
        if is_decision && at == LEAF_DEPTH {
            path.push('.');
            path.push_str(segment);
        } else {
            push_dotted(&mut path, segment);
        }
    }
    path
}

/// Where in a path below `decisions` that of a leaf stands, after the ref.
const LEAF_DEPTH: usize = 2;
