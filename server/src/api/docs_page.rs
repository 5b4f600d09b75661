//! The API reference at `/docs`: the OpenAPI document as plain HTML, without scripts or requests.

use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

const STYLE: &str = "
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem 1.5rem 6rem; }
nav { column-width: 20rem; font-size: .9rem; border: solid var(--line); border-width: 1px 0; padding: .75rem 0; }
nav ul { list-style: none; margin: 0 0 .75rem; padding: 0; break-inside: avoid; }
a { color: inherit; text-decoration-color: var(--line); }
code, pre { font: .875em/1.45 ui-monospace, monospace; }
pre { background: color-mix(in srgb, currentColor 6%, transparent); padding: .75rem; overflow: auto; }
section { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 1.5rem; }
h3 { margin-bottom: .25rem; } h3 b { display: inline-block; min-width: 4.5rem; }
table { border-collapse: collapse; margin: .5rem 0; } td, th { padding: .15rem 1rem .15rem 0; vertical-align: top; text-align: left; }
summary { cursor: pointer; }
";

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The page.
pub fn page(document: &Value) -> String {
    let operations = operations(document);
    let components = &document["components"];
    let mut tags: Vec<&str> = Vec::new();
    for operation in &operations {
        if !tags.contains(&operation.tag()) {
            tags.push(operation.tag());
        }
    }
    let info = &document["info"];
    let schemas = components["schemas"].as_object();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (text(&info["title"])) }
                style { (STYLE) }
            }
            body {
                h1 { (text(&info["title"])) " " small { (text(&info["version"])) } }
                p { (text(&info["description"])) }
                p { "The same for programs: " a href="/v1/openapi.json" { "/v1/openapi.json" } }
                nav {
                    @for tag in &tags {
                        ul {
                            li { strong { (tag) } }
                            @for operation in operations.iter().filter(|known| known.tag() == *tag) {
                                li { a href={ "#" (operation.id()) } { (operation.title()) } }
                            }
                        }
                    }
                    ul { li { a href="#schemas" { strong { "schemas" } } } }
                }
                @for operation in &operations { (operation.section(components)) }
                section id="schemas" {
                    h2 { "Schemas" }
                    @for (name, schema) in schemas.into_iter().flatten() {
                        details id={ "schema-" (name) } {
                            summary { code { (name) } }
                            pre { (pretty(schema)) }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

struct Operation<'d> {
    method: &'static str,
    path: &'d str,
    about: &'d Value,
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            if let Some(about) = methods.get(method) {
                all.push(Operation {
                    method,
                    path,
                    about,
                });
            }
        }
    }
    all
}

impl<'d> Operation<'d> {
    fn tag(&self) -> &'d str {
        text(&self.about["tags"][0])
    }

    fn id(&self) -> &'d str {
        text(&self.about["operationId"])
    }

    fn title(&self) -> String {
        format!("{} {}", self.method.to_ascii_uppercase(), self.path)
    }

    fn section(&self, components: &Value) -> Markup {
        let parameters = self.about["parameters"].as_array();
        let request = &self.about["requestBody"]["content"]["application/json"]["schema"];
        let responses = self.about["responses"].as_object();
        html! {
            section id=(self.id()) {
                h3 { b { (self.method.to_ascii_uppercase()) } code { (self.path) } }
                p { (text(&self.about["summary"])) ". " (text(&self.about["description"])) }
                table {
                    @for parameter in parameters.into_iter().flatten().map(|known| component(components, known)) {
                        tr {
                            td { code { (text(&parameter["name"])) } }
                            td { (text(&parameter["in"])) }
                            td { (text(&parameter["description"])) }
                            td { code { (parameter["schema"]) } }
                        }
                    }
                }
                @if request.is_object() { p { "Body: " (linked(request)) } }
                table {
                    @for (status, response) in responses.into_iter().flatten().map(|(status, known)| (status, component(components, known))) {
                        tr {
                            td { code { (status) } }
                            td { (text(&response["description"])) }
                            td {
                                @for (_, content) in response["content"].as_object().into_iter().flatten() {
                                    (linked(&content["schema"]))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A component by its reference, or the value itself where it is none.
fn component<'d>(components: &'d Value, value: &'d Value) -> &'d Value {
    let path = text(&value["$ref"]).strip_prefix("#/components");
    path.and_then(|path| components.pointer(path))
        .unwrap_or(value)
}

/// A schema by its name, or as it stands.
fn linked(schema: &Value) -> Markup {
    let name = text(&schema["$ref"]).rsplit('/').next().unwrap_or_default();
    html! {
        @if name.is_empty() { code { (schema) } }
        @else { a href={ "#schema-" (name) } { code { (name) } } }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tplkit::definitions::Definitions;

    use super::page;
    use crate::api::document;
    use crate::api::operations::OPERATIONS;

    #[test]
    fn it_shows_every_operation_and_fetches_nothing() {
        let page = page(&document(Definitions::embedded()));
        for operation in &OPERATIONS {
            let title = format!("{} {}", operation.method, operation.path);
            assert!(page.contains(&title), "{title}");
        }
        for word in ["<script", "src=", "@import", "url(", "href=\"http", "<link"] {
            assert!(!page.contains(word), "{word}");
        }
    }
}
