//! The reference as HTML: a section for each operation and each schema, with links between them.

use maud::{Markup, html};
use serde_json::Value;

use super::reference::{DocumentedOperation, DocumentedSchema, Field, Reference, Response, Tag};
use super::schema_type::Piece;

/// Operations by their tags, then schemas.
pub(super) fn reference(reference: &Reference<'_>) -> Markup {
    html! {
        h2 #reference { "Reference" }
        p {
            "The same for programs: " a href="/v1/openapi.json" { "/v1/openapi.json" } " (OpenAPI 3.1). Every request may have the header "
            code { "x-platform-service-key" } ", which has no effect."
        }
        @for tag in &reference.tags { (operations(tag)) }
        h2 #schemas { "Schemas" }
        @for schema in &reference.schemas { (schema_section(schema)) }
    }
}

fn operations(tag: &Tag<'_>) -> Markup {
    html! {
        section.tag {
            h3 id={ "tag-" (tag.name) } { (tag.name) }
            p { (code_in(tag.about)) }
            @for operation in &tag.operations { (operation_section(operation)) }
        }
    }
}

fn operation_section(operation: &DocumentedOperation<'_>) -> Markup {
    let title = format!("{}-title", operation.id);
    html! {
        section.operation id=(operation.id) {
            h4 id=(title) {
                a href={ "#" (operation.id) } {
                    span class={ "method " (operation.method.to_ascii_lowercase()) } { (operation.method) } " " code { (operation.path) }
                }
            }
            p { (code_in(operation.summary)) ". " (code_in(operation.about)) }
            @if !operation.parameters.is_empty() { (fields("Parameters", &operation.parameters)) }
            @if !operation.body.is_empty() { p { b { "Body" } " " (pieces(&operation.body)) } }
            @for response in operation.responses.iter().filter(|response| !response.refuses()) {
                p { b { "Response" } " " code { (response.status) } " " (pieces(&response.content)) }
            }
            @if operation.responses.iter().any(Response::refuses) {
                p.refusals {
                    "Refusals:"
                    @for response in operation.responses.iter().filter(|response| response.refuses()) { " " (response.status) }
                    ", each a " (pieces(&operation.refusal())) "."
                }
            }
        }
    }
}

fn schema_section(schema: &DocumentedSchema<'_>) -> Markup {
    let id = format!("schema-{}", schema.name);
    let title = format!("{id}-title");
    html! {
        section.schema id=(id) {
            h3 id=(title) { a href={ "#" (id) } { code { (schema.name) } } }
            p { (code_in(schema.about)) }
            @if schema.fields.is_empty() { p { (pieces(&schema.kind)) } }
            @else { (fields("Members", &schema.fields)) }
            details {
                summary { "Example of " code { (schema.name) } }
                pre { (pretty(&schema.example)) }
            }
        }
    }
}

fn fields(caption: &str, fields: &[Field<'_>]) -> Markup {
    html! {
        table {
            caption { (caption) }
            thead { tr { th scope="col" { "Name" } th scope="col" { "Type" } th scope="col" { "Meaning" } } }
            tbody {
                @for field in fields {
                    tr {
                        th scope="row" {
                            code { (field.name) }
                            @if field.required { " " small { "required" } }
                        }
                        td {
                            (pieces(&field.kind))
                            @if !field.place.is_empty() { " " small { "in the " (field.place) } }
                        }
                        td {
                            (code_in(field.about))
                            @if !field.notes.is_empty() { " " small { (field.notes.join(", ")) } }
                        }
                    }
                }
            }
        }
    }
}

fn pieces(pieces: &[Piece<'_>]) -> Markup {
    html! {
        @for piece in pieces {
            @match piece {
                Piece::Words(text) => { (text) }
                Piece::Code(text) => { code { (text) } }
                Piece::Schema(name) => { a href={ "#schema-" (name) } { code { (name) } } }
            }
        }
    }
}

/// Text with code between backticks.
pub(super) fn code_in(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
