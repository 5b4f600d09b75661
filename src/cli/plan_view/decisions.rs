//! The decisions about an apply, from flags.

use std::path::PathBuf;

use tplkit::apply::{Request, RowsMode};
use tplkit::json::{Object, Value};
use tplkit::workspace::Id;

use crate::cli::config::Target;
use crate::cli::error::CliError;
use crate::cli::resolutions;

/// What becomes of dependencies and rows.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Decisions {
    /// Decisions about dependencies: TOML as `resolve init` writes it, or JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) resolutions: Option<PathBuf>,
    /// Which rows of a table to write: `all`, `missingByKey` or `none`; repeatable, once per table.
    #[arg(long, value_name = "REF=MODE", value_parser = resolutions::mode_of_table)]
    rows: Vec<(String, RowsMode)>,
    /// Write no rows.
    #[arg(long)]
    no_rows: bool,
    /// Create a separate copy when the template was applied to the workspace before.
    #[arg(long)]
    copy: bool,
}

impl Decisions {
    /// Whether nothing was decided.
    pub(crate) fn are_none(&self) -> bool {
        self.resolutions.is_none() && self.rows.is_empty() && !self.no_rows && !self.copy
    }

    /// Takes from a target what no flag says.
    pub(crate) fn complete(&mut self, target: &Target) {
        if self.resolutions.is_none() {
            self.resolutions.clone_from(&target.resolutions);
        }
        if self.rows.is_empty() {
            self.rows.clone_from(&target.rows);
        }
    }

    /// The file, and the command line over it.
    pub(crate) fn request(&self) -> Result<Request, CliError> {
        let tables = self.rows.iter().map(|(table, _)| Some(table.as_str()));
        resolutions::refuse_repeated("--rows", tables)?;
        let mut request = resolutions::read(self.resolutions.as_deref())?;
        request.include_rows &= !self.no_rows;
        request.copy |= self.copy;
        // Which plan is meant is said by a saved plan alone.
        request.plan = None;
        for (table, mode) in &self.rows {
            request.rows_modes.insert(table.clone(), *mode);
        }
        Ok(request)
    }
}

/// The body of an apply or a plan. Its numbers keep their digits: values are decided in it.
pub(crate) fn body(request: &Request, workspace: Id) -> Value {
    let mut body = Object::new();
    body.insert("workspaceId".to_owned(), workspace.to_string().into());
    if let Value::Object(members) = request.to_value() {
        body.extend(members);
    }
    Value::Object(body)
}

/// The same with another member.
pub(crate) fn with_member(body: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut body = body.as_object().cloned().unwrap_or_default();
    body.insert(name.to_owned(), value.into());
    Value::Object(body)
}
