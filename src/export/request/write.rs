//! Writes a selection: the request body for a server.

use crate::export::ExportRequest;
use crate::export::selection::{RowsSelection, Selection};
use crate::json::{Object, Value};
use crate::package::model::{Catalog, Variable, WireWord};
use crate::workspace::Id;

impl ExportRequest {
    /// The body of an export that asks for this: what [`ExportRequest::from_json`] reads.
    pub fn to_json(&self) -> String {
        let mut body = Object::new();
        if self.chosen {
            body = self.selection.chosen();
        }
        put(&mut body, "identity", self.selection.named());
        let onto = self.onto.map(|id| id.to_string());
        put(&mut body, "onto", onto);
        Value::Object(body).write()
    }
}

impl Selection {
    /// The body of an export that asks for this: what [`Selection::from_json`] reads.
    ///
    /// ```
    /// use tplkit::export::{RowsSelection, Selection};
    ///
    /// let selection = Selection { rows: RowsSelection::All, ..Selection::default() };
    /// assert_eq!(Selection::from_json(&selection.to_json()), Ok(selection));
    /// ```
    pub fn to_json(&self) -> String {
        let mut body = self.chosen();
        put(&mut body, "identity", self.named());
        Value::Object(body).write()
    }

    /// What is chosen.
    fn chosen(&self) -> Object {
        let mut body = Object::new();
        let lists = [
            ("features", &self.features),
            ("views", &self.views),
            ("modules", &self.modules),
            ("rails", &self.rails),
            ("workflows", &self.workflows),
        ];
        for (key, list) in lists {
            put(&mut body, key, list.as_deref().map(ids));
        }
        let rows = match &self.rows {
            RowsSelection::None => "none".into(),
            RowsSelection::All => "all".into(),
            RowsSelection::Some(list) => ids(list),
        };
        put(&mut body, "rows", Some(rows));
        body
    }

    /// The identity, if anything is said of it.
    fn named(&self) -> Option<Object> {
        Some(identity(&self.identity)).filter(|identity| !identity.is_empty())
    }
}

fn put(object: &mut Object, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value.into());
    }
}

fn ids(list: &[Id]) -> Value {
    Value::List(
        list.iter()
            .map(|id| Value::String(id.to_string()))
            .collect(),
    )
}

fn word<W: WireWord>(word: Option<W>) -> Option<Value> {
    word.map(|word| Value::String(word.word().to_owned()))
}

fn identity(catalog: &Catalog) -> Object {
    let mut identity = Object::new();
    let texts = [
        ("id", &catalog.id),
        ("name", &catalog.name),
        ("label", &catalog.label),
        ("description", &catalog.description),
        ("icon", &catalog.icon),
        ("color", &catalog.color),
        ("category", &catalog.category),
        ("semver", &catalog.semver),
    ];
    for (key, text) in texts {
        put(&mut identity, key, text.as_deref());
    }
    put(&mut identity, "vocabulary", catalog.vocabulary.clone());
    put(&mut identity, "scope", word(catalog.scope));
    put(&mut identity, "visibility", word(catalog.visibility));
    let variables = catalog.variables.as_deref();
    let variables = variables.map(|list| Value::List(list.iter().map(variable).collect()));
    put(&mut identity, "variables", variables);
    let blocks = catalog.blocks.clone();
    let blocks = blocks.map(|list| Value::List(list.into_iter().map(Value::Object).collect()));
    put(&mut identity, "blocks", blocks);
    let tags = catalog.tags.clone();
    let tags = tags.map(|list| Value::List(list.into_iter().map(Value::String).collect()));
    put(&mut identity, "tags", tags);
    identity
}

fn variable(variable: &Variable) -> Value {
    let mut object = Object::new();
    put(&mut object, "key", Some(variable.key.as_str()));
    put(&mut object, "label", Some(variable.label.as_str()));
    Value::Object(object)
}
