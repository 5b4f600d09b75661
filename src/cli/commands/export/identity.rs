//! The identity that a package gets in the catalog, from flags.

use serde_json::{Map, Value, json};
use tplkit::export::Selection;
use tplkit::package::model::Catalog;

use crate::cli::error::CliError;

/// The identity of the package.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Identity")]
pub(super) struct Identity {
    /// Technical name in the catalog [default: that of the workspace].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Display name [default: that of the workspace].
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Description.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Category in the catalog.
    #[arg(long, value_name = "TEXT")]
    category: Option<String>,
    /// What the template builds: `organization`, `workspace`, `module` or `feature`.
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Version of the content, such as `1.0.0`.
    #[arg(long, value_name = "VERSION")]
    semver: Option<String>,
    /// Name of an icon.
    #[arg(long, value_name = "NAME")]
    icon: Option<String>,
    /// A tag; repeatable.
    #[arg(long = "tag", value_name = "WORD")]
    tags: Vec<String>,
}

impl Identity {
    /// The identity; what is wrong with it is reported all at once.
    pub(super) fn read(&self) -> Result<Catalog, CliError> {
        let mut members = Map::new();
        let texts = [
            ("name", &self.name),
            ("label", &self.label),
            ("description", &self.description),
            ("category", &self.category),
            ("scope", &self.scope),
            ("semver", &self.semver),
            ("icon", &self.icon),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                members.insert(key.to_owned(), json!(text));
            }
        }
        if !self.tags.is_empty() {
            members.insert("tags".to_owned(), json!(self.tags));
        }
        let body = json!({"identity": Value::Object(members)});
        let read = Selection::from_json(&body.to_string());
        let selection = read.map_err(|faults| {
            let details: Vec<&str> = faults.iter().map(|fault| fault.detail.as_str()).collect();
            CliError::Usage {
                message: details.join(" "),
                help: "`tplkit export --help` lists the words".to_owned(),
            }
        })?;
        Ok(selection.identity)
    }
}
