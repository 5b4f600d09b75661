//! `simulate`: applies a package in memory, again, and undoes it.

use serde::Deserialize;
use serde_json::{Value, json};
use tplkit::apply::{Request, RowsMode, content_digest};
use tplkit::check::{self, Checked};
use tplkit::context::{Clock, Ids};
use tplkit::definitions::Definitions;
use tplkit::package::text_of;
use tplkit::simulate::{self as simulation, SimulateError};
use tplkit::workspace::Id;
use tplkit::workspace::memory::State;

use crate::checking::check_options;
use crate::options::{self, Common, text_of as option_text};
use crate::{Failure, document};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SimulateCall {
    #[serde(flatten)]
    common: Common,
    /// Decisions: the body of an apply, as an object or as its text.
    resolutions: Option<Value>,
    /// Which rows are written, for every table.
    rows_mode: Option<String>,
    no_rows: bool,
    accept_failed_rows: bool,
    /// A package that the workspace holds before.
    into: Option<Value>,
}

/// What applying a package to a workspace in memory does, does again, and leaves after its undo: the
/// document of `tplkit simulate --format json`. A package that has errors gives the document of a check.
///
/// # Errors
/// Options that cannot be read; a simulation that fails.
pub fn simulate(
    package: &[u8],
    options: &str,
    clock: &dyn Clock,
    ids: &mut dyn Ids,
) -> Result<String, Failure> {
    let call: SimulateCall = options::read(options)?;
    let definitions = call.common.definitions()?;
    let options = check_options(definitions.as_ref(), false);
    let checked = text_of(package)
        .ok()
        .and_then(|text| Some((text, Checked::read(text, &options).ok()?)));
    let Some((text, checked)) = checked else {
        let report = check::check(package, &options);
        return Ok(document::of_report(call.common.path(), package, report));
    };
    let request = request(&call, &checked)?;
    let mut state = match &call.into {
        Some(value) => destination(&option_text(value), options.definitions, clock, ids)?,
        None => empty(),
    };
    if call.into.is_none() {
        simulation::stand_in(&checked, &request, &mut state);
    }
    let simulated = simulation::simulate(
        &checked,
        &content_digest(text),
        &request,
        state,
        options.definitions,
        clock,
        ids,
    );
    let path = call.common.path();
    let simulated = match simulated {
        Ok(simulated) => simulated,
        Err(SimulateError::Refused(refusals)) => {
            let body = json!({"path": path, "refusals": refusals});
            return Ok(document::of_body("findings", body));
        }
        Err(error) => return Err(Failure::of_call(error.to_string())),
    };
    let sound = simulated.restored && !simulated.again_changed;
    let outcome = match (sound, simulated.report.is_partial()) {
        (false, _) => "findings",
        (true, true) if !call.accept_failed_rows => "partial",
        (true, _) => "clean",
    };
    Ok(document::of_body(
        outcome,
        json!({
            "path": path,
            "into": null,
            "plan": simulated.preview,
            "report": simulated.report,
            "again": {"changed": simulated.again_changed, "report": simulated.again},
            "undo": {"restored": simulated.restored},
        }),
    ))
}

fn empty() -> State {
    State::empty(Id::from_u128(1), Id::from_u128(2), "workspace", "Workspace")
}

/// The workspace that a package makes of an empty one.
fn destination(
    text: &str,
    definitions: &Definitions,
    clock: &dyn Clock,
    ids: &mut dyn Ids,
) -> Result<State, Failure> {
    let options = check_options(Some(definitions), false);
    let failed = |why: String| Failure::of_call(format!("`into`: {why}"));
    let package = Checked::read(text, &options).map_err(|error| failed(error.to_string()))?;
    simulation::built(&package, empty(), definitions, clock, ids)
        .map_err(|error| failed(error.to_string()))
}

fn request(call: &SimulateCall, package: &Checked<'_>) -> Result<Request, Failure> {
    let mut request = match &call.resolutions {
        None => Request::default(),
        Some(value) => read_resolutions(&option_text(value))?,
    };
    request.include_rows &= !call.no_rows;
    if let Some(word) = &call.rows_mode {
        let mode = RowsMode::parse(word).ok_or_else(|| {
            Failure::of_call("`rowsMode` is `all`, `missingByKey` or `none`".to_owned())
        })?;
        for entry in &package.payloads {
            request.rows_modes.insert(entry.feature_ref.clone(), mode);
        }
    }
    Ok(request)
}

fn read_resolutions(text: &str) -> Result<Request, Failure> {
    Request::from_json(text).map_err(|refusals| {
        let details: Vec<&str> = refusals.iter().map(|one| one.detail.as_str()).collect();
        Failure::of_call(format!("`resolutions`: {}", details.join("; ")))
    })
}
