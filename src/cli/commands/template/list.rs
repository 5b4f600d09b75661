//! `tplkit template list`: lists the visible templates.

use serde_json::value::RawValue;
use tplkit::client::{Template, WithDocument};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::relative_time::moment;
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::sections::{columns, repeated};
use crate::cli::session::Session;

/// List the templates that you may see: your own, shared ones, and those of the platform.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List all templates", "tplkit template list"),
    ("List the templates of your organization that build a workspace", "tplkit template list --visibility org --scope workspace"),
]))]
pub(super) struct Args {
    /// Only templates that build an `organization`, `workspace`, `module` or `feature`.
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Only templates with visibility `system`, `org` or `public`.
    #[arg(long, value_name = "VISIBILITY")]
    visibility: Option<String>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let (scope, visibility) = (args.scope.as_deref(), args.visibility.as_deref());
    let mut found: Vec<WithDocument<Template>> = Vec::new();
    for page in connection.client.templates(scope, visibility) {
        found.extend(page?.items);
    }
    let text = match args.format {
        Form::Text => {
            if found.is_empty() {
                session.note("There is no template that you may see.");
            }
            table(&found, session)
        }
        Form::Json => {
            let items: Vec<Box<RawValue>> = found.into_iter().map(|one| one.document).collect();
            let data = document::page(&items, None);
            document::write_raw("clean", &[("data", &*data)])
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// A line per template, under a heading; ids for whoever wants to know more, and where labels are alike.
fn table(found: &[WithDocument<Template>], session: &Session) -> String {
    if found.is_empty() {
        return String::new();
    }
    let titles: Vec<_> = found
        .iter()
        .map(|one| (&one.record.label, &one.record.name))
        .collect();
    let alike = repeated(&titles);
    let or = |text: &Option<String>| printable::line(text.as_deref().unwrap_or("-"));
    let lines = found.iter().zip(alike).map(|(reported, alike)| {
        let one = &reported.record;
        [
            or(&one.label),
            or(&one.name),
            or(&one.semver),
            or(&one.visibility),
            or(&one.scope),
            moment(one.updated_at.as_deref()),
            if alike || session.is_verbose() {
                printable::line(&one.id)
            } else {
                String::new()
            },
        ]
    });
    let heading = [
        "TEMPLATE",
        "NAME",
        "VERSION",
        "VISIBILITY",
        "SCOPE",
        "CHANGED",
        "",
    ];
    let heading = heading.map(str::to_owned);
    let lines: Vec<[String; 7]> = std::iter::once(heading).chain(lines).collect();
    columns(&lines)
}
