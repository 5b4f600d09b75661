//! The reference: the OpenAPI document as what a page shows.
//!
//! In: the document. Out: operations by their tags, and schemas as rows of a table. Must not know HTML or Markdown.

use serde_json::Value;

use super::document_parts::{list, members, text};
use super::example::Examples;
use super::schema_type::{Piece, notes, type_of};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Everything that there is to show.
pub(super) struct Reference<'d> {
    pub(super) title: &'d str,
    pub(super) version: &'d str,
    pub(super) about: &'d str,
    pub(super) tags: Vec<Tag<'d>>,
    pub(super) schemas: Vec<DocumentedSchema<'d>>,
}

/// Operations of one kind.
pub(super) struct Tag<'d> {
    pub(super) name: &'d str,
    pub(super) about: &'d str,
    pub(super) operations: Vec<DocumentedOperation<'d>>,
}

/// A method of a path.
pub(super) struct DocumentedOperation<'d> {
    pub(super) id: &'d str,
    pub(super) method: String,
    pub(super) path: &'d str,
    pub(super) summary: &'d str,
    pub(super) about: &'d str,
    /// Those that differ from operation to operation.
    pub(super) parameters: Vec<Field<'d>>,
    /// The schema of the body.
    pub(super) body: Vec<Piece<'d>>,
    pub(super) responses: Vec<Response<'d>>,
}

/// What comes back with a status.
pub(super) struct Response<'d> {
    pub(super) status: &'d str,
    pub(super) content: Vec<Piece<'d>>,
}

impl Response<'_> {
    pub(super) fn refuses(&self) -> bool {
        self.status.starts_with(['4', '5'])
    }
}

/// A shape of JSON.
pub(super) struct DocumentedSchema<'d> {
    pub(super) name: &'d str,
    pub(super) about: &'d str,
    /// What it is, where it has no members.
    pub(super) kind: Vec<Piece<'d>>,
    pub(super) fields: Vec<Field<'d>>,
    pub(super) example: Value,
}

/// A parameter, or a member of an object.
pub(super) struct Field<'d> {
    pub(super) name: String,
    /// Where a parameter stands.
    pub(super) place: &'d str,
    pub(super) required: bool,
    pub(super) kind: Vec<Piece<'d>>,
    pub(super) about: &'d str,
    /// Bounds and defaults.
    pub(super) notes: Vec<String>,
}

impl<'d> DocumentedOperation<'d> {
    /// The document that its refusals have in common.
    pub(super) fn refusal(&self) -> Vec<Piece<'d>> {
        let mut refusals = self.responses.iter().filter(|response| response.refuses());
        refusals
            .next()
            .map(|response| response.content.clone())
            .unwrap_or_default()
    }
}

impl<'d> Reference<'d> {
    /// Reads the document.
    pub(super) fn of(document: &'d Value) -> Reference<'d> {
        let mut tags: Vec<Tag<'d>> = list(&document["tags"])
            .map(|tag| Tag {
                name: text(&tag["name"]),
                about: text(&tag["description"]),
                operations: Vec::new(),
            })
            .collect();
        for (path, methods) in members(&document["paths"]) {
            for method in METHODS {
                let Some(about) = methods.get(method) else {
                    continue;
                };
                let tag = text(&about["tags"][0]);
                if let Some(tag) = tags.iter_mut().find(|known| known.name == tag) {
                    tag.operations
                        .push(operation(document, path, method, about));
                }
            }
        }
        let examples = Examples::of_document(document);
        let schemas = members(&document["components"]["schemas"]);
        Reference {
            title: text(&document["info"]["title"]),
            version: text(&document["info"]["version"]),
            about: text(&document["info"]["description"]),
            tags,
            schemas: schemas
                .map(|(name, schema)| DocumentedSchema {
                    name,
                    about: text(&schema["description"]),
                    kind: type_of(schema),
                    fields: fields(schema, ""),
                    example: examples.of(name),
                })
                .collect(),
        }
    }
}

fn operation<'d>(
    document: &'d Value,
    path: &'d str,
    method: &str,
    about: &'d Value,
) -> DocumentedOperation<'d> {
    let components = &document["components"];
    let parameters = list(&about["parameters"]).map(|one| component(components, one));
    let parameters = parameters.map(|parameter| Field {
        name: text(&parameter["name"]).to_owned(),
        place: text(&parameter["in"]),
        required: parameter["required"] == true,
        kind: type_of(&parameter["schema"]),
        about: text(&parameter["description"]),
        notes: notes(&parameter["schema"]),
    });
    let responses = members(&about["responses"]).map(|(status, response)| {
        let response = component(components, response);
        Response {
            status,
            content: content(response),
        }
    });
    DocumentedOperation {
        id: text(&about["operationId"]),
        method: method.to_ascii_uppercase(),
        path,
        summary: text(&about["summary"]),
        about: text(&about["description"]),
        parameters: parameters
            .filter(|parameter| parameter.name != "x-platform-service-key")
            .collect(),
        body: content(&about["requestBody"]),
        responses: responses.collect(),
    }
}

/// The type of a body, whatever its media type is called.
fn content(of: &Value) -> Vec<Piece<'_>> {
    let mut types = members(&of["content"]);
    types
        .next()
        .map(|(_, content)| type_of(&content["schema"]))
        .unwrap_or_default()
}

/// The members of an object, those of objects inside under their paths.
fn fields<'d>(schema: &'d Value, prefix: &str) -> Vec<Field<'d>> {
    let mut found = Vec::new();
    for (name, member) in members(&schema["properties"]) {
        let path = format!("{prefix}{name}");
        found.push(Field {
            name: path.clone(),
            place: "",
            required: list(&schema["required"]).any(|required| required == name),
            kind: type_of(member),
            about: text(&member["description"]),
            notes: notes(member),
        });
        found.extend(fields(member, &format!("{path}.")));
        found.extend(fields(&member["items"], &format!("{path}[].")));
    }
    found
}

/// A component by its reference, or the value itself where it is none.
fn component<'d>(components: &'d Value, value: &'d Value) -> &'d Value {
    let path = text(&value["$ref"]).strip_prefix("#/components");
    path.and_then(|path| components.pointer(path))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use tplkit::definitions::Definitions;

    use super::Reference;
    use crate::api::document;
    use crate::api::operations::OPERATIONS;

    #[test]
    fn everything_is_there() {
        let document = document(Definitions::embedded());
        let reference = Reference::of(&document);
        let operations = reference.tags.iter().map(|tag| tag.operations.len());
        let documented = OPERATIONS.iter().filter(|one| one.is_documented());
        assert_eq!(operations.sum::<usize>(), documented.count());
        for schema in &reference.schemas {
            assert!(!schema.about.is_empty(), "{}", schema.name);
            for field in &schema.fields {
                assert!(!field.kind.is_empty(), "{}.{}", schema.name, field.name);
            }
        }
    }
}
