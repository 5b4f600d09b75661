//! Where a test begins: the destination, and the request with ids in it.

use crate::apply::{Request, Resolution};
use crate::check::Checked;
use crate::definitions::{Definitions, ReferenceKind};
use crate::package::model::DependencyForm;
use crate::simulate;
use crate::workspace::Id;
use crate::workspace::memory::State;

/// What a test is about.
#[derive(Debug, Clone, Copy)]
pub struct TestSetup<'p, 't> {
    /// The package.
    pub package: &'p Checked<'t>,
    /// Its text.
    pub text: &'p str,
    /// The package that was applied before, when this one upgrades it.
    pub base: Option<&'p Checked<'t>>,
    /// Where it is applied.
    pub destination: &'p State,
    /// The definitions of the destination.
    pub definitions: &'p Definitions,
}

/// The request with ids in place of technical names, and the destination with stand-ins for what it maps to
/// and is nowhere.
pub fn prepare(request: &Request, setup: TestSetup<'_, '_>) -> (Request, State) {
    let mut state = setup.destination.clone();
    let mut request = by_id(request, setup.package, &state);
    if setup.base.is_some() {
        request.upgrade = true;
    } else {
        simulate::stand_in(setup.package, &request, &mut state);
    }
    (request, state)
}

/// A destination that is built for a test has no ids that anybody could know.
fn by_id(request: &Request, package: &Checked<'_>, state: &State) -> Request {
    let mut request = request.clone();
    for dependency in package.manifest.dependencies() {
        let Some(Resolution::Map { id, .. }) = request.resolutions.get_mut(&dependency.reference)
        else {
            continue;
        };
        if dependency.form == DependencyForm::Name || Id::parse_str(id).is_ok() {
            continue;
        }
        let structure = &state.structure;
        let found = match dependency.kind {
            ReferenceKind::Feature => {
                let mut all = structure.features.iter().chain(&structure.shared);
                all.find(|one| one.name == *id).map(|one| one.id)
            }
            ReferenceKind::View => {
                let views = structure.features.iter().flat_map(|one| &one.views);
                views
                    .into_iter()
                    .find(|one| one.name == *id)
                    .map(|one| one.id)
            }
            ReferenceKind::Module => {
                let mut all = structure.modules.iter();
                all.find(|one| one.name == *id).map(|one| one.id)
            }
            ReferenceKind::WorkflowV2 => {
                let mut all = structure.automations.iter();
                all.find(|one| one.name == *id).map(|one| one.id)
            }
            _ => None,
        };
        if let Some(found) = found {
            *id = found.to_string();
        }
    }
    request
}
