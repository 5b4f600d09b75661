//! `tplkit template promote`: who may see a template.

use clap::ValueEnum;
use serde_json::json;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_titles::template_title;
use crate::cli::output::write_result;
use crate::cli::remote::{Connection, ServerArgs, subject};
use crate::cli::session::Session;

/// Change who may see a template.
///
/// For `system`, the server measures the five rules of promotion and reports every place that
/// breaks one.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Show a template to everybody", "tplkit template promote sales-crm --to public"),
    ("Show it to its organization only", "tplkit template promote sales-crm --to org"),
]))]
pub(super) struct Args {
    /// The template: its id, or its name.
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// Who may see it.
    #[arg(long)]
    to: Visibility,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

/// Who may see a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Visibility {
    /// Everybody, as a template of the platform.
    System,
    /// Everybody.
    Public,
    /// Its organization.
    Org,
}

impl Visibility {
    fn word(self) -> &'static str {
        match self {
            Visibility::System => "system",
            Visibility::Public => "public",
            Visibility::Org => "org",
        }
    }
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let id = subject::template(client, &args.template)?;
    let word = args.to.word();
    let changed = client.change_template(&id, &json!({"visibility": word}));
    let changed = changed.map_err(|error| {
        if error.status() == Some(403) && matches!(args.to, Visibility::System) {
            return CliError::Explained {
                source: Box::new(error),
                help: "ask whoever runs the server: its administrators promote to `system`"
                    .to_owned(),
            };
        }
        let what = format!("the visibility of template `{id}` cannot be changed");
        subject::degraded(client, &id, error, &what)
    })?;
    let text = match args.format {
        Form::Text => {
            let title = template_title(&changed.record, session);
            format!("Template {title} is `{word}` now.\n")
        }
        Form::Json => document::write_raw("clean", &[("template", &*changed.document)]),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}
