//! A field of a resolved config that holds an id.

use uuid::Uuid;

use super::failure::Failure;
use crate::json::Object;
use crate::package::uid::is_uuid;

/// Reads the id in a field.
pub(super) fn id_field(config: &Object, key: &str) -> Result<Uuid, Failure> {
    let value = config.get(key).cloned().unwrap_or_default();
    let id = value.as_str().filter(|text| is_uuid(text));
    let id = id.and_then(|text| Uuid::parse_str(text).ok());
    id.ok_or_else(|| Failure::at(key, "is not an id").yields(None, &value))
}
