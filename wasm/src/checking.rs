//! `check`, `promote`, `fix` and `fmt`.

use serde::Deserialize;
use serde_json::Value;
use tplkit::check::fix::apply_fixes;
use tplkit::check::{self as checks, CheckOptions};
use tplkit::definitions::Definitions;
use tplkit::finding::selection::Selection;
use tplkit::finding::{FileKind, FileReport, Finding};
use tplkit::package::canonical;
use tplkit::package::text_of;

use crate::options::{self, Common, Rules, is_promotion};
use crate::{Failure, document};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CheckCall {
    #[serde(flatten)]
    common: Common,
    #[serde(flatten)]
    rules: Rules,
    promotion: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct FixCall {
    #[serde(flatten)]
    common: Common,
    #[serde(flatten)]
    rules: Rules,
    promotion: Value,
    unsafe_fixes: bool,
}

/// The findings of a package: the document of `tplkit check --format json`.
///
/// # Errors
/// Options that cannot be read.
pub fn check(package: &[u8], options: &str) -> Result<String, Failure> {
    let call: CheckCall = options::read(options)?;
    let definitions = call.common.definitions()?;
    let options = check_options(definitions.as_ref(), is_promotion(&call.promotion)?);
    let mut report = checks::check(package, &options);
    call.rules.selection()?.apply(&mut report.findings);
    Ok(document::of_report(call.common.path(), package, report))
}

/// The five promotion rules, measured: the document of `tplkit promote --format json`.
///
/// # Errors
/// Options that cannot be read.
pub fn promote(package: &[u8], options: &str) -> Result<String, Failure> {
    let common: Common = options::read(options)?;
    let definitions = common.definitions()?;
    let report = checks::promote(package, &check_options(definitions.as_ref(), true));
    Ok(document::of_report(common.path(), package, report))
}

/// The text with all fixes made that `tplkit check --fix` makes.
///
/// # Errors
/// Options that cannot be read.
pub fn fix(package: &[u8], options: &str) -> Result<String, Failure> {
    let call: FixCall = options::read(options)?;
    let definitions = call.common.definitions()?;
    let selection = call.rules.selection()?;
    let options = check_options(definitions.as_ref(), is_promotion(&call.promotion)?);
    let fixed = apply_fixes(package, |bytes| {
        let findings = checks::check(bytes, &options).findings;
        wanted(findings, &selection, call.unsafe_fixes)
    });
    Ok(String::from_utf8_lossy(&fixed.bytes).into_owned())
}

/// The canonical text.
///
/// # Errors
/// Options that cannot be read; a package that has no canonical form.
pub fn fmt(package: &[u8], options: &str) -> Result<String, Failure> {
    let common: Common = options::read(options)?;
    let written = text_of(package)
        .map_err(Into::into)
        .and_then(canonical::write);
    written.map_err(|error| {
        let report = FileReport {
            kind: FileKind::Plain,
            findings: vec![Finding::without_form(&error)],
            promotion: None,
        };
        let document = document::of_report(common.path(), package, report);
        Failure::of_package(error.to_string(), document)
    })
}

pub(crate) fn check_options(
    definitions: Option<&Definitions>,
    promotion: bool,
) -> CheckOptions<'_> {
    CheckOptions {
        definitions: definitions.unwrap_or(Definitions::embedded()),
        promotion,
        ..CheckOptions::default()
    }
}

/// The selected findings, without fixes that are not wanted.
fn wanted(mut findings: Vec<Finding>, selection: &Selection, unsafe_fixes: bool) -> Vec<Finding> {
    selection.apply(&mut findings);
    for finding in &mut findings {
        if finding.fix.as_ref().is_some_and(|fix| !fix.safe) && !unsafe_fixes {
            finding.fix = None;
        }
    }
    findings
}
