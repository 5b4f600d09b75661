//! Records of a structure that change, and what refuses them.

use crate::json::{Object, Value};
use crate::problem::Code;
use crate::workspace::{Feature, Id, RecordKind, Refused, Structure};

pub(super) fn refused(code: Code, message: impl Into<String>) -> Refused {
    Refused {
        code,
        row: None,
        column: None,
        message: message.into(),
    }
}

pub(super) fn missing(kind: RecordKind, id: Id) -> Refused {
    refused(Code::NotFound, format!("there is no {} {id}", kind.noun()))
}

/// The tables of the workspace and the shared ones: columns and views may be added to both.
pub(super) fn features_mut(structure: &mut Structure) -> impl Iterator<Item = &mut Feature> {
    structure.features.iter_mut().chain(&mut structure.shared)
}

pub(super) fn feature_mut(structure: &mut Structure, id: Id) -> Result<&mut Feature, Refused> {
    features_mut(structure)
        .find(|found| found.id == id)
        .ok_or_else(|| missing(RecordKind::Feature, id))
}

/// The objects of a config: of a list its elements, of an object itself.
pub(super) fn objects(config: Value) -> Vec<Object> {
    match config {
        Value::Object(object) => vec![object],
        Value::List(elements) => elements.into_iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}
