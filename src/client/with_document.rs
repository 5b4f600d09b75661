//! A record together with the document that it was read from.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A record as far as it is known here, and everything that the server said of it.
#[derive(Debug, Clone)]
pub struct WithDocument<T> {
    /// What is known here.
    pub record: T,
    /// The document, byte for byte.
    pub document: Box<RawValue>,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for WithDocument<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WithDocument<T>, D::Error> {
        let document = Box::<RawValue>::deserialize(deserializer)?;
        let record = serde_json::from_str(document.get()).map_err(D::Error::custom)?;
        Ok(WithDocument { record, document })
    }
}

/// Reads an object that the specification does not describe: nothing, where it has another shape. (A list
/// would be read as the members in order, which nobody means.)
pub(super) fn leniently<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let document = Option::<Box<RawValue>>::deserialize(deserializer)?;
    let object = document.filter(|document| document.get().starts_with('{'));
    Ok(object.and_then(|object| serde_json::from_str(object.get()).ok()))
}
