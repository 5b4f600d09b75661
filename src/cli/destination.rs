//! The destination of a simulation or a resolution: a file, or an empty workspace.

use std::path::Path;

use tplkit::check::{CheckOptions, NotChecked};
use tplkit::definitions::Definitions;
use tplkit::printable;
use tplkit::simulate;
use tplkit::workspace::Id;
use tplkit::workspace::memory::State;

use super::error::CliError;
use super::package_file;
use super::session::{RandomIds, SystemClock};

/// What was named: a workspace file as `simulate --save` writes it, or a package, which is
/// applied to an empty workspace first. Nothing is an empty workspace.
pub(crate) fn read(path: Option<&Path>, definitions: &Definitions) -> Result<State, CliError> {
    let empty = || State::empty(Id::from_u128(1), Id::from_u128(2), "workspace", "Workspace");
    let Some(path) = path else { return Ok(empty()) };
    let source = package_file::read(path)?;
    let failed = |why: String| CliError::Usage {
        message: format!("`{}` is not a destination: {why}", printable::path(path)),
        help: "name a package that checks without errors, or a file of `tplkit simulate --save`"
            .to_owned(),
    };
    let options = CheckOptions {
        definitions,
        ..CheckOptions::default()
    };
    let text = source.text().unwrap_or_default();
    match source.checked(&options) {
        Ok(package) => {
            simulate::built(&package, empty(), definitions, &SystemClock, &mut RandomIds)
                .map_err(|error| failed(error.to_string()))
        }
        Err(NotChecked::Errors(report)) if !source.is_whole() || means_package(text) => {
            let first = report.findings.into_iter().next();
            let why = first.map(|finding| format!("{}: {}", finding.rule.code, finding.message));
            Err(failed(why.unwrap_or_default()))
        }
        Err(_) => State::load(text).map_err(|error| failed(error.to_string())),
    }
}

/// Whether a destination is a package, and no workspace file.
pub(crate) fn is_package(path: &Path) -> Result<bool, CliError> {
    let source = package_file::read(path)?;
    Ok(source.is_folder() || means_package(source.text().unwrap_or_default()))
}

/// Whether a text means to be a package.
fn means_package(text: &str) -> bool {
    let Ok(doc) = tplkit::json::Doc::parse_package(text) else {
        return false;
    };
    let root = doc.root();
    root.get("manifest")
        .unwrap_or(root)
        .get("templateVersion")
        .is_some()
}
