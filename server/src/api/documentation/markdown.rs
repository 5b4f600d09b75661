//! `/docs.md` and `/llms.txt`: the same guide and reference for programs that read text.

use std::fmt::Write as _;

use super::guide::{Step, VARIABLES};
use super::reference::{DocumentedOperation, DocumentedSchema, Field, Reference};
use super::schema_type::Piece;
use crate::app::Demonstration;

/// The first screen: what this is, and where to read on.
pub(super) fn first_screen(reference: &Reference<'_>, steps: &[Step]) -> String {
    let mut text = format!(
        "# {}\n\n> {}\n\nVersion {}. Sign in with `POST /v1/auth/token`, or send an API key, as `Authorization: Bearer …`.\n\n",
        reference.title, reference.about, reference.version
    );
    text.push_str(
        "- [Guide and reference](/docs.md): every operation and every schema, as Markdown\n",
    );
    text.push_str("- [OpenAPI 3.1](/v1/openapi.json): the same for programs\n");
    text.push_str("- [The same as a page](/docs), [console](/console)\n\n");
    let titles: Vec<&str> = steps.iter().map(|step| step.title.as_str()).collect();
    add(
        &mut text,
        format_args!("Steps of the guide: {}.\n", titles.join(", ")),
    );
    text
}

/// Guide and reference.
pub(super) fn document(
    reference: &Reference<'_>,
    steps: &[Step],
    demonstration: Option<&Demonstration>,
) -> String {
    let mut text = first_screen(reference, steps);
    text.push_str("\n## Guide\n\n");
    match demonstration {
        Some(demonstration) => add(
            &mut text,
            format_args!("API key of this demonstration: `{}`\n", demonstration.key),
        ),
        None => add(
            &mut text,
            format_args!("### Set the variables\n\n```sh\n{VARIABLES}\n```\n"),
        ),
    }
    for step in steps {
        let Step {
            title,
            about,
            command,
            status,
            response,
            ..
        } = step;
        add(
            &mut text,
            format_args!(
                "\n### {title}\n\n{about}\n\n```sh\n{command}\n```\n\nResponse {status}:\n\n```json\n{response}\n```\n"
            ),
        );
    }
    text.push_str("\n## Reference\n");
    for tag in &reference.tags {
        add(
            &mut text,
            format_args!("\n### {}\n\n{}\n", tag.name, tag.about),
        );
        for operation in &tag.operations {
            operation_into(&mut text, operation);
        }
    }
    text.push_str("\n## Schemas\n");
    for schema in &reference.schemas {
        schema_into(&mut text, schema);
    }
    text
}

fn operation_into(text: &mut String, operation: &DocumentedOperation<'_>) {
    let DocumentedOperation {
        method,
        path,
        summary,
        about,
        ..
    } = operation;
    add(
        text,
        format_args!("\n#### {method} {path}\n\n{summary}. {about}\n\n"),
    );
    fields_into(text, &operation.parameters);
    if !operation.body.is_empty() {
        add(
            text,
            format_args!("- Body: {}\n", plain_text(&operation.body)),
        );
    }
    let (refusals, responses): (Vec<_>, Vec<_>) = operation
        .responses
        .iter()
        .partition(|response| response.refuses());
    for response in responses {
        let content = plain_text(&response.content);
        add(
            text,
            format_args!(
                "- Response {}{}{content}\n",
                response.status,
                if content.is_empty() { "" } else { ": " }
            ),
        );
    }
    let refusals: Vec<&str> = refusals.iter().map(|response| response.status).collect();
    if !refusals.is_empty() {
        add(
            text,
            format_args!(
                "- Refusals {}: {}\n",
                refusals.join(", "),
                plain_text(&operation.refusal())
            ),
        );
    }
}

fn schema_into(text: &mut String, schema: &DocumentedSchema<'_>) {
    add(
        text,
        format_args!("\n### {}\n\n{}\n\n", schema.name, schema.about),
    );
    if schema.fields.is_empty() {
        add(text, format_args!("{}\n", plain_text(&schema.kind)));
    }
    fields_into(text, &schema.fields);
    add(text, format_args!("\n```json\n{}\n```\n", schema.example));
}

fn fields_into(text: &mut String, fields: &[Field<'_>]) {
    for field in fields {
        add(text, format_args!("- `{}`", field.name));
        if !field.place.is_empty() {
            add(text, format_args!(" in the {}", field.place));
        }
        add(text, format_args!(" ({}", plain_text(&field.kind)));
        if field.required {
            text.push_str(", required");
        }
        for note in &field.notes {
            add(text, format_args!(", {note}"));
        }
        add(text, format_args!("): {}\n", field.about));
    }
}

fn plain_text(pieces: &[Piece<'_>]) -> String {
    let pieces = pieces.iter().map(|piece| match piece {
        Piece::Words(text) => text.clone(),
        Piece::Code(text) => format!("`{text}`"),
        Piece::Schema(name) => format!("[{name}](#{})", name.to_ascii_lowercase().replace('.', "")),
    });
    pieces.collect()
}

fn add(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(arguments);
}
