//! A saved plan: it is applied later exactly as shown, or not at all.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tplkit::apply::{Preview, content_digest};
use tplkit::json::Value;
use tplkit::printable;
use tplkit::workspace::Id;

use crate::cli::error::CliError;
use crate::cli::replace;

/// What says that a file is one of these.
const KIND: &str = "plan";
const VERSION: u32 = 1;

/// A saved plan.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    #[serde(rename = "schemaVersion")]
    version: u32,
    kind: String,
    /// The server that it was made for.
    pub(crate) server: String,
    /// The template; none for a file that no template holds.
    pub(crate) template: Option<String>,
    /// Whether the file replaces the package of that template first.
    #[serde(default)]
    pub(crate) replaces: bool,
    /// The content digest of the package that it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replaced: Option<String>,
    /// Whether the file is another template whatever the catalog holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) another: bool,
    /// The file, where it was made for one.
    pub(crate) package: Option<Package>,
    /// The file of `--base`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<Package>,
    /// The destination.
    pub(crate) workspace: Id,
    /// The body of the apply.
    pub(crate) body: Value,
    /// What it rests on.
    pub(crate) digest: String,
    /// What it showed.
    pub(crate) plan: Preview,
}

/// The file of a package that was planned for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Package {
    pub(crate) path: PathBuf,
    /// As it was named, when that was relative to the working folder: where a checkout lies elsewhere, the
    /// file is found from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    named: Option<PathBuf>,
    pub(crate) digest: String,
}

/// The template that a plan is made for.
#[derive(Debug)]
pub(crate) struct PlanTemplate {
    /// None for a file that no template holds.
    pub(crate) id: Option<String>,
    /// The content digest of its package, where the file replaces that first.
    pub(crate) replaced: Option<String>,
    /// Whether the file is another template whatever the catalog holds.
    pub(crate) another: bool,
}

/// The files that a plan is made from.
#[derive(Debug)]
pub(crate) struct PlanFiles {
    /// The package that is applied, where it is a file.
    pub(crate) package: Option<Package>,
    /// The file of `--base`.
    pub(crate) base: Option<Package>,
}

impl Package {
    /// What is remembered of a file.
    pub(crate) fn of(path: &Path, text: &str) -> Package {
        Package {
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            named: path.is_relative().then(|| path.to_owned()),
            digest: content_digest(text),
        }
    }

    /// Where it is now.
    pub(crate) fn current_path(&self) -> &Path {
        match &self.named {
            Some(named) if !self.path.exists() && named.exists() => named,
            _ => &self.path,
        }
    }
}

impl Saved {
    /// What is to be written.
    pub(crate) fn new(
        server: String,
        template: PlanTemplate,
        files: PlanFiles,
        workspace: Id,
        body: Value,
        plan: Preview,
    ) -> Saved {
        Saved {
            version: VERSION,
            kind: KIND.to_owned(),
            server,
            template: template.id,
            replaces: template.replaced.is_some(),
            replaced: template.replaced,
            another: template.another,
            package: files.package,
            base: files.base,
            workspace,
            body,
            digest: plan.digest.clone(),
            plan,
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// It cannot be written, or a file that it is made from has a path that JSON cannot hold.
    pub(crate) fn write(&self, path: &Path) -> Result<(), CliError> {
        let unsaved = |message: String| CliError::Usage {
            message,
            help: "rename it, or apply it without saving the plan first".to_owned(),
        };
        let files = self.package.iter().chain(&self.base);
        if let Some(file) = files
            .map(|file| &file.path)
            .find(|path| path.to_str().is_none())
        {
            let file = printable::path(file);
            return Err(unsaved(format!(
                "the plan cannot be saved: the path `{file}` is not UTF-8"
            )));
        }
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|error| unsaved(format!("the plan cannot be saved: {error}")))?;
        replace::write(path, (text + "\n").as_bytes())
    }

    /// Reads a text that means to be one; nothing when it means to be something else.
    pub(crate) fn read(path: &Path, text: &str) -> Result<Option<Saved>, CliError> {
        /// Distinguishes it from a package.
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            kind: Option<String>,
            #[serde(default)]
            digest: Option<serde_json::Value>,
        }
        let head: Option<Head> = serde_json::from_str(text).ok();
        let is_plan = |head: Head| head.kind.as_deref() == Some(KIND) && head.digest.is_some();
        if !head.is_some_and(is_plan) {
            return Ok(None);
        }
        let unusable = |why: String| CliError::Usage {
            message: format!(
                "`{}` is not a plan that this version can carry out: {why}",
                printable::path(path)
            ),
            help: "plan again with `tplkit plan … --out`".to_owned(),
        };
        let saved: Saved =
            serde_json::from_str(text).map_err(|error| unusable(error.to_string()))?;
        if saved.version != VERSION {
            return Err(unusable(format!("its schemaVersion is {}", saved.version)));
        }
        if saved.replaces && saved.replaced.is_none() {
            return Err(unusable(
                "it does not say which package it replaces".to_owned(),
            ));
        }
        Ok(Some(saved))
    }
}
